"""Kernels for tensor contractions: c (+)= sum over every dimension not in c of a * b.

Dimensions have names; each name appears at most once in an operand. What the program calls them does not matter, only
where they appear::

    a and c: rows      b and c: columns      a and b: summed      all three: batch      one operand alone: broadcast, sum

Dimensions of size 1 are dropped, a stride of 0 in an input counts as absence, and dimensions that lie together in memory
in every operand become one. One of each kind makes a call of a product, with one more dimension of the result as its batch;
the rest are loops around the call. Where there is too little for a call (integers, 16-bit floats, small contractions, none that
is summed), everything is loops.

Without `accumulate`, c is written and never read, even where nothing is summed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import permutations, product

from hotdesk.kernels.text import Condition, Index, KernelBuilder, KernelText, Operand, View
from hotdesk.passes.lower.contraction.loops import ContractionDim, Offsets, clear, contract_by_loops, split
from hotdesk.passes.lower.products import MatrixOperand, ProductSizes, has_matrix_products, write_product

_GUESS = 64  # the size assumed of a dimension whose size is not known
_FEWEST_PRODUCTS = 2048  # below this many, a call costs more than the loops


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
