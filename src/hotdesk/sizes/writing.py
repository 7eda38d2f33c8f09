"""Sizes as users read them, and as attributes state them: `400*batch`, `4*max(0, dim 0 of %x)`, `(n + 1)//2`.

`sizes.reading` reads them back. A symbol that stands for a size which nobody named has, in braces behind its name, what it is
the size of.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

import sympy
from sympy.printing.str import StrPrinter

from hotdesk.sizes.expressions import replaced
from hotdesk.sizes.size import OPAQUE, Size

_algebra: Any = sympy  # SymPy's functions are not annotated
_StrPrinter: Any = StrPrinter
_UNNAMED = re.compile(rf"({OPAQUE}\w*)\{{([^{{}}]*)\}}")


def unnamed(number: int, what: str) -> sympy.Symbol:
    """A new symbol for a size that nobody named; `what` says what it is the size of, and is empty if that is not known."""
    words = what.translate({ord("{"): "(", ord("}"): ")"})
    return sympy.Symbol(f"{OPAQUE}{number}{{{words}}}" if what else f"{OPAQUE}{number}")


def written(size: Size) -> str:
    """A size as users wrote it, with words for what nobody named."""
    return str(size) if isinstance(size, int) else str(cast(Any, _Printer()).doprint(size))


def renamed(size: Size, rename: Callable[[str], str]) -> Size:
    """A size with other words for what nobody named."""
    symbols = () if isinstance(size, int) else cast("set[sympy.Symbol]", cast(Any, size).free_symbols)
    return replaced(
        size,
        {each: sympy.Symbol(_UNNAMED.sub(lambda m: f"{m[1]}{{{rename(m[2])}}}", each.name)) for each in symbols},
    )


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
        quotient = self._quotient(expression, "//")
        if quotient is None:
            return self._called("floor", expression.args)
        return f"({quotient})" if self._level else quotient

    def _print_ceiling(self, expression: Any) -> str:
        quotient = self._quotient(expression, "/")
        return self._called("ceil", expression.args) if quotient is None else f"ceil({quotient})"

    def _quotient(self, rounded: Any, sign: str) -> str | None:
        """What is rounded as one number over another, if that is the same."""
        dividend, divisor = _algebra.fraction(_algebra.together(rounded.args[0]))
        if divisor == 1 or rounded.func(dividend / divisor) != rounded:
            return None
        return f"{self._operand(dividend)}{sign}{self._operand(divisor)}"

    def _print_Mod(self, expression: Any) -> str:
        return " mod ".join(self._operand(argument) for argument in expression.args)

    def _print_Abs(self, expression: Any) -> str:
        return self._called("abs", expression.args)

    def _print_Piecewise(self, expression: Any) -> str:
        *chosen, (last, _) = expression.args
        text = "".join(f"{self._print(value)} if {self._alone(condition)} else " for value, condition in chosen)
        return f"({text}{self._print(last)})"

    def _print_ITE(self, expression: Any) -> str:
        condition, holds, fails = expression.args
        return f"({self._operand(holds)} if {self._operand(condition)} else {self._operand(fails)})"

    def _print_And(self, expression: Any) -> str:
        return " and ".join(self._operand(argument) for argument in _algebra.ordered(expression.args))

    def _print_Or(self, expression: Any) -> str:
        return " or ".join(self._operand(argument) for argument in _algebra.ordered(expression.args))

    def _print_Not(self, expression: Any) -> str:
        return f"not {self._operand(expression.args[0])}"

    def _print_Relational(self, expression: Any) -> str:
        left, right = (self._operand(argument) for argument in expression.args)
        return f"{left} {expression.rel_op} {right}"

    def _called(self, name: str, arguments: Any) -> str:
        return f"{name}({', '.join(self._alone(argument) for argument in arguments)})"

    def _operand(self, argument: Any) -> str:
        return self._print(argument) if argument.is_Atom else f"({self._alone(argument)})"

    def _alone(self, expression: Any) -> str:
        """What needs no brackets of its own: commas or brackets are around it."""
        before, self._print_level = self._print_level, 0
        try:
            return self._print(expression)
        finally:
            self._print_level = before

    @property
    def _level(self) -> bool:
        """Whether what is printed is a part of something."""
        return self._print_level > 1
