"""Sizes as users read them: `400*batch`, `4*max(0, dim 0 of %x)`; and as attributes state them, which read them back.

A symbol that stands for a size which nobody named has, in braces behind its name, what it is the size of.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

import sympy
from sympy.printing.str import StrPrinter

from hotdesk.ir.sizes import OPAQUE, Size

_algebra: Any = sympy  # SymPy's functions are not annotated
_StrPrinter: Any = StrPrinter
_UNNAMED = re.compile(rf"({OPAQUE}\w*)\{{([^{{}}]*)\}}")


def unnamed(number: int, what: str) -> sympy.Symbol:
    """A new symbol for a size that nobody named; `what` says what it is the size of, and is empty if that is not known."""
    words = what.translate({ord("{"): "(", ord("}"): ")"})
    return sympy.Symbol(f"{OPAQUE}{number}{{{words}}}" if what else f"{OPAQUE}{number}")


def stated(size: Size) -> str:
    """A size as an attribute has it: `ir.sizes.parsed` reads it."""
    return _UNNAMED.sub(r"\1", str(size))


def written(size: Size) -> str:
    """A size as users wrote it, with words for what nobody named."""
    return str(size) if isinstance(size, int) else str(cast(Any, _Printer()).doprint(size))


def renamed(size: Size, rename: Callable[[str], str]) -> Size:
    """A size with other words for what nobody named."""
    if isinstance(size, int):
        return size
    symbols: Any = size.free_symbols
    new = {
        symbol: _algebra.Symbol(_UNNAMED.sub(lambda m: f"{m[1]}{{{rename(m[2])}}}", symbol.name)) for symbol in symbols
    }
    return _algebra.sympify(size).xreplace(new)


class _Printer(_StrPrinter):  # pyright: ignore[reportUntypedBaseClass]
    """SymPy's text with the words of people: no class of SymPy's is named."""

    _print_level: int  # how deep in the expression: SymPy counts

    def _print_Symbol(self, symbol: Any) -> str:
        found = _UNNAMED.fullmatch(symbol.name)
        words = found[2] if found is not None else "a size" if symbol.name.startswith(OPAQUE) else symbol.name
        return f"({words})" if " " in words and self._level else words

    def _print_Max(self, expression: Any) -> str:
        return self._called("max", expression.args)

    def _print_Min(self, expression: Any) -> str:
        return self._called("min", expression.args)

    def _print_floor(self, expression: Any) -> str:
        return self._called("floor", expression.args)

    def _print_ceiling(self, expression: Any) -> str:
        return self._called("ceil", expression.args)

    def _print_Mod(self, expression: Any) -> str:
        return " mod ".join(self._operand(argument) for argument in expression.args)

    def _print_Piecewise(self, expression: Any) -> str:
        *chosen, (last, _) = expression.args
        text = "".join(f"{self._print(value)} if {self._print(condition)} else " for value, condition in chosen)
        return f"({text}{self._print(last)})"

    def _print_Relational(self, expression: Any) -> str:
        left, right = (self._operand(argument) for argument in expression.args)
        return f"{left} {expression.rel_op} {right}"

    def _called(self, name: str, arguments: Any) -> str:
        before, self._print_level = self._print_level, 0  # commas separate what is in the brackets
        try:
            return f"{name}({', '.join(self._inner(argument) for argument in arguments)})"
        finally:
            self._print_level = before

    def _inner(self, argument: Any) -> str:
        return written(argument) if argument.is_Symbol else self._print(argument)

    def _operand(self, argument: Any) -> str:
        text = self._print(argument)
        return text if argument.is_Atom else f"({text})"

    @property
    def _level(self) -> bool:
        """Whether what is printed is a part of something."""
        return self._print_level > 1
