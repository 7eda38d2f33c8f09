"""What an allocator at run time would do: best fit in order of the schedule, with no look ahead.

Free holes are kept by size and by both of their ends, so that neighbours grow together when a buffer dies. Near-linear, and
without lists of neighbours: an answer where there is time for no other.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from heapq import heappop, heappush

from hotdesk.planning.instance import Instance, Layout
from hotdesk.planning.orders import by_start


def online(instance: Instance) -> Layout:
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
    return Layout(tuple(offsets), arena, "online")


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
