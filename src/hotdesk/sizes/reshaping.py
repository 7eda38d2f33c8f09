"""Which dims of a reshape belong together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from hotdesk.sizes.expressions import product
from hotdesk.sizes.size import Size

Dims: TypeAlias = tuple[int, ...]


def matching(before: Sequence[Size], after: Sequence[Size]) -> list[tuple[Dims, Dims]]:
    """The finest groups of neighbouring dims that have equally many elements before and after a reshape.

    Where products are not proven equal, dims stay in one group, at worst all of them.
    """
    groups: list[tuple[Dims, Dims]] = []
    start, other = 0, 0
    while start < len(before) and other < len(after):
        found = _next(before, after, start, other)
        if found is None:
            break
        groups.append((tuple(range(start, found[0])), tuple(range(other, found[1]))))
        start, other = found
    if start < len(before) or other < len(after):
        first, second = groups.pop() if groups else ((), ())
        groups.append(((*first, *range(start, len(before))), (*second, *range(other, len(after)))))
    return groups


def _next(before: Sequence[Size], after: Sequence[Size], start: int, other: int) -> tuple[int, int] | None:
    """The ends of the shortest two runs of dims with equal products."""
    pairs = ((i, j) for i in range(start + 1, len(before) + 1) for j in range(other + 1, len(after) + 1))
    for i, j in sorted(pairs, key=sum):
        if product(before[start:i]) == product(after[other:j]):
            return i, j
    return None
