"""Figures on instances others publish; see tests/data/planning/README.md."""

from pathlib import Path

import pytest

from hotdesk.planning import Problem, check, plan, read_csv

DATA = Path(__file__).parents[3] / "data" / "planning"


def load(name: str) -> Problem:
    return read_csv((DATA / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("name", "bound", "arena", "strategy"),
    [
        ("input.12.csv", 12, 12, "ground"),
        ("resnet50.csv", 1515472556, 1515472556, "skyline/pressure"),
        ("G_1.csv", 3030937746, 3030937746, "skyline/area"),
        ("A.1048576.csv", 1048576, 1176576, "skyline/pressure"),
        ("C.1048576.csv", 1039360, 1311744, "skyline/pressure"),
        ("K.1048576.csv", 1048576, 1247232, "skyline/pressure"),
    ],
)
def test_heuristics(name: str, bound: int, arena: int, strategy: str) -> None:
    problem = load(name)
    result = plan(problem, effort=0)
    assert (result.bound.bytes, result.arena, result.strategy) == (bound, arena, strategy)
    assert check(problem, result) == ()


@pytest.mark.parametrize(("name", "ratio"), [("A.1048576.csv", 1.10), ("C.1048576.csv", 1.20), ("K.1048576.csv", 1.15)])
def test_search_comes_closer_to_the_bound(name: str, ratio: float) -> None:
    problem = load(name)
    result = plan(problem, effort=300_000)
    assert result.arena <= ratio * result.bound.bytes
    assert result.strategy == "search"
    assert check(problem, result) == ()


@pytest.mark.parametrize("name", ["A.1048576.csv", "resnet50.csv"])
def test_the_certificate_adds_up(name: str) -> None:
    problem = load(name)
    bound = plan(problem, effort=0).bound
    named = [b for b in problem.buffers if b.id in set(bound.buffer_ids)]
    assert all(b.lower <= bound.step < b.upper for b in named)
    assert sum(b.size for b in named) == bound.bytes


@pytest.mark.parametrize("letter", "ABCDEFGHIJK")
def test_the_default_budget_fits_the_published_capacity(letter: str) -> None:
    pytest.importorskip("numba")
    problem = load(f"{letter}.1048576.csv")
    result = plan(problem, capacity=1048576)
    assert result.arena <= 1048576
    assert check(problem, result) == ()


def test_cp_sat_meets_the_bound() -> None:
    pytest.importorskip("ortools")
    problem = load("K.1048576.csv")
    result = plan(problem, strategy="cp-sat")
    assert (result.arena, result.strategy, result.proven_optimal) == (1048576, "cp-sat", True)
    assert check(problem, result) == ()


@pytest.mark.parametrize(("name", "arena"), [("A.1048576.csv", 1048576), ("C.1048576.csv", 1039360)])
def test_walks_meet_the_bound(name: str, arena: int) -> None:
    pytest.importorskip("numba")
    problem = load(name)
    result = plan(problem, strategy="dive")
    assert (result.arena, result.strategy, result.proven_optimal) == (arena, "dive", True)
    assert check(problem, result) == ()
