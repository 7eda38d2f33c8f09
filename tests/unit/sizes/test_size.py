"""Text, symbols and values of any size: numbers, expressions of SymPy's, formulas of saved programs."""

from __future__ import annotations

import subprocess
import sys

import sympy

from hotdesk.artifacts.formulas import Formula, Formulas
from hotdesk.sizes.size import evaluate, is_opaque, spelled, symbols_of
from hotdesk.sizes.writing import unnamed

N, K = sympy.Symbol("n"), sympy.Symbol("k")
FORMULA = Formula(Formulas([["s", "n"], ["n", 4], ["*", 1, 0]]), 2, "4*n")


def test_numbers_and_rounded_expressions_have_values() -> None:
    assert evaluate(7, {}) == 7
    assert evaluate(sympy.Integer(7), {}) == 7
    assert evaluate(sympy.floor(N / 2), {"n": 7}) == 3


def test_symbols_are_named_in_order() -> None:
    assert symbols_of(7) == ()
    assert symbols_of(4 * N + K) == ("k", "n")
    assert symbols_of(sympy.Ge(N, K)) == ("k", "n")


def test_relations_of_what_only_the_run_knows_are_opaque() -> None:
    assert is_opaque(4 * unnamed(1, "dim 0 of %x"))
    assert is_opaque(sympy.Ge(unnamed(1, ""), N))
    assert not is_opaque(sympy.Ge(K, N))
    assert not is_opaque(7)


def test_formulas_of_saved_programs_are_asked_like_expressions() -> None:
    assert (spelled(FORMULA), symbols_of(FORMULA), evaluate(FORMULA, {"n": 3})) == ("4*n", ("n",), 12)  # type: ignore[arg-type]
    assert not is_opaque(FORMULA)  # type: ignore[arg-type]


def test_sympy_is_not_imported_for_numbers() -> None:
    code = "import sys; from hotdesk.sizes.size import spelled; print(spelled(7), 'sympy' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["7", "False"]
