"""Iteration domains: how the operands of a structured op lie in memory, seen from its loops.

An operand indexed by sums of multiples of loop counters is, over the whole domain, one strided view with a dimension for each
loop: its stride is that of the operand times the multiple, zero where the operand does not depend on the loop. Values that are
computed for a part of the domain at once are arrays with a dimension for each loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hotdesk._bindings import ir
from hotdesk.checker.buffers import MemRef
from hotdesk.checker.findings import Findings
from hotdesk.checker.report import FaultKind
from hotdesk.checker.values import Array, Unwritten, Value, xp
from hotdesk.explain import Source

_PART = 1 << 21  # points of the domain that are computed at once


@dataclass(frozen=True, slots=True)
class LinearIndex:
    """A constant and a multiple of each loop counter."""

    constant: int
    multiples: tuple[int, ...]

    @property
    def loop(self) -> int | None:
        """The loop whose counter it is, or None if it is anything else."""
        found = [number for number, multiple in enumerate(self.multiples) if multiple]
        plain = len(found) == 1 and self.constant == 0 and self.multiples[found[0]] == 1
        return found[0] if plain else None

    def range(self, sizes: Sequence[int]) -> tuple[int, int]:
        """The least and the greatest value over loops of these sizes, of which none is 0."""
        reaches = [multiple * (size - 1) for multiple, size in zip(self.multiples, sizes, strict=True)]
        return self.constant + sum(r for r in reaches if r < 0), self.constant + sum(r for r in reaches if r > 0)


@dataclass(frozen=True, slots=True)
class IndexingMap:
    """How an operand is indexed: one expression for each of its dimensions, or None if one is no sum of multiples."""

    expressions: tuple[LinearIndex, ...] | None
    affine_map: Any

    def over(self, view: MemRef, starts: Sequence[int], sizes: Sequence[int]) -> MemRef:
        """The operand over a part of the domain, with one dimension for each loop; of size 1 where the loop does not matter."""
        assert self.expressions is not None
        offset, strides = view.offset, [0] * len(sizes)
        for expression, stride in zip(self.expressions, view.strides, strict=True):
            offset += expression.constant * stride
            for loop, multiple in enumerate(expression.multiples):
                offset += starts[loop] * multiple * stride
                strides[loop] += multiple * stride
        used = [any(e.multiples[loop] for e in self.expressions) for loop in range(len(sizes))]
        shape = [size if here else 1 for size, here in zip(sizes, used, strict=True)]
        return view.at(offset, shape, strides)

    def at(self, point: Sequence[int]) -> list[int]:
        """Where the operand is read or written at one point of the domain."""
        return [int(evaluated(expression, point)) for expression in self.affine_map.results]


def indexing_map(affine_map: Any) -> IndexingMap:
    """Reads an indexing map."""
    found = [_linear(expression, affine_map.n_dims) for expression in affine_map.results]
    known = tuple(each for each in found if each is not None)
    return IndexingMap(known if len(known) == len(found) else None, affine_map)


def _linear(expression: Any, count: int) -> LinearIndex | None:
    if isinstance(expression, ir.AffineConstantExpr):
        return LinearIndex(expression.value, (0,) * count)
    if isinstance(expression, ir.AffineDimExpr):
        return LinearIndex(0, tuple(int(i == expression.position) for i in range(count)))
    if not isinstance(expression, (ir.AffineAddExpr, ir.AffineMulExpr)):
        return None
    left, right = _linear(expression.lhs, count), _linear(expression.rhs, count)
    if left is None or right is None:
        return None
    if isinstance(expression, ir.AffineAddExpr):
        sums = zip(left.multiples, right.multiples, strict=True)
        return LinearIndex(left.constant + right.constant, tuple(a + b for a, b in sums))
    if any(left.multiples):
        left, right = right, left
    if any(left.multiples):
        return None
    return LinearIndex(left.constant * right.constant, tuple(left.constant * m for m in right.multiples))


def evaluated(expression: Any, point: Sequence[Any]) -> Any:
    """An affine expression at a point; numbers or arrays."""
    if isinstance(expression, ir.AffineConstantExpr):
        return expression.value
    if isinstance(expression, ir.AffineDimExpr):
        return point[expression.position]
    left, right = evaluated(expression.lhs, point), evaluated(expression.rhs, point)
    if isinstance(expression, ir.AffineAddExpr):
        return left + right
    if isinstance(expression, ir.AffineMulExpr):
        return left * right
    if isinstance(expression, ir.AffineModExpr):
        return left % right
    if isinstance(expression, ir.AffineFloorDivExpr):
        return left // right
    return -(-left // right)  # rounded up


def domain_of(
    accesses: Sequence[IndexingMap],
    shapes: Sequence[Sequence[int]],
    views: Sequence[Any],
    findings: Findings,
    at: Source,
) -> list[int]:
    """The size of each loop: that of the operands' dimensions which are indexed by its counter alone.

    Notes a fault, and stops, if two operands do not agree or an index leaves its operand.
    """
    sizes: dict[int, int] = {}
    for access, shape in zip(accesses, shapes, strict=True):
        for expression, size in zip(access.affine_map.results, shape, strict=True):
            if isinstance(expression, ir.AffineDimExpr):
                loop = expression.position
                if sizes.setdefault(loop, size) != size:
                    message = f"loop d{loop} has {sizes[loop]} iterations by one operand and {size} by another"
                    findings.stop(FaultKind.SHAPE, at, message)
    count = accesses[0].affine_map.n_dims
    missing = [loop for loop in range(count) if loop not in sizes]
    if missing:
        findings.stop(FaultKind.SHAPE, at, f"no operand gives loop d{missing[0]} its size")
    domain = [sizes[loop] for loop in range(count)]
    if 0 not in domain:
        for access, shape, view in zip(accesses, shapes, views, strict=True):
            _check_bounds(access, shape, view, domain, findings, at)
    return domain


def _check_bounds(
    access: IndexingMap, shape: Sequence[int], view: Any, domain: Sequence[int], findings: Findings, at: Source
) -> None:
    for number, (expression, size) in enumerate(zip(access.affine_map.results, shape, strict=True)):
        if access.expressions is not None:
            low, high = access.expressions[number].range(domain)
        else:
            values = np.asarray(evaluated(expression, counters([0] * len(domain), domain)))
            low, high = int(values.min()), int(values.max())
        if low < 0 or high >= size:
            message = f"indices {low} to {high} in dimension {number}, which has {size} elements"
            block = view.buffer if isinstance(view, MemRef) else None
            findings.stop(FaultKind.OUT_OF_BOUNDS, at, message, block)


def counters(starts: Sequence[int], sizes: Sequence[int]) -> list[Array]:
    """The counter of each loop over a part of the domain, as an array that has that loop's dimension alone."""
    rank = len(sizes)
    return [
        xp.arange(start, start + size, dtype=np.int64).reshape([size if i == loop else 1 for i in range(rank)])
        for loop, (start, size) in enumerate(zip(starts, sizes, strict=True))
    ]


def parts(domain: Sequence[int], parallel: Sequence[bool]) -> list[tuple[list[int], list[int]]]:
    """The domain in parts of about `_PART` points, cut along its longest parallel loop."""
    total, loops = int(np.prod(domain, dtype=np.int64)), [i for i, yes in enumerate(parallel) if yes]
    if total <= _PART or not loops:
        return [([0] * len(domain), list(domain))]
    longest = max(loops, key=lambda i: domain[i])
    step = max(1, domain[longest] * _PART // total)
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


def widened(view: MemRef, domain: Sequence[int]) -> MemRef:
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
