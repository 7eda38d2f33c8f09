"""Expressions of sizes: polynomials, other symbols put in, values of many at once."""

from __future__ import annotations

import pytest
import sympy

from hotdesk.sizes.expressions import Evaluator, is_sum_of_products, product, replaced

N, K = sympy.Symbol("n"), sympy.Symbol("k")


@pytest.mark.parametrize("size", [3, N, 4 * N**2 + K, N * K - 1], ids=str)
def test_sums_of_products_are_told(size: sympy.Expr) -> None:
    assert is_sum_of_products(size)


@pytest.mark.parametrize("size", [N / 2, sympy.floor(N / 2), sympy.Max(N, K), 2**N], ids=str)
def test_what_is_rounded_or_chosen_is_none(size: sympy.Expr) -> None:
    assert not is_sum_of_products(size)


def test_symbols_are_replaced_in_sizes_and_relations() -> None:
    assert replaced(4 * N, {N: K + 1}) == 4 * (K + 1)
    assert type(replaced(N, {N: sympy.Integer(3)})) is int
    assert replaced(sympy.Eq(N, K), {N: K}) is sympy.true
    assert replaced(7, {N: K}) == 7


def test_equal_products_are_equal() -> None:
    assert product([N + 1, N - 1]) == product([N**2 - 1])


def test_many_sizes_are_evaluated_exactly() -> None:
    found = Evaluator([49 * sympy.floor(N / 49), 7, 4 * N * K])
    assert found.names == ["k", "n"]
    assert found.at({"n": 49 * 10**18, "k": 2, "unused": 1}) == [49 * 10**18, 7, 392 * 10**18]
