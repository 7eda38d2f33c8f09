"""Polynomials over ranges: what is proven of them holds at every point, and what coefficients can show is shown."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from hotdesk.sizes.polynomials import Polynomial, Ranges, greatest, is_never_less, is_never_negative, least, never_falls

N, M, ONE = Polynomial.symbol("n"), Polynomial.symbol("m"), Polynomial.number(1)
MONOMIALS = st.tuples(st.integers(0, 2), st.integers(0, 2)).map(
    lambda powers: tuple((name, power) for name, power in zip("mn", powers, strict=True) if power)
)
POLYNOMIALS = st.lists(st.tuples(MONOMIALS, st.integers(-6, 6)), max_size=5).map(Polynomial.of)
LIMITS = st.tuples(st.integers(-4, 4), st.integers(0, 4)).map(lambda ends: (ends[0], ends[0] + ends[1]))


def square(polynomial: Polynomial) -> Polynomial:
    pairs = product(polynomial.terms, repeat=2)
    return Polynomial.of((_times(a, b), x * y) for (a, x), (b, y) in pairs)


def _times(a: tuple[tuple[str, int], ...], b: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
    powers: dict[str, int] = {}
    for name, power in (*a, *b):
        powers[name] = powers.get(name, 0) + power
    return tuple(sorted(powers.items()))


def test_arithmetic() -> None:
    p = N.times(3) + M - N + ONE
    assert str(p) == "2*n + m + 1"
    assert p.at({"n": 5, "m": 2}) == 13
    assert str(p - p) == "0"
    assert str(square(N + ONE).derivative("n")) == "2*n + 2"
    assert N.times(64).is_multiple_of(64)
    assert not (N.times(64) + ONE).is_multiple_of(64)


def test_a_symbol_from_its_least_value_on() -> None:
    ranges: Ranges = {"n": (3, None)}
    assert is_never_negative(N - Polynomial.number(3), ranges)
    assert not is_never_negative(N - Polynomial.number(4), ranges)
    assert is_never_less(square(N), N.times(3), ranges)
    assert (least(square(N), ranges), greatest(square(N), ranges)) == (9, None)


def test_a_greatest_value_helps() -> None:
    smaller = Polynomial.number(400) - N.times(4)
    assert not is_never_negative(smaller, {"n": (1, None)})
    assert is_never_negative(smaller, {"n": (1, 100)})
    assert not is_never_negative(smaller, {"n": (1, 101)})
    assert is_never_negative(smaller + square(M), {"n": (1, 100), "m": (0, None)})
    assert not is_never_negative(smaller - M, {"n": (1, 50), "m": (0, None)})


def test_a_product_of_two_symbols_is_exact_at_the_corners() -> None:
    both = Polynomial.of([((("m", 1), ("n", 1)), 1)])
    ranges = {"n": (2, 7), "m": (3, 5)}
    assert (least(both, ranges), greatest(both, ranges)) == (6, 35)


def test_a_symbol_from_its_greatest_value_down() -> None:
    ranges: Ranges = {"n": (None, 4), "m": (0, 10)}
    assert (least(N, ranges), greatest(N, ranges)) == (None, 4)
    assert greatest(Polynomial.of([((("m", 1), ("n", 1)), 1)]), ranges) == 40
    assert not is_never_negative(square(N), ranges)
    assert is_never_negative(square(N), {"n": (None, 0)})


def test_a_symbol_that_can_be_anything_decides_nothing() -> None:
    assert not is_never_negative(square(N), {})
    assert is_never_less(N + ONE, N, {})  # it cancels


def test_what_rises() -> None:
    bend = square(N) - N.times(6)
    assert never_falls(bend, {"n": (3, None)})
    assert not never_falls(bend, {"n": (2, 9)})
    assert never_falls(ONE, {})


@given(POLYNOMIALS, LIMITS, LIMITS)
def test_bounds_hold_at_every_point(p: Polynomial, n: tuple[int, int], m: tuple[int, int]) -> None:
    ranges = {"n": n, "m": m}
    low, high = least(p, ranges), greatest(p, ranges)
    values = [p.at({"n": i, "m": j}) for i, j in product(range(n[0], n[1] + 1), range(m[0], m[1] + 1))]
    assert low is not None
    assert high is not None
    assert low <= min(values)
    assert max(values) <= high
    if is_never_negative(p, ranges):
        assert min(values) >= 0
    if never_falls(p, ranges):
        assert p.at({"n": n[1], "m": m[1]}) == max(values)


@given(POLYNOMIALS, st.integers(-3, 3), LIMITS)
def test_what_is_proven_without_a_greatest_value_holds_far_out(p: Polynomial, n: int, m: tuple[int, int]) -> None:
    if is_never_negative(p, {"n": (n, None), "m": m}):
        far = [*range(n, n + 6), 100, 10_000]
        assert all(p.at({"n": i, "m": j}) >= 0 for i in far for j in range(m[0], m[1] + 1))
