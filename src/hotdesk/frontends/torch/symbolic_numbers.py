"""PyTorch's symbolic numbers as SymPy expressions: in SymPy's own functions, and with divisions as the graph makes them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import sympy
import torch
from torch._ops import OpOverload

_algebra: Any = sympy  # SymPy's functions are not annotated
_operator: Any = operator  # annotated in part only

NUMBERS = (torch.SymInt, torch.SymFloat, torch.SymBool)
"""The types of numbers that vary."""


def plain(expression: Any) -> Any:
    """The same expression in SymPy's own functions, over symbols without assumptions: equal names are equal symbols."""
    if expression.is_Symbol:
        return sympy.Symbol(str(expression))
    if expression.is_Float:
        return _fraction(float(expression))
    if not expression.args:
        return expression
    name, arguments = type(expression).__name__, [plain(argument) for argument in expression.args]
    return _PLAIN[name](*arguments) if name in _PLAIN else expression.func(*arguments)


def expression_at(node: Any) -> Any:
    """The expression of a number, or of that of a node, in PyTorch's functions, with divisions as the graph makes them.

    PyTorch writes `a // (b * c)` for `(a // b) // c`, which is another number where `c` is below 0.
    """
    if not isinstance(node, torch.fx.Node):
        return _written(node)
    exact: dict[Any, Any] = {}
    divided: dict[Any, Any] = {}
    for each in _computing(node):
        given = [exact.get(a) if isinstance(a, torch.fx.Node) else a for a in each.args]
        exact[each] = _exact(each, given, divided)
    return exact[node]


def _exact(node: torch.fx.Node, given: Sequence[Any], divided: dict[Any, Any]) -> Any:
    """The expression of a node that is given numbers. `divided` says by what PyTorch wrote what divisions of quotients are."""
    written = _written(node.meta["val"])
    if node.target is _operator.floordiv and _is_folded(*map(_written_at, node.args)):
        divided[written] = sympy.floor(given[0] / given[1])
    if not divided:
        return written
    combine = _WHOLE.get(node.target)
    return combine(*given) if combine and written.is_integer else written.xreplace(divided)


def _is_folded(dividend: Any, divisor: Any) -> bool:
    return type(dividend).__name__ == "FloorDiv" and not divisor.is_nonnegative


def _written(number: Any) -> Any:
    """A number as PyTorch writes it."""
    return _algebra.sympify(cast(Any, number).node.expr if isinstance(number, NUMBERS) else number)


def _written_at(argument: Any) -> Any:
    return _written(argument.meta["val"] if isinstance(argument, torch.fx.Node) else argument)


def _computing(node: torch.fx.Node) -> Sequence[torch.fx.Node]:
    """The nodes of the numbers that one is computed from, and itself, each behind those that it reads."""
    found: dict[torch.fx.Node, None] = {}
    open_nodes = [node]
    while open_nodes:
        last = open_nodes[-1]
        given = [] if isinstance(last.target, OpOverload) else last.all_input_nodes
        waited_for = [each for each in given if each not in found and isinstance(each.meta.get("val"), NUMBERS)]
        open_nodes += waited_for
        if not waited_for:
            found[open_nodes.pop()] = None
    return tuple(found)


def _fraction(number: float) -> Any:
    """A float as a fraction if products of sizes by it are exact, else as it is."""
    above, below = number.as_integer_ratio()
    return sympy.Rational(above, below) if below <= _LEAST_PART and abs(above) <= _LEAST_PART else sympy.Float(number)


_LEAST_PART = 1 << 20  # times a size of 32 bits, that is a float of 64


def _quotient(a: Any, b: Any) -> Any:
    return a / b


def _floored(a: Any, b: Any) -> Any:
    return sympy.floor(a / b)


_WHOLE: Mapping[Any, Callable[..., Any]] = {
    _operator.add: _operator.add,
    _operator.sub: _operator.sub,
    _operator.mul: _operator.mul,
    _operator.neg: _operator.neg,
    _operator.floordiv: _floored,
}
"""Functions of nodes that give integers for integers."""


def _indexed(a: Any, b: Any, c: Any) -> Any:
    return sympy.Mod(sympy.floor(a / b), c)


def _as_is(a: Any) -> Any:
    return a


_PLAIN: Mapping[str, Callable[..., Any]] = {  # PyTorch's functions on sizes, which are not negative
    **dict.fromkeys(("FloorDiv", "CleanDiv"), _floored),
    **dict.fromkeys(("IntTrueDiv", "FloatTrueDiv"), _quotient),
    **dict.fromkeys(("FloorToInt", "TruncToInt", "TruncToFloat"), sympy.floor),
    **dict.fromkeys(("Mod", "PythonMod"), sympy.Mod),
    "CeilToInt": sympy.ceiling,
    "Max": sympy.Max,
    "Min": sympy.Min,
    "ModularIndexing": _indexed,
    "PowByNatural": sympy.Pow,
    "ToFloat": _as_is,
}
