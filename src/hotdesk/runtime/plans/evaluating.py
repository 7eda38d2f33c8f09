"""Sizes of a program computed for values of its symbols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sympy

from hotdesk.ir.sizes import Size, integer_function


class Evaluator:
    """Evaluates many size expressions at once. `names` are the symbols in them."""

    def __init__(self, expressions: Sequence[Size]) -> None:
        self.names = sorted({str(s) for e in expressions if isinstance(e, sympy.Expr) for s in e.free_symbols})
        self._function = integer_function(self.names, expressions)

    def at(self, symbols: Mapping[str, int]) -> list[int]:
        return [int(value) for value in self._function(*(symbols[name] for name in self.names))]
