"""Sizes as polynomials with integer coefficients, and what holds for all values of their symbols in given ranges.

Whether a polynomial is 0 or more is decided by coefficients, which is sound and not complete:

1. Each symbol is written as its least value plus something that is 0 or more, or as its greatest value less that where it has
   no least one. If no coefficient is negative then, the polynomial is not either.
2. Else symbols with a greatest value are scaled to run from 0 to 1, and the polynomial is written in the Bernstein basis, whose
   functions are 0 or more there (Cargo and Shisha, "The Bernstein form of a polynomial", 1966). Coefficients again decide; for a
   polynomial that is linear in each symbol they are its values at the corners, and the answer is exact.

Symbols are integers. Of one that can be anything nothing is known, so nothing that contains it is decided.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import ceil, comb, floor

Monomial = tuple[tuple[str, int], ...]
"""Symbols with their powers, by name; no power is 0."""

Range = tuple["int | None", "int | None"]
"""The least and the greatest value of a symbol; None where there is none."""

Ranges = Mapping[str, Range]

_MOST_TERMS = 4096
"""Coefficients in the Bernstein basis; beyond, nothing is decided."""


@dataclass(frozen=True)
class Polynomial:
    """A sum of monomials with integer coefficients, none of them 0, in the order of the monomials."""

    terms: tuple[tuple[Monomial, int], ...]

    @staticmethod
    def of(terms: Iterable[tuple[Monomial, int]]) -> Polynomial:
        """The sum of terms; a monomial may come several times."""
        total: dict[Monomial, int] = {}
        for monomial, number in terms:
            total[monomial] = total.get(monomial, 0) + number
        return Polynomial(tuple(sorted((m, n) for m, n in total.items() if n)))

    @staticmethod
    def number(value: int) -> Polynomial:
        return Polynomial((((), value),) if value else ())

    @staticmethod
    def symbol(name: str) -> Polynomial:
        return Polynomial(((((name, 1),), 1),))

    def __add__(self, other: Polynomial) -> Polynomial:
        return Polynomial.of((*self.terms, *other.terms))

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + other.times(-1)

    def times(self, factor: int) -> Polynomial:
        return Polynomial(tuple((m, n * factor) for m, n in self.terms) if factor else ())

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        return tuple(sorted({name for monomial, _ in self.terms for name, _ in monomial}))

    def at(self, values: Mapping[str, int]) -> int:
        """Its value. Raises KeyError for a symbol without one."""
        return sum(n * _power(monomial, values) for monomial, n in self.terms)

    def derivative(self, name: str) -> Polynomial:
        """By the symbol `name`."""
        found: list[tuple[Monomial, int]] = []
        for monomial, number in self.terms:
            power = dict(monomial).get(name, 0)
            if power:
                rest = tuple((each, p - (each == name)) for each, p in monomial if p > (each == name))
                found.append((rest, number * power))
        return Polynomial.of(found)

    def is_multiple_of(self, number: int) -> bool:
        """Whether every value is, because every coefficient is."""
        return all(coefficient % number == 0 for _, coefficient in self.terms)

    def __str__(self) -> str:
        return " + ".join(_spelled(monomial, number) for monomial, number in reversed(self.terms)) or "0"


def is_never_negative(polynomial: Polynomial, ranges: Ranges) -> bool:
    """Whether it is 0 or more for all values in range, as far as this can be proven."""
    least = _least(polynomial, ranges)
    return least is not None and least >= 0


def is_never_less(a: Polynomial, b: Polynomial, ranges: Ranges) -> bool:
    """Whether `a` is at least `b` for all values in range, as far as this can be proven."""
    return is_never_negative(a - b, ranges)


def least(polynomial: Polynomial, ranges: Ranges) -> int | None:
    """A number that it is never below for values in range; None if none is known."""
    found = _least(polynomial, ranges)
    return None if found is None else ceil(found)


def greatest(polynomial: Polynomial, ranges: Ranges) -> int | None:
    """A number that it is never above for values in range; None if none is known."""
    found = _least(polynomial.times(-1), ranges)
    return None if found is None else floor(-found)


def from_least(polynomial: Polynomial, ranges: Ranges) -> Polynomial:
    """The polynomial in how far each symbol, of which each has a least value, is above it."""
    return Polynomial.of(_from_ends(polynomial, ranges).items())


def never_falls(polynomial: Polynomial, ranges: Ranges) -> bool:
    """Whether it is never less where a symbol is greater, as far as this can be proven."""
    return all(is_never_negative(polynomial.derivative(name), ranges) for name in polynomial.symbols)


def _least(polynomial: Polynomial, ranges: Ranges) -> Fraction | None:
    """The better of the bounds that the two forms of the module docstring give."""
    if any(ranges.get(name, (None, None)) == (None, None) for name in polynomial.symbols):
        return None
    shifted = _from_ends(polynomial, ranges)
    by_shift = _lowest(shifted)
    widths = {name: _width(ranges[name]) for name in polynomial.symbols}
    if by_shift is not None and all(coefficient >= 0 for coefficient in shifted.values()):
        return by_shift
    by_basis = _in_bernstein_basis(shifted, {name: width for name, width in widths.items() if width is not None})
    return by_shift if by_basis is None else by_basis if by_shift is None else max(by_shift, by_basis)


def _lowest(terms: Mapping[Monomial, int]) -> Fraction | None:
    """The least value of terms in symbols from 0 on, if no coefficient but the constant is negative."""
    if any(number < 0 for monomial, number in terms.items() if monomial):
        return None
    return Fraction(terms.get((), 0))


def _from_ends(polynomial: Polynomial, ranges: Ranges) -> dict[Monomial, int]:
    """The polynomial in how far each symbol is above its least value, or below its greatest one where there is no least."""
    ends = {name: _end(ranges[name]) for name in polynomial.symbols}
    total: dict[Monomial, int] = {}
    for monomial, number in polynomial.terms:
        for chosen in product(*(range(power + 1) for _, power in monomial)):
            factor, kept = number, list[tuple[str, int]]()
            for (name, power), taken in zip(monomial, chosen, strict=True):
                end, sign = ends[name]
                factor *= comb(power, taken) * end ** (power - taken) * sign**taken
                if taken:
                    kept.append((name, taken))
            if factor:
                total[tuple(kept)] = total.get(tuple(kept), 0) + factor
    return {monomial: number for monomial, number in total.items() if number}


def _in_bernstein_basis(terms: Mapping[Monomial, int], widths: Mapping[str, int]) -> Fraction | None:
    """A lower bound for terms whose symbols run from 0 to their width, those without one from 0 on."""
    degrees: dict[str, int] = {}
    for monomial in terms:
        for name, power in monomial:
            degrees[name] = max(degrees.get(name, 0), power)
    bounded = tuple(name for name in degrees if name in widths)
    count = 1
    for name in bounded:
        count *= degrees[name] + 1
    if count > _MOST_TERMS:
        return None
    rows: dict[Monomial, dict[tuple[int, ...], Fraction]] = {}
    for monomial, number in terms.items():
        powers = dict(monomial)
        free = tuple((name, power) for name, power in monomial if name not in widths)
        place = tuple(powers.get(name, 0) for name in bounded)
        scale = 1
        for name in bounded:
            scale *= widths[name] ** powers.get(name, 0)
        rows.setdefault(free, {})[place] = Fraction(number * scale)
    for axis, name in enumerate(bounded):
        rows = {free: dict(_one_axis(row, axis, degrees[name])) for free, row in rows.items()}
    if any(_lowest_of(row, count) < 0 for free, row in rows.items() if free):
        return None
    return _lowest_of(rows.get((), {}), count)


def _one_axis(
    row: Mapping[tuple[int, ...], Fraction], axis: int, degree: int
) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """Coefficients of powers along one axis as those of the Bernstein basis: `b_i = sum of C(i, j) / C(degree, j) a_j`."""
    lines: dict[tuple[int, ...], dict[int, Fraction]] = {}
    for place, number in row.items():
        lines.setdefault((*place[:axis], *place[axis + 1 :]), {})[place[axis]] = number
    for rest, line in lines.items():
        for i in range(degree + 1):
            total = sum((Fraction(comb(i, j), comb(degree, j)) * a for j, a in line.items() if j <= i), Fraction(0))
            yield (*rest[:axis], i, *rest[axis:]), total


def _lowest_of(row: Mapping[tuple[int, ...], Fraction], count: int) -> Fraction:
    """The least of `count` coefficients; those that a row does not have are 0."""
    lowest = min(row.values(), default=Fraction(0))
    return lowest if len(row) == count else min(lowest, Fraction(0))


def _end(limits: Range) -> tuple[int, int]:
    """Where a range is counted from, and which way."""
    low, high = limits
    return (low, 1) if low is not None else (high or 0, -1)


def _width(limits: Range) -> int | None:
    low, high = limits
    return None if low is None or high is None else max(0, high - low)


def _power(monomial: Monomial, values: Mapping[str, int]) -> int:
    total = 1
    for name, power in monomial:
        total *= values[name] ** power
    return total


def _spelled(monomial: Monomial, number: int) -> str:
    factors = [name if power == 1 else f"{name}**{power}" for name, power in monomial]
    return "*".join(([str(number)] if number != 1 or not factors else []) + factors)
