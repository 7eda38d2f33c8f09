"""Affine maps of sizes: what MLIR's own folds write index arithmetic as."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy

from hotdesk._bindings import ir
from hotdesk.ir.sizes import Size

_algebra: Any = sympy  # SymPy's functions are not annotated


def evaluated(affine_map: ir.AffineMap, operands: Sequence[Size]) -> list[Any]:
    """The results of a map, as SymPy expressions, for what its dims and then its symbols are."""
    given = [_algebra.sympify(operand) for operand in operands]
    count = affine_map.n_dims
    return [_evaluate(result, given[:count], given[count:]) for result in affine_map.results]


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
    return _algebra.floor(quotient) if isinstance(expression, ir.AffineFloorDivExpr) else _algebra.ceiling(quotient)
