"""Kernels for tensor contractions: c (+)= sum over every dimension not in c of a * b.

Dimensions have names; each name appears at most once in an operand. What the program calls them does not matter, only
where they appear::

    a and c: rows      b and c: columns      a and b: summed      all three: batch      one operand alone: broadcast, sum

Dimensions of size 1 are dropped, a stride of 0 in an input counts as absence, and dimensions that lie together in memory
in every operand become one. If rows, columns or summed dimensions then remain that a BLAS can take, the rest are loops
around its call; otherwise (integers, 16-bit floats, small or irregular contractions) everything is loops.

Without `accumulate`, c is written and never read, even where nothing is summed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations, product

from hotdesk.passes.lower.blas import Matrix, MatrixProduct, Vector, VectorProduct, has_blas
from hotdesk.passes.lower.kernel import Condition, Index, KernelBuilder, KernelText, Operand, View
from hotdesk.passes.lower.loops import Axis, Offsets, clear, contract_by_loops, split

_GUESS = 64  # the size assumed of a dimension whose size is not known
_FEWEST_PRODUCTS = 2048  # below this many, a BLAS call costs more than the loops


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
    axes = [Axis(sizes[dim], a=at[1], b=at[2], c=at[0]) for dim, at in strides.items()]
    contract(k, a, b, c, axes, accumulate=spec.accumulate)
    return k.finish()


def contract(k: KernelBuilder, a: Operand, b: Operand, c: Operand, axes: Sequence[Axis], *, accumulate: bool) -> None:
    """Writes a contraction of three operands where the builder stands."""
    axes = _merged(k, [_without_broadcast(axis) for axis in axes if axis.size != 1])
    call = _Call.best(a, b, c, axes) if has_blas(a.element, b.element, c.element) else None
    if call is None:
        contract_by_loops(k, a, b, c, axes, accumulate=accumulate)
        return
    rest = [axis for axis in axes if not any(axis is taken for taken in call.axes)]  # equal axes may be two
    k.branch(
        call.at(a, b, c, Offsets()).legal(k),
        lambda: _calls(k, a, b, c, rest, call, accumulate=accumulate),
        lambda: contract_by_loops(k, a, b, c, axes, accumulate=accumulate),
    )


# Dimensions


def _guess(axis: Axis) -> int:
    return axis.size if isinstance(axis.size, int) else _GUESS


def _without_broadcast(axis: Axis) -> Axis:
    return Axis(axis.size, a=None if axis.a == 0 else axis.a, b=None if axis.b == 0 else axis.b, c=axis.c)


def _merged(k: KernelBuilder, axes: Sequence[Axis]) -> list[Axis]:
    """The axes with every two joined that step through memory as one."""
    for (i, outer), (j, inner) in permutations(enumerate(axes), 2):
        if _joins(outer, inner):
            rest = [axis for place, axis in enumerate(axes) if place not in (i, j)]
            return _merged(k, [*rest, Axis(k.mul(outer.size, inner.size), inner.a, inner.b, inner.c)])
    return list(axes)


def _joins(outer: Axis, inner: Axis) -> bool:
    for far, near in ((outer.a, inner.a), (outer.b, inner.b), (outer.c, inner.c)):
        if (far is None) != (near is None):
            return False
        if far is None or near is None:
            continue
        if isinstance(far, str) or isinstance(near, str) or isinstance(inner.size, str) or far != near * inner.size:
            return False
    return True


# The BLAS


@dataclass(frozen=True, slots=True)
class _Call:
    """The axes that one call of the BLAS covers; None where it has none such."""

    rows: Axis | None
    columns: Axis | None
    summed: Axis

    @classmethod
    def best(cls, a: Operand, b: Operand, c: Operand, axes: Sequence[Axis]) -> _Call | None:
        """The possible call that does most; None if none does enough."""
        rows = [axis for axis in axes if axis.a is not None and axis.b is None and axis.c is not None]
        columns = [axis for axis in axes if axis.a is None and axis.b is not None and axis.c is not None]
        summed = [axis for axis in axes if axis.a is not None and axis.b is not None and axis.c is None]
        candidates = [cls(*chosen) for chosen in product([*rows, None], [*columns, None], summed)]
        candidates.sort(key=lambda call: -call.products)
        for call in candidates:
            if call.products < _FEWEST_PRODUCTS:
                return None
            if (call.rows or call.columns) and call.at(a, b, c, Offsets()).possible:
                return call
        return None

    @property
    def axes(self) -> list[Axis]:
        return [axis for axis in (self.rows, self.columns, self.summed) if axis is not None]

    @property
    def products(self) -> int:
        return math.prod(_guess(axis) for axis in self.axes)

    def at(self, a: Operand, b: Operand, c: Operand, here: Offsets) -> MatrixProduct | VectorProduct:
        """The call on the operands from these offsets on."""
        none = Axis(1, 0, 0, 0)
        rows, columns, summed = self.rows or none, self.columns or none, self.summed
        left = Matrix(a, here.a, rows.size, summed.size, rows.a or 0, summed.a or 0)
        right = Matrix(b, here.b, summed.size, columns.size, summed.b or 0, columns.b or 0)
        if self.columns is None:
            vector = Vector(b, here.b, summed.size, summed.b or 0)
            return VectorProduct(left, vector, Vector(c, here.c, rows.size, rows.c or 0))
        if self.rows is None:
            vector = Vector(a, here.a, summed.size, summed.a or 0)
            return VectorProduct(right.transpose, vector, Vector(c, here.c, columns.size, columns.c or 0))
        return MatrixProduct.of(left, right, Matrix(c, here.c, rows.size, columns.size, rows.c or 0, columns.c or 0))


def _calls(
    k: KernelBuilder, a: Operand, b: Operand, c: Operand, rest: Sequence[Axis], call: _Call, *, accumulate: bool
) -> None:
    """The call inside loops over the axes it leaves; all but the first over the summed ones add to the result."""
    kept, summed = split(rest)
    one, zero = k.constant("1.0", c.element), k.constant("0.0", c.element)
    if not accumulate and not all(isinstance(axis.size, int) and axis.size for axis in summed):
        clear(k, c, [*kept, *call.axes])
        accumulate = True
    with k.loops([axis.size for axis in kept]) as positions, k.loops([axis.size for axis in summed]) as steps:
        here = Offsets().moved(k, [*kept, *summed], [*positions, *steps])
        beta = one if accumulate else zero
        if not accumulate and summed:
            first: Condition = True
            for step in steps:
                first = k.both(first, k.equal(step, 0))
            beta = zero if first is True else k.value(f"arith.select {first}, {zero}, {one} : {c.element}")
        call.at(a, b, c, here).write(k, beta)
