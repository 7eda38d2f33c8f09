"""Greedy placement: one buffer after the other, each into the best gap among those already placed.

A buffer meets only placed buffers whose live range overlaps its own. Among the holes they leave it takes the smallest
that holds it, or else the space above them. The order is all that varies: by size and by breadth after Pisarchyk and
Lee, "Efficient Memory Management for Deep Neural Net Inference" (2020), where breadth is the load of a step; by
start, the order in which an allocator at run time would meet them; by area, size times lifetime, and by bulk, between
size and area. Pinned buffers come first.

What is placed lies on a *shelf*: occupied ranges of one memory in order of offset, in flat arrays. A query masks those whose live
range meets the newcomer's, walks their running maximum top and takes the smallest gap that holds it. Each of these is one pass of
a vectorised loop: about 10 microseconds for a few hundred ranges, 70 for 20,000, with no list of overlapping pairs to build or
keep. Where there is room for few, they are in a list, and looked at one by one.

`online` is best fit in order of the schedule with no look ahead, what an allocator at run time would do: near-linear, an answer
where there is time for no other. Free holes are kept by size and by both of their ends, so that neighbours grow together when a
buffer dies.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from importlib.util import find_spec

import numpy as np

from hotdesk.planning.placement import orders
from hotdesk.planning.placement.deadline import NO_DEADLINE, Deadline
from hotdesk.planning.placement.instance import ArenaLayout, Instance
from hotdesk.planning.placement.orders import by_start

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


GREEDY_ORDERS: dict[str, Callable[[Instance], list[int]]] = {
    "greedy/size": orders.by_size,
    "greedy/bulk": orders.by_bulk,
    "greedy/start": orders.by_start,
}

WORTH_COMPILING = 5_000
"""Buffers from which on placement runs in compiled code, where `numba` is installed."""

_STRETCH = 500
"""Placements between two looks at the clock."""

_NO_CEILING = 1 << 62


def greedy_below(
    instance: Instance,
    order: Sequence[int],
    name: str,
    ceiling: int | None = None,
    deadline: Deadline = NO_DEADLINE,
) -> ArenaLayout | None:
    """Place every buffer once, in `order`. O(n) array work a buffer; no list of overlapping pairs.

    None as soon as a top passes `ceiling` bytes, and at the deadline.
    """
    compiled = len(instance) >= WORTH_COMPILING and find_spec("numba") is not None
    placing = (_Compiled if compiled else _GreedyPlacement)(instance)
    ceiling = _NO_CEILING if ceiling is None else ceiling
    arena = max((obstacle.top for obstacle in instance.obstacles), default=0)
    for start in range(0, len(order), _STRETCH):
        if deadline.passed():
            return None
        arena = max(arena, placing.place(order[start : start + _STRETCH], ceiling))
        if arena > ceiling:
            return None
    return ArenaLayout(tuple(placing.offsets), arena, name)


class _GreedyPlacement:
    """Offsets as far as they are known, and what is on the shelf."""

    __slots__ = ("_instance", "_shelf", "offsets")

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._shelf = shelf(len(instance) + len(instance.obstacles))
        for obstacle in instance.obstacles:
            self._shelf.insert(obstacle.lower, obstacle.upper, obstacle.bottom, obstacle.top)
        self.offsets = [0] * len(instance)

    def place(self, order: Sequence[int], ceiling: int) -> int:
        """Puts some more buffers on the shelf and returns their highest top, the first one above `ceiling` if there is one."""
        instance, highest = self._instance, 0
        for i in order:
            lower, upper, size = instance.lower[i], instance.upper[i], instance.size[i]
            offset = self._shelf.find(lower, upper, size, instance.alignment[i])
            highest = max(highest, offset + size)
            if highest > ceiling:
                break
            self._shelf.insert(lower, upper, offset, offset + size)
            self.offsets[i] = offset
        return highest


class _Compiled:
    """As `_GreedyPlacement`, in compiled code."""

    __slots__ = ("_buffers", "_count", "_kernels", "_offsets", "_shelf")

    def __init__(self, instance: Instance) -> None:
        from hotdesk.planning.placement import greedy_kernels as shelf_kernels

        self._kernels = shelf_kernels
        columns = (instance.lower, instance.upper, instance.size, instance.alignment)
        self._buffers = tuple(np.array(column, dtype=np.int64) for column in columns)
        room = len(instance) + len(instance.obstacles)
        self._shelf = tuple(np.zeros(room, dtype=np.int64) for _ in columns)
        self._offsets = np.zeros(len(instance), dtype=np.int64)
        self._count = len(instance.obstacles)
        for k, obstacle in enumerate(sorted(instance.obstacles, key=lambda o: o.bottom)):
            row = (obstacle.bottom, obstacle.top, obstacle.lower, obstacle.upper)
            for column, value in zip(self._shelf, row, strict=True):
                column[k] = value

    @property
    def offsets(self) -> list[int]:
        return self._offsets.tolist()

    def place(self, order: Sequence[int], ceiling: int) -> int:
        """As `_GreedyPlacement.place`."""
        some = np.array(order, dtype=np.int64)
        self._count, highest = self._kernels.place_some(
            some, self._buffers, self._shelf, self._count, self._offsets, ceiling
        )
        return int(highest)


def online(instance: Instance) -> ArenaLayout:
    """Place every buffer when it is first needed, in the smallest hole that holds it, else at the top.

    The instance must have no obstacles.
    """
    assert not instance.obstacles
    holes = _Holes()
    offsets = [0] * len(instance)
    dying: list[tuple[int, int]] = []
    for i in by_start(instance):
        while dying and dying[0][0] <= instance.lower[i]:
            _, dead = heappop(dying)
            holes.release(offsets[dead], offsets[dead] + instance.size[dead])
        offsets[i] = holes.take(instance.size[i], instance.alignment[i])
        heappush(dying, (instance.upper[i], i))
    arena = max((offset + size for offset, size in zip(offsets, instance.size, strict=True)), default=0)
    return ArenaLayout(tuple(offsets), arena, "online")


class _Holes:
    """Free bytes below `_top`: holes that do not touch, sorted by size, and found by where they start and end."""

    __slots__ = ("_by_size", "_ends", "_starts", "_top")

    def __init__(self) -> None:
        self._by_size: list[tuple[int, int]] = []  # bytes, first byte
        self._starts: dict[int, int] = {}
        self._ends: dict[int, int] = {}
        self._top = 0

    def take(self, size: int, alignment: int) -> int:
        """The lowest aligned offset in the smallest hole with room for `size` bytes, or at the top."""
        for at in range(bisect_left(self._by_size, (size, 0)), len(self._by_size)):
            length, start = self._by_size[at]
            offset = start + -start % alignment
            if offset + size <= start + length:
                self._remove(start, start + length)
                self.release(start, offset)
                self.release(offset + size, start + length)
                return offset
        start = self._ends.get(self._top, self._top)
        offset = start + -start % alignment
        if start < self._top:
            self._remove(start, self._top)
        self._top = offset + size
        self.release(start, offset)
        return offset

    def release(self, start: int, end: int) -> None:
        """Make `[start, end)` free, with the holes that it touches."""
        if start == end:
            return
        if start in self._ends:
            before = self._ends[start]
            self._remove(before, start)
            start = before
        if end in self._starts:
            after = self._starts[end]
            self._remove(end, after)
            end = after
        insort(self._by_size, (end - start, start))
        self._starts[start], self._ends[end] = end, start

    def _remove(self, start: int, end: int) -> None:
        del self._by_size[bisect_left(self._by_size, (end - start, start))]
        del self._starts[start], self._ends[end]
