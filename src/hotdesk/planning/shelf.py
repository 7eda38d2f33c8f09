"""Occupied ranges of one piece of memory, and the best gap among those that are live together with a newcomer.

The ranges are kept in order of offset in flat arrays. A query masks those whose live range meets the newcomer's,
walks their running maximum top and takes the smallest gap that holds it. Each of these is one pass of a vectorised
loop: about 10 microseconds for a few hundred ranges, 70 for 20,000, with no list of overlapping pairs to build or
keep. Where there is room for few, they are in a list, and looked at one by one.
"""

from __future__ import annotations

from bisect import insort

import numpy as np

FEW = 256
"""Ranges up to which looking at one after the other takes no longer."""

_NO_GAP = 1 << 62


class Shelf:
    """Memory that holds up to `room` ranges; offsets and sizes in bytes, live ranges half open."""

    __slots__ = ("_bottom", "_count", "_lower", "_top", "_upper")

    def __init__(self, room: int) -> None:
        self._bottom = np.empty(room, dtype=np.int64)
        self._top = np.empty(room, dtype=np.int64)
        self._lower = np.empty(room, dtype=np.int64)
        self._upper = np.empty(room, dtype=np.int64)
        self._count = 0

    def find(self, lower: int, upper: int, size: int, alignment: int, most: int = _NO_GAP) -> int:
        """Aligned offset of the smallest gap that holds `size` bytes over `[lower, upper)`, the lowest among equals.

        Where no gap does, the first aligned offset above every range that is live in that time. An offset above `most` may be
        any that is.
        """
        n = self._count
        meeting = np.flatnonzero((self._lower[:n] < upper) & (self._upper[:n] > lower))
        if not meeting.size:
            return 0
        starts = np.zeros(meeting.size + 1, dtype=np.int64)
        np.maximum.accumulate(self._top[meeting], out=starts[1:])
        if alignment > 1:
            starts = (starts + (alignment - 1)) & -alignment
        gaps = self._bottom[meeting] - starts[:-1]
        gaps[gaps < size] = _NO_GAP
        best = int(gaps.argmin())
        return int(starts[-1] if gaps[best] == _NO_GAP else starts[best])

    def insert(self, lower: int, upper: int, bottom: int, top: int) -> None:
        """Occupy `[bottom, top)` during `[lower, upper)`; the caller has made sure that it is free."""
        n = self._count
        at = int(self._bottom[:n].searchsorted(bottom))
        for column, value in ((self._bottom, bottom), (self._top, top), (self._lower, lower), (self._upper, upper)):
            column[at + 1 : n + 1] = column[at:n]
            column[at] = value
        self._count = n + 1


class SmallShelf:
    """As `Shelf`, for few ranges."""

    __slots__ = ("_taken",)

    def __init__(self) -> None:
        self._taken: list[tuple[int, int, int, int]] = []  # bottom, top, lower, upper

    def find(self, lower: int, upper: int, size: int, alignment: int, most: int = _NO_GAP) -> int:
        """As `Shelf.find`."""
        start, best, smallest = 0, -1, _NO_GAP
        for bottom, top, since, until in self._taken:
            if since < upper and until > lower:
                if size <= bottom - start < smallest:
                    best, smallest = start, bottom - start
                if top > start:
                    start = (top + alignment - 1) & -alignment
                    if start > most:
                        break
        return start if best < 0 else best

    def insert(self, lower: int, upper: int, bottom: int, top: int) -> None:
        """As `Shelf.insert`."""
        insort(self._taken, (bottom, top, lower, upper))


def shelf(room: int) -> Shelf | SmallShelf:
    """A shelf for up to `room` ranges."""
    return SmallShelf() if room <= FEW else Shelf(room)
