"""Index arithmetic on sizes: ops of `arith`, and the affine maps as which MLIR's own folds write it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import sympy

from hotdesk._bindings import ir
from hotdesk.sizes.expressions import expand, integer, is_sum_of_products
from hotdesk.sizes.proofs import is_not_negative
from hotdesk.sizes.size import Size, is_opaque

_algebra: Any = sympy  # SymPy's functions are not annotated

ADD, SUBTRACT, MULTIPLY = "arith.addi", "arith.subi", "arith.muli"
LEAST, GREATEST = "arith.minsi", "arith.maxsi"
"""Of two signed integers."""
ABSOLUTE = "math.absi"
COMPARE = "arith.cmpi"
INDEX_CAST = "arith.index_cast"
CASTS = frozenset({INDEX_CAST, "arith.index_castui", "arith.extsi", "arith.extui"})
"""Ops whose result is the same number, or the same bits, as an integer of another type."""
AFFINE = ("affine.apply", "affine.min", "affine.max")
"""Ops that compute a number by an affine map: its one result, or the least or greatest of several."""
UNSIGNED = frozenset(f"arith.{name}" for name in ("divui", "ceildivui", "remui", "maxui", "minui"))


def arithmetic(name: str, a: Size, b: Size, may_be_negative: Callable[[Any], bool] = is_opaque) -> Size | None:
    """What an op of `arith` makes of two numbers; None if that is not known.

    `may_be_negative` says of a symbol whether it may stand for a number below 0. An op on numbers without a sign takes such a
    one for a number that is larger than any size.
    """
    x, y = sympy.sympify(a), sympy.sympify(b)
    if name in UNSIGNED and not (is_not_negative(x, may_be_negative) and is_not_negative(y, may_be_negative)):
        return None
    match name:
        case "arith.addi":
            return integer(x + y)
        case "arith.subi":
            return integer(x - y)
        case "arith.muli":
            return expand(x * y)
        case "arith.floordivsi" | "arith.divui":
            return integer(_rounded(sympy.floor, x / y)) if y != 0 else None
        case "arith.divsi":
            return integer(_toward_zero(x, y, may_be_negative)) if y != 0 else None
        case "arith.ceildivsi" | "arith.ceildivui":
            return integer(_rounded(sympy.ceiling, x / y)) if y != 0 else None
        case "arith.remui":
            return integer(sympy.Mod(x, y)) if y != 0 else None
        case "arith.remsi":
            return integer(_signed_remainder(x, y, may_be_negative)) if y != 0 else None
        case "arith.maxsi" | "arith.maxui":
            return integer(sympy.Max(x, y))
        case "arith.minsi" | "arith.minui":
            return integer(sympy.Min(x, y))
        case _:
            return None


def _toward_zero(x: Any, y: Any, may_be_negative: Callable[[Any], bool]) -> Any:
    """A quotient rounded toward zero: down, or up where it is negative."""
    down = _rounded(sympy.floor, x / y)
    if is_not_negative(x, may_be_negative) and is_not_negative(y, may_be_negative):
        return down
    return _algebra.Max(down, 0) + _algebra.Min(_rounded(sympy.ceiling, x / y), 0)


def _signed_remainder(x: Any, y: Any, may_be_negative: Callable[[Any], bool]) -> Any:
    """What a quotient rounded toward zero leaves: it has the sign of the dividend."""
    if is_not_negative(x, may_be_negative) and is_not_negative(y, may_be_negative):
        return sympy.Mod(x, y)
    return x - y * _toward_zero(x, y, may_be_negative)


def _rounded(to: Any, quotient: Any) -> Any:
    """A quotient of integers rounded, or as it is where it is a sum of products of integers."""
    simple = _algebra.expand(quotient)
    if not is_sum_of_products(simple) and _algebra.denom(quotient).free_symbols:
        simple = _algebra.cancel(quotient)  # such as (2 n + 2) / (n + 1)
    return simple if is_sum_of_products(simple) else to(quotient)


def applied(op: ir.Operation, operands: Sequence[Size]) -> Size:
    """The one result of `affine.apply`, or the least or greatest of several, of `affine.min` and `affine.max`."""
    affine_map = cast(Any, op.attributes["map"]).value
    given = [_algebra.sympify(operand) for operand in operands]
    count = affine_map.n_dims
    results = [_evaluate(result, given[:count], given[count:]) for result in affine_map.results]
    if op.name == "affine.apply":
        return expand(results[0])
    return integer((_algebra.Min if op.name == "affine.min" else _algebra.Max)(*results))


def _evaluate(expression: Any, dims: list[Any], symbols: list[Any]) -> Any:
    if isinstance(expression, ir.AffineDimExpr):
        return dims[expression.position]
    if isinstance(expression, ir.AffineSymbolExpr):
        return symbols[expression.position]
    if isinstance(expression, ir.AffineConstantExpr):
        return _algebra.Integer(expression.value)
    left, right = (_evaluate(part, dims, symbols) for part in (expression.lhs, expression.rhs))
    if isinstance(expression, ir.AffineAddExpr):
        return left + right
    if isinstance(expression, ir.AffineMulExpr):
        return left * right
    if isinstance(expression, ir.AffineModExpr):
        return _algebra.Mod(left, right)
    quotient = left / right
    return _rounded(_algebra.floor if isinstance(expression, ir.AffineFloorDivExpr) else _algebra.ceiling, quotient)
