"""Kernels for tensor contractions: c (+)= sum over every dimension not in c of a * b.

Dimensions have names; each name appears at most once in an operand. What the program calls them does not matter, only
where they appear::

    a and c: rows      b and c: columns      a and b: summed      all three: batch      one operand alone: broadcast, sum

Dimensions of size 1 are dropped, a stride of 0 in an input counts as absence, and dimensions that lie together in memory
in every operand become one. One of each kind makes a call of a product, with one more dimension of the result as its batch;
the rest are loops around the call. Where there is too little for a call (integers, 16-bit floats, small contractions, none that
is summed), everything is loops, shaped so that LLVM vectorises the innermost: where the result and the inputs step by one
element together, a short row of sums is kept on the stack and every product of the summed dimensions is added to the whole row,
so no order of additions changes, and the result may be 16 bits wide; otherwise each result is one sum kept in a register, the
summed dimension that steps by one element innermost.

Without `accumulate`, c is written and never read, even where nothing is summed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import permutations, product

from hotdesk.kernels.text import Condition, Index, KernelBuilder, KernelText, Operand, View
from hotdesk.passes.lower.products import MatrixOperand, ProductSizes, has_matrix_products, write_product
from hotdesk.passes.lower.scalar import combine, multiply, narrow, neutral, sum_type, widen

_GUESS = 64  # the size assumed of a dimension whose size is not known
_FEWEST_PRODUCTS = 2048  # below this many, a call costs more than the loops
_ROW = 64  # sums kept on the stack at a time
_FEWEST_LANES = 4


@dataclass(frozen=True, slots=True)
class ContractionSpec:
    """`c[c_dims] (+)= sum(a[a_dims] * b[b_dims])`; `noalias` says of a, b, c whether it overlaps no other operand."""

    a: View
    b: View
    c: View
    a_dims: tuple[str, ...]
    b_dims: tuple[str, ...]
    c_dims: tuple[str, ...]
    accumulate: bool
    noalias: tuple[bool, bool, bool]

    def __post_init__(self) -> None:
        known: dict[str, int] = {}
        for view, dims in ((self.a, self.a_dims), (self.b, self.b_dims), (self.c, self.c_dims)):
            if len(dims) != len(view.sizes) or len(set(dims)) != len(dims):
                raise ValueError(f"contraction: expected {len(view.sizes)} different names, got {dims}")
            for dim, size in zip(dims, view.sizes, strict=True):
                if size is not None and known.setdefault(dim, size) != size:
                    raise ValueError(f"contraction: expected {dim} to have size {known[dim]}, got {size}")


def contraction(spec: ContractionSpec) -> KernelText:
    """The kernel of `spec`; operands a, b, c.

    Raises ValueError if the element types do not go together.
    """
    k = KernelBuilder((spec.a, spec.b, spec.c), spec.noalias)
    a, b, c = k.operands
    sizes: dict[str, Index] = {}
    strides: dict[str, list[Index | None]] = {}
    for place, (operand, dims) in enumerate(((c, spec.c_dims), (a, spec.a_dims), (b, spec.b_dims))):
        for dim, size, stride in zip(dims, operand.sizes, operand.strides, strict=True):
            sizes[dim] = sizes.get(dim, size) if isinstance(size, str) else size
            strides.setdefault(dim, [None, None, None])[place] = stride
    axes = [ContractionDim(sizes[dim], a=at[1], b=at[2], c=at[0]) for dim, at in strides.items()]
    contract(k, a, b, c, axes, accumulate=spec.accumulate)
    return k.finish()


def contract(
    k: KernelBuilder, a: Operand, b: Operand, c: Operand, axes: Sequence[ContractionDim], *, accumulate: bool
) -> None:
    """Writes a contraction of three operands where the builder stands."""
    axes = _merged(k, [_without_broadcast(axis) for axis in axes if axis.size != 1])
    call = _Call.best(axes) if has_matrix_products(a.element, b.element, c.element) else None
    if call is None:
        contract_by_loops(k, a, b, c, axes, accumulate=accumulate)
        return
    rest = [axis for axis in axes if not any(axis is taken for taken in call.axes)]  # equal axes may be two
    _calls(k, a, b, c, rest, call, accumulate=accumulate)


# Dimensions


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


def _guess(axis: ContractionDim) -> int:
    return axis.size if isinstance(axis.size, int) else _GUESS


def _without_broadcast(axis: ContractionDim) -> ContractionDim:
    return ContractionDim(axis.size, a=None if axis.a == 0 else axis.a, b=None if axis.b == 0 else axis.b, c=axis.c)


def _merged(k: KernelBuilder, axes: Sequence[ContractionDim]) -> list[ContractionDim]:
    """The axes with every two joined that step through memory as one."""
    for (i, outer), (j, inner) in permutations(enumerate(axes), 2):
        if _joins(outer, inner):
            rest = [axis for place, axis in enumerate(axes) if place not in (i, j)]
            return _merged(k, [*rest, ContractionDim(k.mul(outer.size, inner.size), inner.a, inner.b, inner.c)])
    return list(axes)


def _joins(outer: ContractionDim, inner: ContractionDim) -> bool:
    for far, near in ((outer.a, inner.a), (outer.b, inner.b), (outer.c, inner.c)):
        if (far is None) != (near is None):
            return False
        if far is None or near is None:
            continue
        if isinstance(far, str) or isinstance(near, str) or isinstance(inner.size, str) or far != near * inner.size:
            return False
    return True


# Products


@dataclass(frozen=True, slots=True)
class _Call:
    """The axes that one call of a product covers; None where it has none such."""

    rows: ContractionDim | None
    columns: ContractionDim | None
    summed: ContractionDim
    batch: ContractionDim | None

    @classmethod
    def best(cls, axes: Sequence[ContractionDim]) -> _Call | None:
        """The call that does most, if it does enough; among equal ones the one whose operands are read in order."""
        rows = [axis for axis in axes if axis.a is not None and axis.b is None and axis.c is not None]
        columns = [axis for axis in axes if axis.a is None and axis.b is not None and axis.c is not None]
        summed = [axis for axis in axes if axis.a is not None and axis.b is not None and axis.c is None]
        triples = [cls(r, c, s, None) for r, c, s in product([*rows, None], [*columns, None], summed) if r or c]
        if not triples:
            return None
        chosen = max(triples, key=lambda call: call.products * call.order)
        if chosen.products < _FEWEST_PRODUCTS:
            return None
        kept = [axis for axis in axes if axis.c is not None and not any(axis is taken for taken in chosen.axes)]
        return replace(chosen, batch=max(kept, key=_guess, default=None))

    @property
    def axes(self) -> list[ContractionDim]:
        return [axis for axis in (self.rows, self.columns, self.summed, self.batch) if axis is not None]

    @property
    def products(self) -> int:
        """Of one matrix of the batch."""
        return math.prod(_guess(axis) for axis in (self.rows, self.columns, self.summed) if axis is not None)

    @property
    def order(self) -> float:
        """What part of the speed is left: less where an operand's elements lie together along no axis."""
        one = ContractionDim(1, 1, 1, 1)
        rows, columns = self.rows or one, self.columns or one
        together = (1 in (rows.a, self.summed.a), 1 in (columns.b, self.summed.b), 1 in (rows.c, columns.c))
        return 0.5 ** together.count(False)

    def write(self, k: KernelBuilder, a: Operand, b: Operand, c: Operand, here: Offsets, add: Condition) -> None:
        """The call on the operands from these offsets on."""
        none = ContractionDim(1, 0, 0, 0)
        rows, columns, summed, batch = self.rows or none, self.columns or none, self.summed, self.batch or none
        write_product(
            k,
            ProductSizes(rows.size, columns.size, summed.size, batch.size),
            MatrixOperand(a, here.a, rows.a or 0, summed.a or 0, batch.a or 0),
            MatrixOperand(b, here.b, summed.b or 0, columns.b or 0, batch.b or 0),
            MatrixOperand(c, here.c, rows.c or 0, columns.c or 0, batch.c or 0),
            add=add,
        )


def _calls(
    k: KernelBuilder,
    a: Operand,
    b: Operand,
    c: Operand,
    rest: Sequence[ContractionDim],
    call: _Call,
    *,
    accumulate: bool,
) -> None:
    """The call inside loops over the axes it leaves; all but the first over the summed ones add to the result."""
    kept, summed = split(rest)
    if not accumulate and not all(isinstance(axis.size, int) and axis.size for axis in summed):
        clear(k, c, [*kept, *call.axes])
        accumulate = True
    with k.loops([axis.size for axis in kept]) as positions, k.loops([axis.size for axis in summed]) as steps:
        here = Offsets().moved(k, [*kept, *summed], [*positions, *steps])
        add: Condition = accumulate
        if not accumulate:
            for step in steps:
                add = k.either(add, k.at_least(step, 1))
        call.write(k, a, b, c, here, add)


# Loops


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
