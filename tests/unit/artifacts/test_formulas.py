"""Formulas have the values of the SymPy expressions that they were written from, and refuse tables that go in cycles or grow."""

from __future__ import annotations

from typing import Any

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from hotdesk.artifacts import formulas
from hotdesk.artifacts.formulas import LIMIT, Evaluated, Formula, Formulas
from hotdesk.artifacts.loading import LoadedChecks
from hotdesk.artifacts.records import CheckRecord, Ref
from hotdesk.artifacts.symbolic import FormulaWriter
from hotdesk.artifacts.validating import size_of
from hotdesk.errors import ArtifactError, NotSavableError, ShapeError
from hotdesk.explain import Source
from hotdesk.sizes.expressions import Evaluator

_sympy: Any = sympy
N, K = _sympy.Symbol("n"), _sympy.Symbol("dim 0 of %k")

SIZES = [
    4 * N * K + 3,
    _sympy.floor(N / 2) + _sympy.ceiling(K / 3),
    _sympy.floor((N + K - 1) / (K + 1)) * 7,
    _sympy.Mod(N * 5, K + 1),
    _sympy.Max(0, N - K, 3) * _sympy.Min(N, K),
    N * (N - 1) / 2,
    _sympy.Piecewise((_sympy.floor(12 / K), K > 3), (N**3, True)),
]
RELATIONS = [
    _sympy.Eq(_sympy.Mod(N, 4), 0),
    _sympy.Ne(N, K),
    N / 2 > K,
    _sympy.And(N >= 2, _sympy.Or(K < N, _sympy.Not(_sympy.Eq(K, 3)))),
]


def _table(writer: FormulaWriter) -> Formulas:
    return Formulas(writer.nodes)


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_sizes_have_the_values_of_sympy(n: int, k: int) -> None:
    writer = FormulaWriter()
    refs = [writer.size(size) for size in SIZES]
    table = _table(writer)
    found = Evaluated(table, [size_of(ref, table) for ref in refs]).at({"n": n, "dim 0 of %k": k})
    assert found == Evaluator(SIZES).at({"n": n, "dim 0 of %k": k})


@given(st.integers(0, 20), st.integers(0, 20))
def test_relations_have_the_values_of_sympy(n: int, k: int) -> None:
    writer = FormulaWriter()
    refs = [writer.relation(relation) for relation in RELATIONS]
    values = _table(writer).at({"n": n, "dim 0 of %k": k})
    assert [bool(values[ref.number]) for ref in refs] == [
        relation.subs({N: n, K: k}) is _sympy.true for relation in RELATIONS
    ]


def test_equal_parts_are_written_once() -> None:
    writer = FormulaWriter()
    assert writer.size(4 * N) == writer.size(4 * N)
    assert len(writer.nodes) == 3


@pytest.mark.parametrize("size", [_sympy.sqrt(N), _sympy.sin(N), _sympy.Max(N / 2, 1)])
def test_what_is_no_whole_size_is_refused(size: Any) -> None:
    with pytest.raises(NotSavableError):
        FormulaWriter().size(size)


def test_a_size_is_solved_for_a_symbol() -> None:
    writer = FormulaWriter()
    ref = writer.size(3 * N + 1)
    assert isinstance(ref, Ref)
    formula = Formula(_table(writer), ref.number, ref.text)
    assert formula.solved_for("n", 16, {}) == 5
    assert formula.solved_for("n", 17, {}) is None
    assert formula.solved_for("n", -2, {}) is None


@pytest.mark.parametrize(
    "nodes",
    [
        [["+", 0, 0]],
        [["n", 1], ["+", 0, 1]],
        [["n", 1], ["+"]],
        [["n", 1], ["//", 0]],
        [["n", 1.5]],
        [["n", True]],
        [["n", 1 << 300]],
        [["s", 1]],
        [["exec", "1"]],
        [[]],
        [["n", 1], ["+", -1, 0]],
    ],
)
def test_other_tables_are_refused(nodes: Any) -> None:
    with pytest.raises(ArtifactError):
        Formulas(nodes)


def test_what_grows_without_bounds_has_no_value() -> None:
    nodes: list[Any] = [["n", 1 << 200]] + [["*", i, i] for i in range(200)]
    table = Formulas(nodes)
    assert table.at({})[0] == 1 << 200
    assert table.at({})[1:] == [None] * 200
    many = Formulas([["n", LIMIT - 1], ["*", *[0] * 1000]])
    assert many.at({})[1] is None
    with pytest.raises(ShapeError):
        Evaluated(table, [Formula(table, 5, "n**64")]).at({"n": 1})


def test_a_division_by_zero_that_is_not_chosen_does_not_matter() -> None:
    table = Formulas([["s", "n"], ["n", 7], ["//", 1, 0], ["?", 0, 2, 1]])
    assert table.at({"n": 0})[2:] == [None, 7]
    assert table.at({"n": 2})[2:] == [3, 3]


def test_many_checks_evaluate_their_table_once(monkeypatch: pytest.MonkeyPatch) -> None:
    symbols = {f"s{number}": number for number in range(50)}
    nodes: list[tuple[Any, ...]] = [("s", name) for name in symbols]
    nodes += [
        ("+", number, 0 if number == 1 else number + 48) for number in range(1, 50)
    ]  # each of one symbol more than the one before
    table = Formulas(nodes)
    evaluated: list[Any] = []
    value = formulas._value  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(formulas, "_value", lambda node, *rest: evaluated.append(node) or value(node, *rest))
    checks = tuple(CheckRecord(Ref(number, str(number)), "", Source("", "", "")) for number in range(50, len(nodes)))
    assert LoadedChecks(checks, table).failed(symbols) is None
    assert len(evaluated) == len(nodes)
    assert table.symbols(len(nodes) - 1) == symbols.keys()
    assert table.symbols(50) == {"s1", "s0"}
