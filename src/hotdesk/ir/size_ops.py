"""Ops that compute a size: an expression as a value, from the values of its parts.

400*batch + n//2   ->   %0 = arith.muli %c400, %batch; %1 = arith.floordivsi %n, %c2; %2 = arith.addi %0, %1
"""

# SymPy is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias, cast

import sympy

from hotdesk._bindings import ir
from hotdesk.errors import UnsupportedOpError
from hotdesk.ir.building import compared, create, index_constant
from hotdesk.sizes.proofs import is_not_negative
from hotdesk.sizes.size import is_opaque, spelled

Of: TypeAlias = Callable[[Any], ir.Value]
"""The value of a part of an expression: what a caller knows already, or has computed by `size_value`."""

_PREDICATES = {sympy.Eq: "eq", sympy.Ne: "ne", sympy.Lt: "slt", sympy.Le: "sle", sympy.Gt: "sgt", sympy.Ge: "sge"}


def size_value(
    size: Any,
    of: Of,
    before: ir.Operation,
    may_be_negative: Callable[[Any], bool] = is_opaque,
    spell: Callable[[Any], str] = spelled,
) -> ir.Value:
    """The value of a number, or of an expression of the values of its parts. Raises UnsupportedOpError for any other form.

    `may_be_negative` says of a symbol whether it may stand for a number below 0; `spell` how a size is told.
    """
    if isinstance(size, int) or size.is_Integer:
        return index_constant(int(size), before)
    if size.is_Pow and size.exp.is_Integer and int(size.exp) > 0:
        return _folded("arith.muli", [size.base] * int(size.exp), of, before)
    if size.is_Add or (size.is_Mul and all(each.is_integer is not False for each in size.args)):
        return _folded("arith.addi" if size.is_Add else "arith.muli", size.args, of, before)
    if isinstance(size, sympy.floor):
        return _folded("arith.floordivsi", cast(Any, size.args[0]).as_numer_denom(), of, before)
    if isinstance(size, sympy.Mod):
        dividend, divisor = size.args
        return _remainder(dividend, divisor, of, before, may_be_negative)
    if isinstance(size, sympy.Max | sympy.Min):
        return _folded("arith.maxsi" if isinstance(size, sympy.Max) else "arith.minsi", size.args, of, before)
    if isinstance(size, sympy.Piecewise):
        return _one_of(size, of, before)
    raise UnsupportedOpError(
        "a size has a form that is not known",
        expected="sums, products, quotients and remainders of sizes of arguments",
        got=spell(size),
    )


def relation_value(relation: Any, of: Of, before: ir.Operation) -> ir.Value:
    """Whether a relation of sizes holds, as a bit. Raises UnsupportedOpError for a form that is not known."""
    if isinstance(relation, sympy.And | sympy.Or):
        name = "arith.andi" if isinstance(relation, sympy.And) else "arith.ori"
        first, *rest = [relation_value(each, of, before) for each in relation.args]
        for each in rest:
            first = create(name, [first, each], [first.type], before=before).results[0]
        return first
    predicate = _PREDICATES.get(type(relation))
    if predicate is None:
        raise UnsupportedOpError(
            "a check of sizes has a form that is not known",
            expected="comparisons of sizes",
            got=spelled(relation),
        )
    first, second = [of(each) for each in relation.args]
    return compared(predicate, first, second, before)


def _one_of(cases: sympy.Piecewise, of: Of, before: ir.Operation) -> ir.Value:
    """The first value whose condition holds; that of the last case is taken to hold."""
    *earlier, (found, _) = cast(Any, cases).args
    made = of(found)
    for value, condition in reversed(earlier):
        made = _made("arith.select", [relation_value(condition, of, before), of(value), made], before)
    return made


def _remainder(
    dividend: Any, divisor: Any, of: Of, before: ir.Operation, may_be_negative: Callable[[Any], bool]
) -> ir.Value:
    """What a quotient that is rounded down leaves: it has the sign of the divisor."""
    if is_not_negative(dividend, may_be_negative) and is_not_negative(divisor, may_be_negative):
        return _folded("arith.remsi", [dividend, divisor], of, before)
    whole = _made("arith.muli", [of(sympy.floor(dividend / divisor)), of(divisor)], before)
    return _made("arith.subi", [of(dividend), whole], before)


def _folded(op: str, terms: Iterable[Any], of: Of, before: ir.Operation) -> ir.Value:
    first, *rest = [of(term) for term in terms]
    for value in rest:
        first = _made(op, [first, value], before)
    return first


def _made(op: str, operands: Sequence[ir.Value], before: ir.Operation) -> ir.Value:
    return create(op, operands, [ir.IndexType.get()], before=before).results[0]
