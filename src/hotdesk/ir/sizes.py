"""Sizes as integers or SymPy expressions: their normal form, reading them from text, and computing them exactly.

A symbol stands for a size that the caller chooses; one named `opaque…` for a size that is not known before the program runs
(`ir.written_sizes` makes them and says what they are).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias, cast

import sympy

Size: TypeAlias = "int | sympy.Expr"

OPAQUE = "opaque"
_algebra: Any = sympy  # SymPy's functions are not annotated
_DERIVED = re.compile(r"(?:\bdim \d+ of )%\w+|(?<![\w)%])(?<![\w)] )%[A-Za-z_]\w*")
"""A dim of an argument, or an argument that is a size, by its name in MLIR text."""
_NAME = re.compile(r"\b(?!True\b|False\b)[A-Za-z_]\w*\b(?!\s*\()")
_CALLED = re.compile(r"(\w+)\s*\(")
_EXPRESSION = re.compile(r"[\w\s+\-*/%(),<>=!&|~]+")


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


@lru_cache(maxsize=4096)
def parsed(text: str) -> Size:
    """A size as it was printed. Every name that is not called is a symbol, whatever else SymPy knows by that name; so are
    `dim 0 of %x` and `%n`.

    Raises:
        ValueError: the text is no expression of numbers, names and functions of SymPy's, or one that is no size.
    """
    if not _EXPRESSION.fullmatch(text) or not all(map(_is_function, _CALLED.findall(text))):
        raise ValueError(f"no expression: {text!r}")
    derived = {name: f"derived_{i}_" for i, name in enumerate(dict.fromkeys(_DERIVED.findall(text)))}
    plain = _DERIVED.sub(lambda name: derived[name[0]], text)
    symbols = {name: sympy.Symbol(name) for name in dict.fromkeys(_NAME.findall(plain))}
    symbols.update({stand_in: sympy.Symbol(name) for name, stand_in in derived.items()})
    try:
        found = _algebra.sympify(plain, locals=symbols)
    except (sympy.SympifyError, TypeError, AttributeError) as error:
        raise ValueError(f"no expression: {text!r}") from error
    if not isinstance(found, sympy.Expr) or found.is_integer is False or found.is_negative:
        raise ValueError(f"no size: {text!r}")
    return integer(found)


def _is_function(name: str) -> bool:
    found = getattr(sympy, name, None)
    return isinstance(found, type) and issubclass(found, (_algebra.Function, _algebra.Max, _algebra.Min, _algebra.Rel))


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
