"""How many bytes are held at each op, and whether holding others instead takes more.

Sizes are polynomials in symbols that are not negative: a profile has an array over op numbers for each of their monomials. One
profile takes no more than another if its peak is not above the other's, whatever the symbols are:

1. With one monomial, the largest coefficients are compared.
2. With several, at each op that changes every coefficient must be at most the one that a certain op had before: where the sum of
   all of them was largest for some values of the symbols. Then that op already had a peak as large.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from hotdesk.ir.symbolic import Size, expand

_algebra: Any = sympy  # SymPy's functions are not annotated
_MOST_MONOMIALS = 16


@dataclass(frozen=True, slots=True)
class Change:
    """`size` more bytes, or less if `sign` is -1, at the ops from `lower` to `upper`, half open."""

    lower: int
    upper: int
    size: Size
    sign: int = 1


class Profile:
    """The bytes that are held while each op of a function runs. `ops` is their number."""

    def __init__(self, ops: int, held: Sequence[Change]) -> None:
        self._ops = ops
        self._held: dict[Any, Any] = {}
        for change in held:
            self._apply(change, 1)
        top = self._highest()
        self._allowed = {monomial: int(array[top]) for monomial, array in self._held.items()}

    def accept(self, changes: Sequence[Change]) -> bool:
        """Makes changes, unless the peak may rise above the first one by them; whether they were made."""
        changes = [change for change in changes if change.lower < change.upper]
        if not changes:
            return True
        if len(self._held) > _MOST_MONOMIALS:
            return False
        for change in changes:
            self._apply(change, 1)
        spans = [(change.lower, change.upper) for change in changes if change.sign > 0]
        rises = any(
            int(array[lower:upper].max()) > self._allowed.get(monomial, 0)
            for monomial, array in self._held.items()
            for lower, upper in spans
        )
        if rises:
            for change in changes:
                self._apply(change, -1)
        return not rises

    def _apply(self, change: Change, times: int) -> None:
        for monomial, number in _terms(change.size):
            array = self._held.setdefault(monomial, np.zeros(self._ops, np.int64))
            array[change.lower : change.upper] += number * change.sign * times

    def _highest(self) -> int:
        """The op with the peak, if each symbol is a thousand or so."""
        if not self._held:
            return 0
        total = np.zeros(self._ops)
        for monomial, array in self._held.items():
            symbols: list[Any] = sorted(_algebra.sympify(monomial).free_symbols, key=str)
            total += array * float(_algebra.sympify(monomial).subs({s: 1009 + 2 * i for i, s in enumerate(symbols)}))
        return int(np.argmax(total))


def _terms(size: Size) -> list[tuple[Any, int]]:
    """A polynomial as monomials with their coefficients; anything else is a monomial of its own."""
    if isinstance(size, int):
        return [(1, size)] if size else []
    terms = [term.as_coeff_Mul() for term in _algebra.Add.make_args(_algebra.expand(size))]
    if all(number.is_Integer and int(number) >= 0 for number, _ in terms):
        return [(monomial, int(number)) for number, monomial in terms]
    return [(size, 1)]


def is_at_least(a: Size, b: Size) -> bool:
    """Whether one size is at least another one whatever the sizes in them are, all of which are 0 or more."""
    rest = expand(_algebra.sympify(a) - _algebra.sympify(b))
    if isinstance(rest, int):
        return rest >= 0
    terms: list[tuple[Any, Any]] = [term.as_coeff_Mul() for term in _algebra.Add.make_args(rest)]
    return all(bool(number >= 0) and _is_product(other) for number, other in terms)


def _is_product(term: Any) -> bool:
    """Whether a term is a product of symbols."""
    powers: list[tuple[Any, Any]] = [factor.as_base_exp() for factor in _algebra.Mul.make_args(term) if factor != 1]
    return all(isinstance(base, sympy.Symbol) and exponent.is_Integer and exponent > 0 for base, exponent in powers)
