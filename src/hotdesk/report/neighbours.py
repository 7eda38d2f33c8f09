"""Who has a place in memory before and after whom: a sweep over placed buffers, in order of first use."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

Placed = tuple[str, int, int, int]
"""A buffer: the memory it lies in, the offsets of its first byte and behind its last one, and when it is used first."""


def neighbours(placed: Sequence[Placed]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """For each buffer, by number, those that had bytes of its place right before it, and those that have them right after it.

    Each buffer cuts at most two ranges and replaces the others for good, so all of it takes n log n comparisons, and as much
    memory as there are pairs.
    """
    before: list[tuple[int, ...]] = [()] * len(placed)
    after: list[list[int]] = [[] for _ in placed]
    holders: dict[str, Holders] = {}
    for number in sorted(range(len(placed)), key=lambda i: (placed[i][3], i)):
        where, start, end, _ = placed[number]
        before[number] = holders.setdefault(where, Holders()).replace(start, end, number)
        for other in before[number]:
            after[other].append(number)
    return list(zip(before, map(tuple, after), strict=True))


class Holders:
    """Who had each byte last: disjoint ranges in order; each range given is cut into what it replaces once."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ranges: list[tuple[int, int, int]] = []

    def replace(self, start: int, end: int, holder: int) -> tuple[int, ...]:
        """Gives `[start, end)` to a holder; returns those that had bytes of it, by their place, each once."""
        if start == end:
            return ()
        first = max(0, bisect_right(self._starts, start) - 1)
        if first < len(self._ranges) and self._ranges[first][1] <= start:
            first += 1
        last = bisect_left(self._starts, end)
        replaced = self._ranges[first:last]
        kept = [(a, start, who) for a, _, who in replaced[:1] if a < start]
        kept += [(start, end, holder)]
        kept += [(end, b, who) for _, b, who in replaced[-1:] if end < b]
        self._ranges[first:last] = kept
        self._starts[first:last] = [a for a, _, _ in kept]
        return tuple(dict.fromkeys(who for _, _, who in replaced))
