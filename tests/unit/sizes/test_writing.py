"""Sizes as users read them, and reading them back."""

from __future__ import annotations

from typing import Any

import pytest
import sympy

from hotdesk.sizes.reading import is_name, parsed
from hotdesk.sizes.size import OPAQUE, Size, is_opaque
from hotdesk.sizes.writing import renamed, unnamed, written

algebra: Any = sympy
X, N = unnamed(1, "dim 0 of %x"), unnamed(2, "%n")
BATCH, WIDTH = sympy.symbols("batch width")

WRITTEN: dict[str, Any] = {
    "12": 12,
    "400*batch": 400 * BATCH,
    "dim 0 of %x": X,
    "400*(dim 0 of %x)": 400 * X,
    "(dim 0 of %x) + %n": X + N,
    "4*max(0, %n)": 4 * algebra.Max(0, N),
    "max(0, dim 0 of %x)": algebra.Max(0, X),
    "min(batch, dim 0 of %x)": algebra.Min(BATCH, X),
    "batch//2": algebra.floor(BATCH / 2),
    "4*(dim 0 of %x)*(batch//2)": 4 * algebra.floor(BATCH / 2) * X,
    "((dim 0 of %x) + 1)//2": algebra.floor((X + 1) / 2),
    "(batch//2) + 1": algebra.floor(BATCH / 2) + 1,
    "ceil((batch + 1)/2)": algebra.ceiling((BATCH + 1) / 2),
    "floor(batch/width + 1/2)": algebra.floor(BATCH / WIDTH + algebra.Rational(1, 2)),
    "batch//width": algebra.floor(BATCH / WIDTH),
    "(batch//2) mod 3": algebra.Mod(algebra.floor(BATCH / 2), 3),
    "abs(batch - width)": algebra.Abs(BATCH - WIDTH),
    "max(1, batch//2, width//2)": algebra.Max(1, algebra.floor(BATCH / 2), algebra.floor(WIDTH / 2)),
    "ceil((dim 0 of %x)/3)": algebra.ceiling(X / 3),
    "4*(batch mod 3)": 4 * algebra.Mod(BATCH, 3),
    "(batch + (dim 0 of %x)) mod 3": algebra.Mod(BATCH + X, 3),
    "(%n if (dim 0 of %x) == 1 else batch)": algebra.Piecewise((N, algebra.Eq(X, 1)), (BATCH, True)),
    "(1 if (batch == 2) and (width < 3) else 2 if (batch//2) != 4 else width)": algebra.Piecewise(
        (1, algebra.Eq(BATCH, 2) & (WIDTH < 3)), (2, algebra.Ne(algebra.floor(BATCH / 2), 4)), (WIDTH, True)
    ),
    "(1 if (batch < 2) or (width < 3) else 2)": algebra.Piecewise((1, (BATCH < 2) | (WIDTH < 3)), (2, True)),
    "2*(a size)": 2 * unnamed(3, ""),
}


@pytest.mark.parametrize("text", WRITTEN)
def test_sizes_in_the_words_of_users(text: str) -> None:
    found = written(WRITTEN[text])
    assert found == text
    assert not any(word in found for word in (OPAQUE, "Max", "Min", "Piecewise", "Mod", "ceiling"))


@pytest.mark.parametrize("text", [text for text in WRITTEN if "a size" not in text])
def test_what_is_written_is_read_back(text: str) -> None:
    assert parsed(written(parsed(text))) == parsed(text)


@pytest.mark.parametrize("size", [size for size in WRITTEN.values() if not is_opaque(size)], ids=str)
def test_the_same_size_is_read_back(size: Size) -> None:
    assert parsed(written(size)) == size
    assert parsed(str(size)) == size


@pytest.mark.parametrize("name", ["Max", "E", "S", "N", "lambda", "class", "None", "size_0_", "modern", "iff", "été"])
def test_any_word_may_be_a_name(name: str) -> None:
    assert is_name(name)
    assert parsed(f"2*{name} mod 3 + {name}") == algebra.Mod(2 * sympy.Symbol(name), 3) + sympy.Symbol(name)


@pytest.mark.parametrize("name", ["if", "mod", "True", "opaque", "opaque1", "a-b", "a b", "3d", ""])
def test_what_means_something_else_is_no_name(name: str) -> None:
    assert not is_name(name)


@pytest.mark.parametrize(
    "text",
    ["9**9**9**9", "((9**64)**64)**64", "(" * 400 + "n" + ")" * 400, "factorial(9)", "n.real", "'n'", "n mod 0", "1/0"],
)
def test_what_is_no_size_is_refused_at_once(text: str) -> None:
    with pytest.raises(ValueError, match="no expression|no size"):
        parsed(text)


def test_sizes_that_nobody_named_differ_though_the_words_do_not() -> None:
    assert unnamed(1, "%n") != unnamed(2, "%n")
    assert is_opaque(unnamed(1, "%n") + BATCH)


def test_other_words_for_what_nobody_named() -> None:
    assert written(renamed(400 * X * BATCH, lambda text: text.replace("%x", "%y"))) == "400*batch*(dim 0 of %y)"
    assert renamed(7, str.upper) == 7


def test_words_with_braces() -> None:
    assert written(unnamed(1, "argument 0 ({odd}.py:3)")) == "argument 0 ((odd).py:3)"
