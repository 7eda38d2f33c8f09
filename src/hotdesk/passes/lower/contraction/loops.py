"""Contractions as plain loops, shaped so that LLVM vectorises the innermost.

Where the result and the inputs step by one element together, a short row of sums is kept on the stack and every product
of the summed dimensions is added to the whole row: no order of additions changes, and the result may be 16 bits wide.
Otherwise each result is one sum kept in a register, the summed dimension that steps by one element innermost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hotdesk.kernels.text import Index, KernelBuilder, Operand
from hotdesk.passes.lower.scalar import combine, multiply, narrow, neutral, sum_type, widen

_ROW = 64  # sums kept on the stack at a time
_FEWEST_LANES = 4


@dataclass(frozen=True, slots=True)
class ContractionDim:
    """One dimension of a contraction: its size, and its stride in each operand that has it, in elements."""

    size: Index
    a: Index | None
    b: Index | None
    c: Index | None


@dataclass(frozen=True, slots=True)
class Offsets:
    """Where the elements of a, b and c are, in elements."""

    a: Index = 0
    b: Index = 0
    c: Index = 0

    def moved(self, k: KernelBuilder, axes: Sequence[ContractionDim], positions: Sequence[Index]) -> Offsets:
        """The offsets after a step along each axis."""
        return Offsets(
            k.add(self.a, k.dot(positions, [axis.a or 0 for axis in axes])),
            k.add(self.b, k.dot(positions, [axis.b or 0 for axis in axes])),
            k.add(self.c, k.dot(positions, [axis.c or 0 for axis in axes])),
        )


def contract_by_loops(
    k: KernelBuilder, a: Operand, b: Operand, c: Operand, axes: Sequence[ContractionDim], *, accumulate: bool
) -> None:
    """Writes the loops of a contraction of any element types and strides."""
    kept, summed = split(axes)
    lanes = [axis for axis in kept if axis.c == 1 and axis.a in (1, None) and axis.b in (1, None)]
    lane = max(lanes, key=_guess, default=None)
    if lane is None or _guess(lane) < _FEWEST_LANES:
        _one_sum_at_a_time(k, a, b, c, kept, summed, accumulate=accumulate)
    else:
        outer = [axis for axis in kept if axis is not lane]
        _row_of_sums(k, a, b, c, outer, lane, summed, accumulate=accumulate)


def clear(k: KernelBuilder, c: Operand, axes: Sequence[ContractionDim]) -> None:
    """Writes zeros to all of c."""
    kept, _ = split(axes)
    with k.loops([axis.size for axis in kept]) as positions:
        k.store(neutral(k, c.element), c, Offsets().moved(k, kept, positions).c)


def split(axes: Sequence[ContractionDim]) -> tuple[list[ContractionDim], list[ContractionDim]]:
    """The axes of c, and the summed ones; those with the smallest strides last."""
    kept = sorted((axis for axis in axes if axis.c is not None), key=lambda axis: _descending(axis.c))
    summed = sorted((axis for axis in axes if axis.c is None), key=lambda axis: _descending(axis.a, axis.b))
    return kept, summed


def _descending(*strides: Index | None) -> float:
    """A sorting key; strides not known yet are taken for large ones."""
    return -sum(stride if isinstance(stride, int) else 1e12 for stride in strides if stride is not None)


def _guess(axis: ContractionDim) -> int:
    return axis.size if isinstance(axis.size, int) else _ROW


def _one_sum_at_a_time(
    k: KernelBuilder,
    a: Operand,
    b: Operand,
    c: Operand,
    kept: Sequence[ContractionDim],
    summed: Sequence[ContractionDim],
    *,
    accumulate: bool,
) -> None:
    kind = sum_type(c.element, a.element, b.element)

    def total(depth: int, here: Offsets, value: str) -> str:
        if depth == len(summed):
            left = widen(k, k.load(a, here.a), a.element, kind)
            right = widen(k, k.load(b, here.b), b.element, kind)
            return combine(k, value, multiply(k, left, right, kind), kind)
        axis = summed[depth]

        def step(position: Index, running: str) -> str:
            return total(depth + 1, here.moved(k, [axis], [position]), running)

        return k.reduce(0, axis.size, 1, value, kind, step)

    with k.loops([axis.size for axis in kept]) as positions:
        here = Offsets().moved(k, kept, positions)
        start = widen(k, k.load(c, here.c), c.element, kind) if accumulate else neutral(k, kind)
        k.store(narrow(k, total(0, here, start), kind, c.element), c, here.c)


def _row_of_sums(
    k: KernelBuilder,
    a: Operand,
    b: Operand,
    c: Operand,
    outer: Sequence[ContractionDim],
    lane: ContractionDim,
    summed: Sequence[ContractionDim],
    *,
    accumulate: bool,
) -> None:
    kind = sum_type(c.element, a.element, b.element)
    width = min(_guess(lane), _ROW)
    row = k.stack(kind, width)
    with k.loops([axis.size for axis in outer]) as positions, k.loop(0, lane.size, width) as first:
        here = Offsets().moved(k, [*outer, lane], [*positions, first])
        whole = isinstance(lane.size, int) and lane.size % width == 0
        count = width if whole else k.minimum(width, k.sub(lane.size, first))
        with k.loop(0, count) as i:
            start = widen(k, k.load(c, k.add(here.c, i)), c.element, kind) if accumulate else neutral(k, kind)
            k.store(start, row, i)
        with k.loops([axis.size for axis in summed]) as steps:
            there = here.moved(k, summed, steps)
            fixed_a = widen(k, k.load(a, there.a), a.element, kind) if lane.a is None else None
            fixed_b = widen(k, k.load(b, there.b), b.element, kind) if lane.b is None else None
            with k.loop(0, count) as i:
                left = fixed_a or widen(k, k.load(a, k.add(there.a, i)), a.element, kind)
                right = fixed_b or widen(k, k.load(b, k.add(there.b, i)), b.element, kind)
                k.store(combine(k, k.load(row, i), multiply(k, left, right, kind), kind), row, i)
        with k.loop(0, count) as i:
            k.store(narrow(k, k.load(row, i), kind, c.element), c, k.add(here.c, i))
