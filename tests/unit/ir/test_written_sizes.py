"""Sizes as users read them, and as attributes state them."""

from __future__ import annotations

from typing import Any

import pytest
import sympy

from hotdesk.ir.sizes import OPAQUE, Size, is_opaque, parsed
from hotdesk.ir.written_sizes import renamed, stated, unnamed, written

algebra: Any = sympy
X, N = unnamed(1, "dim 0 of %x"), unnamed(2, "%n")
BATCH = sympy.Symbol("batch")

WRITTEN: dict[str, Any] = {
    "12": 12,
    "400*batch": 400 * BATCH,
    "dim 0 of %x": X,
    "400*(dim 0 of %x)": 400 * X,
    "(dim 0 of %x) + %n": X + N,
    "4*max(0, %n)": 4 * algebra.Max(0, N),
    "max(0, dim 0 of %x)": algebra.Max(0, X),
    "min(batch, dim 0 of %x)": algebra.Min(BATCH, X),
    "4*(dim 0 of %x)*floor(batch/2)": 4 * algebra.floor(BATCH / 2) * X,
    "ceil((dim 0 of %x)/3)": algebra.ceiling(X / 3),
    "4*(batch mod 3)": 4 * algebra.Mod(BATCH, 3),
    "(batch + (dim 0 of %x)) mod 3": algebra.Mod(BATCH + X, 3),
    "(%n if (dim 0 of %x) == 1 else batch)": algebra.Piecewise((N, algebra.Eq(X, 1)), (BATCH, True)),
    "2*(a size)": 2 * unnamed(3, ""),
}


@pytest.mark.parametrize("text", WRITTEN)
def test_sizes_in_the_words_of_users(text: str) -> None:
    found = written(WRITTEN[text])
    assert found == text
    assert not any(word in found for word in (OPAQUE, "Max", "Min", "Piecewise", "Mod", "ceiling"))


@pytest.mark.parametrize("size", WRITTEN.values(), ids=str)
def test_what_an_attribute_states_is_read_back(size: Size) -> None:
    """As another symbol, which nobody knows more about."""
    again = parsed(stated(size))
    assert stated(again) == stated(size)
    assert is_opaque(again) == is_opaque(size)


def test_sizes_that_nobody_named_differ_though_the_words_do_not() -> None:
    assert unnamed(1, "%n") != unnamed(2, "%n")
    assert is_opaque(unnamed(1, "%n") + BATCH)


def test_other_words_for_what_nobody_named() -> None:
    assert written(renamed(400 * X * BATCH, lambda text: text.replace("%x", "%y"))) == "400*batch*(dim 0 of %y)"
    assert renamed(7, str.upper) == 7


def test_words_with_braces() -> None:
    assert written(unnamed(1, "argument 0 ({odd}.py:3)")) == "argument 0 ((odd).py:3)"
