"""Which dims of a reshape belong together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import sympy

Dims: TypeAlias = tuple[int, ...]
_algebra: Any = sympy  # SymPy's functions are not annotated


def matching(before: Sequence[Any], after: Sequence[Any]) -> list[tuple[Dims, Dims]]:
    """The finest groups of neighbouring dims that have equally many elements before and after a reshape.

    Sizes are integers or SymPy expressions. Where products are not proven equal, dims stay in one group, at worst all of them.
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


def _next(before: Sequence[Any], after: Sequence[Any], start: int, other: int) -> tuple[int, int] | None:
    """The ends of the shortest two runs of dims with equal products."""
    pairs = ((i, j) for i in range(start + 1, len(before) + 1) for j in range(other + 1, len(after) + 1))
    for i, j in sorted(pairs, key=sum):
        if _algebra.expand(_product(before[start:i]) - _product(after[other:j])) == 0:
            return i, j
    return None


def _product(sizes: Sequence[Any]) -> Any:
    total: Any = _algebra.Integer(1)
    for size in sizes:
        total = total * size
    return total
