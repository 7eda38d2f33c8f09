"""What is proven of symbolic sizes: that one is never less than another one, what one never exceeds, and what never falls.

Sizes are read as polynomials, and `sizes.polynomials` proves. What is not one, such as `n//2`, becomes a symbol
with a range of its own, which follows from those of the symbols inside. That two such symbols depend on each other is lost, which
may leave a comparison open and never makes a wrong one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import lcm
from typing import Any, cast

import sympy

from hotdesk.sizes.expressions import integer
from hotdesk.sizes.polynomials import (
    Monomial,
    Polynomial,
    Range,
    from_least,
    greatest,
    is_never_less,
    least,
    never_falls,
)
from hotdesk.sizes.size import Bounds, Size, is_opaque

_algebra: Any = sympy  # SymPy's functions are not annotated
_ANY: Range = (None, None)

_NO_BOUNDS: Bounds = {}


class SizeProver:
    """Proves relations of sizes that hold for all values of their symbols.

    Args:
        bounds: the least and greatest value of symbols, by name.
        may_be_negative: whether one of the other symbols may be; the rest are 0 or more.

    Attributes:
        ranges: of all symbols of the polynomials that were read.
    """

    def __init__(self, bounds: Bounds = _NO_BOUNDS, may_be_negative: Callable[[Any], bool] = is_opaque) -> None:
        self.ranges: dict[str, Range] = dict(bounds)
        self._may_be_negative = may_be_negative
        self._falls: set[str] = set()  # symbols that stand for what may be less where a symbol inside is greater
        self._read: dict[Any, Polynomial] = {}

    def polynomial(self, size: Size) -> Polynomial:
        """A size as a polynomial. Each is read once."""
        if isinstance(size, int):
            return Polynomial.number(size)
        if size not in self._read:
            self._read[size] = self._polynomial(size)
        return self._read[size]

    def is_never_less(self, a: Size, b: Size) -> bool:
        """Whether `a` is at least `b`, as far as this can be proven."""
        if isinstance(a, int) and isinstance(b, int):
            return a >= b
        return is_never_less(self.polynomial(a), self.polynomial(b), self.ranges)

    def decided(self, relation: Any) -> bool | None:
        """Whether a relation of SymPy holds for all values, or for none; None when that depends, or is not proven."""
        if relation in (sympy.true, sympy.false):
            return bool(relation)
        if isinstance(relation, _algebra.And | _algebra.Or):
            parts = {self.decided(part) for part in relation.args}
            decisive = isinstance(relation, _algebra.Or)
            return decisive if decisive in parts else None if None in parts else not decisive
        if isinstance(relation, _algebra.Equality | _algebra.Unequality):
            a, b = map(integer, relation.args)
            is_equality = isinstance(relation, _algebra.Equality)
            if self.polynomial(a) == self.polynomial(b):
                return is_equality
            differ = self.is_never_less(a, b + 1) or self.is_never_less(b, a + 1)
            return not is_equality if differ else None
        low, high = integer(relation.lts), integer(relation.gts)
        strictly = int(isinstance(relation, _algebra.StrictLessThan | _algebra.StrictGreaterThan))
        if self.is_never_less(high, low + strictly):
            return True
        return False if self.is_never_less(low, high + 1 - strictly) else None

    def greatest(self, size: Size) -> int | None:
        """A number that a size never exceeds; None if none is known."""
        return size if isinstance(size, int) else greatest(self.polynomial(size), self.ranges)

    def never_falls(self, size: Size) -> bool:
        """Whether a size is never less where a symbol is greater, as far as this can be proven."""
        return self._never_falls(self.polynomial(size))

    def terms(self, size: Size) -> tuple[tuple[Monomial, int], ...]:
        """A size as a sum of products of what is 0 or more, which is how far each symbol is above its least value.

        Each product comes with its coefficient, which is above 0. What is no such sum is a product of its own.
        """
        polynomial = self.polynomial(size)
        if any(self.ranges[symbol][0] is None for symbol in polynomial.symbols):
            found = polynomial if len(polynomial.terms) == 1 else Polynomial.symbol(f"[{polynomial}]")
        else:
            found = from_least(polynomial, self.ranges)
        if all(number > 0 for _, number in found.terms):
            return found.terms
        return Polynomial.symbol(f"[{polynomial}]").terms

    def _polynomial(self, size: Any) -> Polynomial:
        found, divisor = self._fraction(size)
        if divisor == 1:
            return found
        limits = _divided(self._limits(found), divisor, True, False)
        return Polynomial.symbol(self._name(size, limits, falls=not self._never_falls(found)))

    def _never_falls(self, polynomial: Polynomial) -> bool:
        return self._falls.isdisjoint(polynomial.symbols) and never_falls(polynomial, self.ranges)

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
            self.ranges.setdefault(str(factor), _ANY if self._may_be_negative(factor) else (0, None))
            return str(factor)
        match type(factor).__name__:
            case "floor" | "ceiling":
                found, divisor = self._fraction(factor.args[0])
                up = type(factor).__name__ == "ceiling"
                limits = _divided(self._limits(found), divisor, up, up)
                return self._name(factor, limits, falls=not self._never_falls(found))
            case "Min" | "Max":
                found = [self._fraction(argument) for argument in factor.args]
                limits = [_divided(self._limits(each), divisor, False, True) for each, divisor in found]
                falls = not all(self._never_falls(each) for each, _ in found)
                if type(factor).__name__ == "Min":
                    return self._name(factor, _least_of(limits), falls=falls)
                return self._name(factor, _greatest_of(limits), falls=falls)
            case "Piecewise":
                limits = [self._limits(self.polynomial(integer(value))) for value, _ in factor.args]
                return self._name(factor, (_least_of(limits)[0], _greatest_of(limits)[1]), falls=True)
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


def is_not_negative(number: Any, may_be_negative: Callable[[Any], bool] = is_opaque) -> bool:
    """Whether it is known of a number that it is not below 0, as sizes are not."""
    return SizeProver(may_be_negative=may_be_negative).is_never_less(integer(number), 0)


def holds_for_all(relation: Any, bounds: Bounds = _NO_BOUNDS) -> bool:
    """Whether a relation of sizes holds for all of them, as far as this can be proven.

    Sizes that are divided by numbers are written as `parts*whole + rest` for each rest, so that quotients that are rounded become
    sums: `2*(n//2) <= n` is `2*k <= 2*k` for even ones and `2*k <= 2*k + 1` for odd ones.
    """
    if not isinstance(relation, _algebra.And | _algebra.Or | _algebra.Rel | _algebra.logic.boolalg.BooleanAtom):
        return False
    if SizeProver(bounds).decided(relation):
        return True
    symbols = sorted(cast(Any, sympy.sympify(relation)).free_symbols, key=str)
    parts = lcm(*(int(each) for each in _divisors(relation)))
    if parts ** len(symbols) > _MOST_CASES:
        return False
    return all(
        _holds_for_rests(relation, symbols, rests, parts, bounds)
        for rests in product(range(parts), repeat=len(symbols))
    )


_MOST_CASES = 64


def _holds_for_rests(relation: Any, symbols: Sequence[Any], rests: Sequence[int], parts: int, bounds: Bounds) -> bool:
    wholes: dict[str, tuple[int, int | None]] = {}
    values: dict[Any, Any] = {}
    for symbol, rest in zip(symbols, rests, strict=True):
        whole = sympy.Symbol(f"{symbol} // {parts}", integer=True)
        low, high = bounds.get(str(symbol), (0, None))
        wholes[whole.name] = -((rest - low) // parts), None if high is None else (high - rest) // parts
        values[symbol] = parts * cast(Any, whole) + rest
    try:
        return SizeProver(wholes).decided(relation.subs(values)) is True
    except ZeroDivisionError:  # it has no value for some sizes
        return False


def _divisors(relation: Any) -> list[Any]:
    """The numbers that something is divided by and rounded."""
    below = [
        _algebra.fraction(_algebra.together(each.args[0]))[1]
        for each in relation.atoms(_algebra.floor, _algebra.ceiling)
    ]
    return [each for each in (*below, *(each.args[1] for each in relation.atoms(_algebra.Mod))) if each.is_Integer]


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


def _greatest_of(limits: Sequence[Range]) -> Range:
    """The range of the greatest of several values."""
    return _negated(_least_of([_negated(each) for each in limits]))


def _negated(limits: Range) -> Range:
    low, high = limits
    return None if high is None else -high, None if low is None else -low


def known_limit(size: Size) -> Size | None:
    """What a size never exceeds, told by sizes that are known before the program runs; None where nothing tells.

    It is itself, or one that a minimum has among its parts, carried through sums, quotients and products with what is not
    negative.
    """
    if not is_opaque(size):
        return size
    found = _limit_of(size)
    return None if found is None else integer(found)


def _limit_of(term: Any) -> Any:
    if not is_opaque(term):
        return term
    parts: tuple[Any, ...] = term.args
    if isinstance(term, sympy.Min):
        limits = [limit for limit in map(_limit_of, parts) if limit is not None]
        return _algebra.Min(*limits) if limits else None
    if isinstance(term, sympy.Max | sympy.Add | sympy.floor | sympy.ceiling):
        limits = [_limit_of(each) for each in parts]
        join: Any = term.func
        return None if None in limits else join(*limits)
    if not isinstance(term, sympy.Mul):
        return None
    unknown = [each for each in parts if is_opaque(each)]
    rest = [each for each in parts if not is_opaque(each)]
    limit = _limit_of(unknown[0]) if len(unknown) == 1 else None
    is_scale = all(each.is_Symbol or (each.is_number and each.is_nonnegative) for each in rest)
    return _algebra.Mul(limit, *rest) if limit is not None and is_scale else None
