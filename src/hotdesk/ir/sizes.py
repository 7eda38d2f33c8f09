"""Sizes as integers or SymPy expressions: their normal form, and computing them exactly.

A symbol stands for a size that the caller chooses; one named `opaque…` for a size that is not known before the program runs
(`ir.written_sizes` makes them and says what they are). `ir.parsed_sizes` reads sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

import sympy

Size: TypeAlias = "int | sympy.Expr"

OPAQUE = "opaque"
_algebra: Any = sympy  # SymPy's functions are not annotated


def integer(expression: Any) -> Size:
    """An expression as it is, or an int where it is a number."""
    return int(expression) if getattr(expression, "is_Integer", True) else expression


def product(sizes: tuple[Size, ...] | list[Size]) -> Size:
    """The product of sizes; 1 for none."""
    total: Size = 1
    for size in sizes:
        total = total * size
    return expand(total)


def expand(size: Any) -> Size:
    """A sum of products, or an int where nothing symbolic is left; equal polynomials are equal after it."""
    return integer(_algebra.expand(size)) if isinstance(size, sympy.Basic) else int(size)


def is_opaque(size: Size) -> bool:
    """Whether a size depends on something that is not known before the program runs."""
    return isinstance(size, sympy.Expr) and any(str(s).startswith(OPAQUE) for s in size.free_symbols)


class Quotient(sympy.Function):  # pyright: ignore[reportUntypedBaseClass]
    """`floor(p / q)` of integers."""

    def _pythoncode(self, printer: Any) -> str:
        dividend, divisor = (printer._print(argument) for argument in cast(Any, self).args)
        return f"(({dividend}) // ({divisor}))"


def integer_function(names: Sequence[str], sizes: Sequence[Size]) -> Callable[..., list[int]]:
    """A Python function of the symbols `names` that gives the value of every size.

    SymPy would have Python divide floats, whose error is enough to round a size to the wrong integer: 49 * (1 / 49) < 1. Here
    integers are divided, so sizes are exact, however large.
    """
    symbols = [sympy.Symbol(name) for name in names]
    return _algebra.lambdify(symbols, [divided(size) for size in sizes], modules="math", cse=True)


def divided(size: Any) -> Any:
    """An expression of integer value, with every division a `Quotient`."""
    return _rounded(with_quotients(size))


def with_quotients(expression: Any) -> Any:
    """An expression or a relation, with every division that is rounded a `Quotient`."""
    rounds: Callable[[Any], bool] = lambda each: _rounding(each) is not None  # noqa: E731
    return _algebra.sympify(expression).replace(rounds, _rounding)


def _rounding(expression: Any) -> Any:
    """What replaces a function that rounds or its like, PyTorch's own included; None for other expressions."""
    arguments = expression.args
    if any(argument.has(sympy.Float) for argument in arguments):  # rounded as a float is
        return None
    match type(expression).__name__:
        case "floor":
            return _rounded(arguments[0])
        case "ceiling":
            return -_rounded(-arguments[0])
        case "FloorDiv":
            return _rounded(arguments[0] / arguments[1])
        case "CeilDiv":
            return -_rounded(-arguments[0] / arguments[1])
        case "PythonMod":
            return sympy.Mod(*arguments)
        case _:
            return None


def _rounded(expression: Any) -> Any:
    dividend, divisor = _algebra.fraction(_algebra.together(expression))
    return dividend if divisor == 1 else Quotient(dividend, divisor)
