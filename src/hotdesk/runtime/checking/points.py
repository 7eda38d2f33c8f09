"""Arrays over the points of a `linalg.generic`: its domain in parts, and values that have a dimension for each loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hotdesk.runtime.checking.blocks import View
from hotdesk.runtime.checking.elements import Array, Unwritten, Value, xp

PART = 1 << 21  # points of the domain that are computed at once


def parts(domain: Sequence[int], parallel: Sequence[bool]) -> list[tuple[list[int], list[int]]]:
    """The domain in parts of about `PART` points, cut along its longest parallel loop."""
    total, loops = int(np.prod(domain, dtype=np.int64)), [i for i, yes in enumerate(parallel) if yes]
    if total <= PART or not loops:
        return [([0] * len(domain), list(domain))]
    longest = max(loops, key=lambda i: domain[i])
    step = max(1, domain[longest] * PART // total)
    found: list[tuple[list[int], list[int]]] = []
    for start in range(0, domain[longest], step):
        starts, sizes = [0] * len(domain), list(domain)
        starts[longest], sizes[longest] = start, min(step, domain[longest] - start)
        found.append((starts, sizes))
    return found


def shaped(value: Value, rank: int) -> Value:
    """A scalar with as many dimensions as there are loops."""
    if type(value) is Unwritten:
        return Unwritten(shaped(value.values, rank), value.where, value.reader, value.buffer)
    return xp.asarray(value).reshape((1,) * rank) if np.ndim(value) == 0 else value


def widened(view: View, domain: Sequence[int]) -> View:
    """The view with an element for each point of the domain."""
    strides = [
        stride if size == whole else 0 for size, stride, whole in zip(view.sizes, view.strides, domain, strict=True)
    ]
    return view.at(view.offset, domain, strides)


def summed(
    product: tuple[int, int], given: Sequence[Value], sizes: Sequence[int], loops: Sequence[int], dtype: np.dtype[Any]
) -> Array:
    """The sum of products of two operands over some loops; every loop keeps a dimension."""
    factors = [shaped(np.asarray(given[i]), len(sizes)).astype(dtype, copy=False) for i in product]
    terms: list[Any] = []
    for factor in factors:
        letters = [i for i, size in enumerate(factor.shape) if size != 1]
        terms += [factor.reshape([factor.shape[i] for i in letters]), letters]
    present = set(terms[1]) | set(terms[3])
    kept = [i for i in sorted(present) if i not in loops]
    total = np.einsum(*terms, kept, optimize=True)
    for i in loops:  # a loop on which neither depends repeats its sum
        if i not in present:
            total = total * dtype.type(sizes[i])
    return xp.asarray(total, dtype).reshape([sizes[i] if i in kept else 1 for i in range(len(sizes))])
