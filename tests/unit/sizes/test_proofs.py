"""What is proven of symbolic sizes holds at every point, and what is to be proven is."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from hotdesk.sizes.expressions import integer
from hotdesk.sizes.proofs import SizeProver, holds_for_all
from hotdesk.sizes.size import Size

ALGEBRA: Any = sympy  # SymPy's functions are not annotated
N, M = ALGEBRA.symbols("n m")
U = ALGEBRA.Symbol("opaque1")
NUMBERS = st.integers(-5, 5)
SIZES = st.recursive(
    st.sampled_from([N, M, U]) | NUMBERS.map(ALGEBRA.Integer),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda pair: pair[0] + pair[1]),
        st.tuples(inner, inner).map(lambda pair: pair[0] * pair[1]),
        st.tuples(inner, st.sampled_from([ALGEBRA.Min, ALGEBRA.Max]), NUMBERS).map(lambda t: t[1](t[0], t[2])),
        st.tuples(inner, st.sampled_from([ALGEBRA.floor, ALGEBRA.ceiling])).map(lambda t: t[1](t[0] / 2)),
        inner.map(lambda each: ALGEBRA.Mod(each, 3)),
        st.tuples(inner, inner).map(lambda t: ALGEBRA.Piecewise((t[0], ALGEBRA.Lt(N, M)), (t[1], True))),
    ),
    max_leaves=5,
)
POINTS = [{N: n, M: m, U: u} for n, m, u in product((0, 1, 3, 7), (2, 3, 5), (-6, 0, 4))]
BOUNDS = {"m": (2, 5), "n": (0, None)}


def at(size: Any, point: dict[Any, int]) -> int:
    return int(ALGEBRA.sympify(size).subs(point))


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [(4, 4, True), (3, 4, False), (4 * N, 4 * N, True), (4 * N * M + N, N, True), (4 * N, 4 * M, False), (N, 1, False)],
    ids=str,
)
def test_never_less(a: Size, b: Size, wanted: bool) -> None:
    assert SizeProver().is_never_less(a, b) is wanted


def test_symbols_that_may_be_negative() -> None:
    prover = SizeProver(may_be_negative=lambda symbol: symbol == N)
    assert not prover.is_never_less(4 * N + 4 * M, 4 * M)
    assert prover.is_never_less(4 * N + 4 * M, 4 * N)
    assert not SizeProver().is_never_less(U, 0)


@pytest.mark.parametrize(
    ("a", "b", "bounds", "wanted"),
    [
        (2048, 4 * N, {"n": (0, 512)}, True),
        (2047, 4 * N, {"n": (0, 512)}, False),
        (4 * N, 64, {"n": (16, None)}, True),
        (4 * N, 64, {"n": (15, None)}, False),
        (N * N, N, {"n": (1, None)}, True),
        (8 * N, 4 * N + 4 * M, {"n": (8, None), "m": (0, 8)}, True),
        (4 * N, 4 * M, {"n": (8, 16), "m": (0, 9)}, False),
        (4 * N * M, 4 * N, {"m": (1, None)}, True),
        (N, M, {"n": (3, 4)}, False),
    ],
    ids=str,
)
def test_declared_bounds(a: Size, b: Size, bounds: Any, wanted: bool) -> None:
    assert SizeProver(bounds).is_never_less(a, b) is wanted


@pytest.mark.parametrize(
    ("size", "most"),
    [
        (12, 12),
        (4 * ALGEBRA.Min(M, 8) + 4, 36),
        (4 * ALGEBRA.Min(U, 8), 32),
        (4 * M, None),
        (4 * ALGEBRA.Max(M, 8), None),
        (4 * M * ALGEBRA.Min(N, 8), None),
        (4 * N, 40),
        (4 * N * N + 8, 408),
        (N * M, None),
        (4 * N * ALGEBRA.Min(U, 8), 320),
        (ALGEBRA.Min(M, 2 * N), 20),
        (ALGEBRA.Min(M, 3) * ALGEBRA.Min(M, 8), 24),
        (ALGEBRA.Min(U, 3) * ALGEBRA.Min(U, 8), None),
    ],
    ids=str,
)
def test_greatest(size: Size, most: int | None) -> None:
    assert SizeProver({"n": (0, 10)}).greatest(size) == most


@pytest.mark.parametrize(
    ("relation", "wanted"),
    [
        (ALGEBRA.Ge(N, 0), True),
        (ALGEBRA.Lt(N + M, 0), False),
        (ALGEBRA.Lt(N, M), None),
        (ALGEBRA.Ge(U, 0), None),
        (ALGEBRA.Eq(N + 1, 0), False),
        (ALGEBRA.Ne(N + 1, 0), True),
        (ALGEBRA.Eq(N * (M + 1), N * M + N), True),
        (ALGEBRA.Eq(N, M), None),
        (ALGEBRA.And(ALGEBRA.Lt(N, M), ALGEBRA.Lt(M, 0)), False),
        (ALGEBRA.Or(ALGEBRA.Lt(N, M), ALGEBRA.Ge(M, 0)), True),
        (ALGEBRA.Or(ALGEBRA.Lt(N, M), ALGEBRA.Lt(M, 0)), None),
        (sympy.true, True),
    ],
    ids=str,
)
def test_decided(relation: Any, wanted: bool | None) -> None:
    assert SizeProver().decided(relation) is wanted


@given(SIZES, SIZES)
def test_what_is_proven_holds_everywhere(a: Any, b: Any) -> None:
    prover, low, high = SizeProver(BOUNDS), integer(a), integer(b)
    values = [(at(a, point), at(b, point)) for point in POINTS]
    if prover.is_never_less(low, high):
        assert all(x >= y for x, y in values)
    greatest = prover.greatest(low)
    assert greatest is None or all(x <= greatest for x, _ in values)
    for name in ("Eq", "Ne", "Lt", "Le", "Gt", "Ge"):
        relation = getattr(ALGEBRA, name)(a, b)
        decided = prover.decided(relation)
        assert decided is None or all(bool(relation.subs(point)) is decided for point in POINTS)


@given(SIZES)
def test_terms_add_up(size: Any) -> None:
    """With each symbol as far above its least value as it is; what is no such sum stands for itself."""
    prover = SizeProver(BOUNDS)
    found = prover.terms(integer(size))
    assert all(number > 0 for _, number in found)
    names = {name for monomial, _ in found for name, _ in monomial}
    if names <= {"n", "m"}:
        for point in POINTS:
            above = {"n": point[N], "m": point[M] - 2}
            assert at(size, point) == sum(number * prod(above[s] ** p for s, p in m) for m, number in found)


@pytest.mark.parametrize(
    ("relation", "wanted"),
    [
        (ALGEBRA.Le(2 * ALGEBRA.floor(N / 2), N), True),
        (ALGEBRA.Lt(N - 2 * ALGEBRA.floor(N / 2), 2), True),
        (ALGEBRA.And(ALGEBRA.Le(ALGEBRA.floor(N / 2) - 1, N), ALGEBRA.Le(-N, ALGEBRA.floor(N / 3))), True),
        (ALGEBRA.Lt(2 * ALGEBRA.floor((N - 1) / 2), N), True),
        (ALGEBRA.Ne(M, ALGEBRA.floor(M / 2)), True),
        (ALGEBRA.Gt(ALGEBRA.floor(M / 2), 0), True),
        (ALGEBRA.Gt(ALGEBRA.floor(M / 2), 1), False),
        (ALGEBRA.Ne(N, ALGEBRA.floor(N / 2)), False),
        (ALGEBRA.Eq(ALGEBRA.Mod(N, 3), 0), False),
        (ALGEBRA.Ne(ALGEBRA.Mod(3, ALGEBRA.Mod(N, 3)), 0), False),
    ],
)
def test_relations_of_quotients(relation: Any, *, wanted: bool) -> None:
    assert holds_for_all(relation, BOUNDS) is wanted
    if wanted:
        assert all(relation.subs(point) for point in POINTS)
