"""From sizes to symbols."""

from __future__ import annotations

import pytest
import sympy

from hotdesk.errors import RankError, ShapeError
from hotdesk.runtime.arguments.sizes import InputSizes
from hotdesk.runtime.interface import TensorSpec

S0, S1 = sympy.Symbol("s0", integer=True, positive=True), sympy.Symbol("s1")


def _solve(
    *arguments: tuple[tuple[object, ...], tuple[int, ...]], **constraints: tuple[int, int | None]
) -> dict[str, int]:
    specs = [TensorSpec("xyz"[index], "f32", shape, "model.py:1") for index, (shape, _) in enumerate(arguments)]
    return InputSizes(specs, constraints).solve([sizes for _, sizes in arguments])


def test_numbers_need_no_symbols() -> None:
    assert _solve(((2, 3), (2, 3)), ((), ())) == {}


def test_symbols_take_the_size_they_stand_for() -> None:
    assert list(_solve(((S1, S0), (4, 7))).items()) == [("s0", 7), ("s1", 4)]


def test_a_symbol_may_be_zero() -> None:
    assert _solve(((S0, 3), (0, 3))) == {"s0": 0}


@pytest.mark.parametrize(
    ("size", "found", "value"),
    [
        (2 * S0, 6, 3),
        (S0 + 1, 6, 5),
        (3 * S1 - 2, 7, 3),
        (S0**2, 16, 4),
        (2 * S0, 0, 0),
        (S1 * 4 + 4, 4, 0),
    ],
    ids=str,
)
def test_an_expression_of_one_unknown_is_solved(size: sympy.Expr, found: int, value: int) -> None:
    assert list(_solve(((size,), (found,))).values()) == [value]


def test_known_symbols_help_to_solve() -> None:
    assert _solve(((S0 * S1,), (12,)), ((S0 + 1,), (4,))) == {"s0": 3, "s1": 4}


def test_a_plain_dimension_comes_before_one_to_solve() -> None:
    assert _solve(((2 * S0,), (6,)), ((S0,), (3,))) == {"s0": 3}


def test_rounded_expressions_are_checked() -> None:
    half = sympy.floor(S0 / 2)
    assert _solve(((half,), (3,)), ((S0,), (7,))) == {"s0": 7}
    with pytest.raises(ShapeError, match=r"argument 'x', dimension 0: expected s0//2 = 3 .*'y', dimension 0, got 4"):
        _solve(((half,), (4,)), ((S0,), (7,)))


def test_same_symbol_with_other_assumptions_is_the_same() -> None:
    with pytest.raises(ShapeError, match="expected s0 = 3 as in argument 'x', dimension 0, got 4"):
        _solve(((S0,), (3,)), ((sympy.Symbol("s0"),), (4,)))


@pytest.mark.parametrize("size", [S0 + S1, sympy.floor(S1 / 2), S1 * (5 - S1)], ids=str)
def test_sizes_that_give_no_symbol(size: sympy.Expr) -> None:
    with pytest.raises(ShapeError, match="a size that gives"):
        _solve(((size,), (4,)))


def test_sizes_that_give_no_symbol_are_told_as_users_read_them() -> None:
    with pytest.raises(ShapeError, match=r"a size that gives s1.*got s1//2"):
        _solve(((sympy.floor(S1 / 2),), (4,)))


@pytest.mark.parametrize(("size", "found"), [(2 * S0, 7), (S0 + 4, 3), (S1**2, 5)], ids=str)
def test_sizes_no_symbol_can_give(size: sympy.Expr, found: int) -> None:
    with pytest.raises(ShapeError, match=f"for some size s.*got {found}"):
        _solve(((size,), (found,)))


def test_rank() -> None:
    with pytest.raises(RankError, match=r"'x': expected 2 dimensions, f32\[s0, 3\], got 1, f32\[3\] \(model.py:1\)"):
        _solve(((S0, 3), (3,)))


def test_static_size() -> None:
    with pytest.raises(ShapeError, match=r"'y', dimension 1: expected 3, got 4 \(model.py:1\).*f32\[2, 3\]"):
        _solve(((2,), (2,)), ((2, 3), (2, 4)))


@pytest.mark.parametrize("value", [1, 9])
def test_range(value: int) -> None:
    with pytest.raises(ShapeError, match=f"dimension 0: expected 2 <= s0 <= 8, got s0 = {value}"):
        _solve(((S0,), (value,)), s0=(2, 8))
    assert _solve(((S0,), (8,)), s0=(2, 8)) == {"s0": 8}


def test_range_without_end() -> None:
    with pytest.raises(ShapeError, match="expected 2 <= s0, got s0 = 1"):
        _solve(((S0,), (1,)), s0=(2, None))
    assert _solve(((S0,), (10**6,)), s0=(2, None)) == {"s0": 10**6}
