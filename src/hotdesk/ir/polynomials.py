"""Sizes as polynomials of `hotdesk.planning`: what is not one, such as `floor(n/2)`, becomes a symbol with a range of its own.

The range follows from those of the symbols inside. That two such symbols depend on each other is lost, which may leave a
comparison open and never makes a wrong one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import lcm
from typing import Any

import sympy

from hotdesk.ir.sizes import Size, is_opaque
from hotdesk.planning.sizes.polynomials import Monomial, Polynomial, Range, greatest, least, never_falls

_algebra: Any = sympy  # SymPy's functions are not annotated
_ANY: Range = (None, None)


class Polynomials:
    """Reads sizes as polynomials.

    Args:
        bounds: the least and greatest value of each symbol. Others are sizes, which are 0 or more.

    Attributes:
        ranges: of all symbols of the polynomials that were read.
    """

    def __init__(self, bounds: Mapping[str, tuple[int, int | None]]) -> None:
        self.ranges: dict[str, Range] = dict(bounds)
        self._falls: set[str] = set()  # symbols that stand for what may be less where a symbol inside is greater
        self._read: dict[Any, Polynomial] = {}

    def of(self, size: Size) -> Polynomial:
        """A size as a polynomial. Each is read once."""
        if isinstance(size, int):
            return Polynomial.number(size)
        if size not in self._read:
            self._read[size] = self._of(size)
        return self._read[size]

    def _of(self, size: Any) -> Polynomial:
        found, whole = self._fraction(size)
        if whole == 1:
            return found
        return Polynomial.symbol(self._name(size, (0, None), falls=not self.never_falls(found)))

    def never_falls(self, polynomial: Polynomial) -> bool:
        """Whether a polynomial is never less where a symbol of the sizes is greater, as far as this can be proven."""
        inside = set(polynomial.symbols)
        return not inside & self._falls and never_falls(polynomial, self.ranges)

    def _fraction(self, expression: Any) -> tuple[Polynomial, int]:
        """A polynomial and a number above 0 that it is divided by."""
        expanded = _algebra.expand(_algebra.sympify(expression))
        parts: list[tuple[Monomial, Any]] = []
        for term in _algebra.Add.make_args(expanded):
            number, rest = term.as_coeff_Mul()
            if not number.is_Rational:
                return Polynomial.symbol(self._name(expression, _ANY, falls=True)), 1
            parts.append((self._monomial(rest), number))
        common = lcm(*(int(number.q) for _, number in parts))
        return Polynomial.of((monomial, int(number * common)) for monomial, number in parts), common

    def _monomial(self, term: Any) -> Monomial:
        powers: dict[str, int] = {}
        for factor in _algebra.Mul.make_args(term):
            if factor == 1:
                continue
            base, exponent = factor.as_base_exp()
            whole = exponent.is_Integer and exponent > 0
            name = self._atom(base if whole else factor)
            powers[name] = powers.get(name, 0) + (int(exponent) if whole else 1)
        return tuple(sorted(powers.items()))

    def _atom(self, factor: Any) -> str:
        if factor.is_Symbol:
            self.ranges.setdefault(str(factor), _ANY if is_opaque(factor) else (0, None))
            return str(factor)
        match type(factor).__name__:
            case "floor" | "ceiling":
                found, divisor = self._fraction(factor.args[0])
                up = type(factor).__name__ == "ceiling"
                limits = _divided(self._limits(found), divisor, up, up)
                return self._name(factor, limits, falls=not self.never_falls(found))
            case "Min" | "Max":
                found = [self._fraction(argument) for argument in factor.args]
                limits = [_divided(self._limits(each), divisor, False, True) for each, divisor in found]
                falls = not all(self.never_falls(each) for each, _ in found)
                if type(factor).__name__ == "Min":
                    return self._name(factor, _least_of(limits), falls=falls)
                return self._name(factor, _negated(_least_of([_negated(each) for each in limits])), falls=falls)
            case "Mod" if factor.args[1].is_Integer and factor.args[1] > 0:
                return self._name(factor, (0, int(factor.args[1]) - 1), falls=True)
            case _:
                return self._name(factor, _ANY, falls=True)

    def _limits(self, polynomial: Polynomial) -> Range:
        return least(polynomial, self.ranges), greatest(polynomial, self.ranges)

    def _name(self, expression: Any, limits: Range, *, falls: bool) -> str:
        name = f"({expression})"
        self.ranges.setdefault(name, limits)
        if falls:
            self._falls.add(name)
        return name


def _divided(limits: Range, divisor: int, low_up: bool, high_up: bool) -> Range:
    """Integers around a quotient whose dividend is in range: each end rounded up or down."""
    low, high = limits
    return (
        None if low is None else -(-low // divisor) if low_up else low // divisor,
        None if high is None else -(-high // divisor) if high_up else high // divisor,
    )


def _least_of(limits: Sequence[Range]) -> Range:
    """The range of the least of several values: one that has a greatest value is enough for the upper end."""
    lows, highs = [low for low, _ in limits], [high for _, high in limits if high is not None]
    return None if None in lows else min(low for low in lows if low is not None), min(highs, default=None)


def _negated(limits: Range) -> Range:
    low, high = limits
    return None if high is None else -high, None if low is None else -low
