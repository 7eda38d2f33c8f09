"""Sizes that are expressions of SymPy's: their normal form, other symbols put into them, and computing them exactly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import sympy

from hotdesk.sizes.size import Size, symbols_of

_algebra: Any = sympy  # SymPy's functions are not annotated


def integer(expression: Any) -> Size:
    """An expression as it is, or an int where it is a number."""
    return int(expression) if getattr(expression, "is_Integer", True) else expression


def product(sizes: Sequence[Size]) -> Size:
    """The product of sizes; 1 for none."""
    total: Size = 1
    for size in sizes:
        total = total * size
    return expand(total)


def expand(size: Any) -> Size:
    """A sum of products, or an int where nothing symbolic is left; equal polynomials are equal after it."""
    return integer(_algebra.expand(size)) if isinstance(size, sympy.Basic) else int(size)


def is_sum_of_products(size: Size) -> bool:
    """Whether a size is a polynomial with whole coefficients in its symbols."""
    expression: Any = _algebra.sympify(size)
    symbols = expression.free_symbols
    return expression.is_polynomial(*symbols) and all(n.is_Integer for n in expression.atoms(sympy.Number))


def replaced(size: Any, values: Mapping[Any, Size]) -> Any:
    """A size or a relation with some of its symbols replaced."""
    if not isinstance(size, sympy.Basic) or not any(symbol in values for symbol in cast(Any, size).free_symbols):
        return size
    return integer(cast(Any, size).xreplace(dict(values)))


class Quotient(sympy.Function):  # pyright: ignore[reportUntypedBaseClass]
    """`floor(p / q)` of integers."""

    def _pythoncode(self, printer: Any) -> str:
        dividend, divisor = (printer._print(argument) for argument in cast(Any, self).args)
        return f"(({dividend}) // ({divisor}))"


class Evaluator:
    """Evaluates many sizes at once. `names` are the symbols in them.

    SymPy would have Python divide floats, whose error is enough to round a size to the wrong integer: 49 * (1 / 49) < 1. Here
    integers are divided, so sizes are exact, however large.
    """

    def __init__(self, sizes: Sequence[Size]) -> None:
        self.names = sorted({name for size in sizes for name in symbols_of(size)})
        whole = [integer(size) for size in sizes]
        self._known = [size if isinstance(size, int) else 0 for size in whole]
        open_sizes = [(place, size) for place, size in enumerate(whole) if not isinstance(size, int)]
        self._places = [place for place, _ in open_sizes]
        self._function: Callable[..., list[int]] | None = None
        if open_sizes:
            symbols = [sympy.Symbol(name) for name in self.names]
            expressions = [divided(size) for _, size in open_sizes]
            self._function = _algebra.lambdify(symbols, expressions, modules="math", cse=True)

    def at(self, symbols: Mapping[str, int]) -> list[int]:
        found = self._known.copy()
        if self._function is not None:
            values = self._function(*(symbols[name] for name in self.names))
            for place, value in zip(self._places, values, strict=True):
                found[place] = int(value)
        return found


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
