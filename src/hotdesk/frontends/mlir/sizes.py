"""What the ops of a function demand of sizes that are not known when it is compiled, as relations that each call must fulfil.

Ops inside of control flow are not looked at: whether they run is not known. Theirs, and what depends on data, is checked where
it comes up (`guards`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sympy

from hotdesk._bindings import ir
from hotdesk.errors import InvalidIRError
from hotdesk.explain import Source
from hotdesk.frontends.mlir.demands import (
    Demand,
    Dim,
    Divides,
    Equal,
    Inside,
    NotNegative,
    Number,
    SameCount,
    Window,
    demands,
)
from hotdesk.ir.locations import python_line
from hotdesk.ir.walking import top_level_ops
from hotdesk.passes.lower.function import SizeCheck
from hotdesk.program.symbolic import SymbolicSizes
from hotdesk.sizes.expressions import expand, product
from hotdesk.sizes.size import Size, is_opaque

_algebra: Any = sympy  # SymPy's functions are not annotated


def size_checks(function: ir.Operation) -> tuple[SizeCheck, ...]:
    """The relations, each once and with the first op that demands it; what depends on data is left out.

    Raises:
        InvalidIRError: one holds for no sizes.
    """
    known = SymbolicSizes(function)
    found: dict[object, SizeCheck] = {}
    for op in top_level_ops(function):
        for relation, message in _relations(op, known):
            if relation is sympy.true or is_opaque(relation):
                continue
            where = python_line(op.location)
            if relation is sympy.false:
                got = "sizes for which that never holds"
                raise InvalidIRError(f"op `{op.name}`", expected=message, got=got, where=where)
            found.setdefault(relation, SizeCheck(relation, f"`{op.name}`: {message}", Source(op.name, where)))
    return tuple(found.values())


def _relations(op: ir.Operation, known: SymbolicSizes) -> Iterator[tuple[Any, str]]:
    for demand in demands(op):
        for relation in relations(demand, known):
            yield relation, demand.message


def relations(demand: Demand, known: SymbolicSizes) -> list[Any]:
    """A demand as relations of SymPy that all have to hold, each of them true or false where that is known."""

    def size(number: Number) -> Size:
        if isinstance(number, Dim):
            return known.shape(number.of)[number.position]
        return number if isinstance(number, int) else known.value(number)

    match demand:
        case Equal():
            return [_equal(size(demand.number), product([size(factor) for factor in demand.factors]))]
        case SameCount():
            before, after = (product([size(each) for each in dims]) for dims in (demand.before, demand.after))
            return [_equal(before, after)]
        case NotNegative():
            return [_not_negative(size(demand.number))]
        case Inside():
            offset, count, stride, whole = map(size, (demand.offset, demand.size, demand.stride, demand.whole))
            return [_not_negative(offset), _not_negative(stride), _inside(offset, count, stride, whole)]
        case Window():
            extents = {loop: size(extent) for loop, extent in demand.extents.items()}
            is_empty = [_algebra.Eq(extents[loop], 0) for loop in sorted(extents)]
            return [_algebra.Or(_algebra.Lt(expand(_last(demand.last, extents)), size(demand.whole)), *is_empty)]
        case Divides():  # sizes are never the smallest integer
            return [_algebra.Ne(known.value(demand.op.operands[1]), 0)]


def _last(expression: Any, extents: dict[int, Size]) -> Any:
    """An affine expression with each loop at its last place."""
    if isinstance(expression, ir.AffineConstantExpr):
        return expression.value
    if isinstance(expression, ir.AffineDimExpr):
        return extents[expression.position] - 1
    left, right = _last(expression.lhs, extents), _last(expression.rhs, extents)
    return left + right if isinstance(expression, ir.AffineAddExpr) else left * right


def _inside(offset: Size, size: Size, stride: Size, whole: Size) -> Any:
    if all(isinstance(each, int) for each in (offset, size, stride, whole)):
        return sympy.true if size == 0 or offset + (size - 1) * stride < whole else sympy.false
    last = _algebra.Lt(expand(offset + (size - 1) * stride), whole)
    return last if size == 1 else _algebra.Or(last, _algebra.Eq(size, 0))


def _equal(a: Size, b: Size) -> Any:
    if isinstance(a, int) and isinstance(b, int):
        return sympy.true if a == b else sympy.false
    return _algebra.Eq(expand(a), expand(b))


def _not_negative(size: Size) -> Any:
    """Sizes never are negative, and no numbers that callers give for them; numbers that are read may be."""
    if isinstance(size, int):
        return sympy.true if size >= 0 else sympy.false
    return sympy.true if isinstance(size, sympy.Symbol) and not is_opaque(size) else _algebra.Ge(size, 0)
