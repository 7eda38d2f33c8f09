"""What the planner's benchmark asks, and the verdicts of its page."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import planner
from benchmarks.planner_cases.live_ranges import stored
from benchmarks.planner_cases.page import COLUMNS, Row, bars, render
from benchmarks.planner_cases.peer import best_fit
from benchmarks.planner_cases.problems import minimalloc, random_problem, tied_problem
from benchmarks.planner_cases.shapes import POOLS, SAMPLES, Family, Shapes, bar, measure
from benchmarks.planner_cases.without import (
    ALL_GREEDY,
    ALL_LOANS,
    PASSES,
    REPACKED,
    SURE,
    TIES,
    Worse,
    worse_for_all_sizes,
    worse_without,
    worse_without_loans,
    worse_without_search,
)
from hotdesk.planning import NO_REUSE, STRATEGIES, Buffer, Problem, check, plan
from hotdesk.planning.placement.borrow import LOAN_ORDERS
from hotdesk.planning.placement.ejection import EJECTION
from hotdesk.planning.placement.portfolio import PORTFOLIO

CHAIN = Problem((Buffer("a", 0, 2, 100), Buffer("b", 1, 3, 100), Buffer("nothing", 0, 9, 0), Buffer("c", 2, 4, 100)))

VERSIONS = dict.fromkeys(("python", "torch-mlir", "numpy"), 1)


def row(part: str, name: str, arena: int, seconds: float = 0.1) -> Row:
    made = replace(plan(CHAIN), arena=arena)
    return Row(part, name, 4, made, arena, seconds, seconds, (256, 0.0))


def test_mlir_places_the_same_buffers() -> None:
    assert best_fit(CHAIN)[0] == plan(CHAIN).arena == 256


@pytest.mark.parametrize("seed", range(3))
def test_mlir_is_asked_about_the_same_live_ranges(seed: int) -> None:
    """No plan beats the bound, whoever made it."""
    problem = random_problem(60, seed)
    arena, _ = best_fit(problem)
    assert plan(problem).bound.bytes <= arena <= plan(problem, strategy="no-reuse").arena


def test_instances_of_the_checkout_are_found() -> None:
    assert {"A", "C", "K"} <= {name for name, _ in minimalloc()}


def test_random_problems_repeat() -> None:
    assert random_problem(50, 1) == random_problem(50, 1) != random_problem(50, 2)


def test_stored_live_ranges_are_problems() -> None:
    problems = dict(stored())
    assert "mlp, fused" in problems
    assert check(problems["mlp, fused"], plan(problems["mlp, fused"])) == ()


@pytest.mark.parametrize(
    ("part", "rows", "verdicts"),
    [
        ("random", [row("random", "100", 256)], ["met"]),
        ("random", [row("random", "100", 300)], ["not met"]),
        ("models", [row("models", "x", 256, 0.01)] * 20, ["met", "met"]),
        ("models", [row("models", "x", 256, 0.01)] * 10, ["not met", "met"]),
        ("models", [replace(row("models", "x", 256, 0.01), peer=None)] * 20, ["met", "not met"]),
        ("models", [row("models", "x", 256, 0.01)] * 19 + [row("models", "y", 320, 0.01)], ["not met", "not met"]),
        ("models", [row("models", "x", 256)] * 20, ["not met", "met"]),
        ("traces", [row("traces", name, 256) for name in "abcd"], ["met"]),
        ("traces", [row("traces", name, 256) for name in "abc"], ["not met"]),
        ("minimalloc", [row("minimalloc", name, 256) for name in "ABCDEFGHIJK"], ["met", "met"]),
        ("minimalloc", [row("minimalloc", name, 256, 11.0) for name in "ABCDEFGHIJK"], ["not met", "not met"]),
        ("minimalloc", [row("minimalloc", "A", 1 << 21)], ["not met", "not met"]),
        ("below", [row("below", name, 1 << 19) for name in "CDJ"], ["met"]),
        ("below", [row("below", "C", 1 << 19), row("below", "D", 1 << 20), row("below", "J", 1 << 19)], ["not met"]),
    ],
)
def test_verdicts(part: str, rows: list[Row], verdicts: list[str]) -> None:
    assert [line.split("**")[1] for line in bars(part, rows)] == verdicts


def test_the_page_has_a_line_for_each_problem() -> None:
    around = {
        "date": "today",
        "machine": "here",
        "load": 1.0,
        "versions": VERSIONS,
    }
    text = render(around, [row("random", "100", 256)], ["random", "traces"])
    assert f"| {' | '.join(COLUMNS)} |" in text
    assert "| 100 | 4 | 256 | live | 256 | 0.00% |" in text
    assert "Traces: not measured, or the files are not there" in text


def test_new_shapes_are_measured_and_listed() -> None:
    row = measure(1, families=1)
    assert row.pools == 1
    assert len(row.seconds) == len(row.ratios) == 12
    assert min(row.ratios) >= 1
    around = {
        "date": "today",
        "machine": "here",
        "load": 1.0,
        "versions": VERSIONS,
    }
    text = render(around, [], [], [Shapes(1, (0.002, 0.004), (1.0, 1.02))])
    assert "| 1 | 2 | 3.00 | 4.00 | 4.00 | 1.00% | 2.00% |" in text
    assert "**met**: 2 new shapes of 200 buffers: all under 5 ms, 4.00 ms at most" in text
    met, line = bar([Shapes(1, (0.002, 0.006), (1.0, 1.0))])
    assert not met
    assert line.startswith("2 new shapes of 200 buffers: 1 under 5 ms, 6.00 ms at most")


@pytest.mark.parametrize(("arguments", "place"), [([], "."), (["--only", "shapes"], "build")])
def test_a_run_writes_the_table_of_new_shapes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: list[str], place: str
) -> None:
    def measured(pools: int) -> Shapes:
        return Shapes(pools, (0.002, 0.004), (1.0, 1.02))

    monkeypatch.setattr(planner, "ROOT", tmp_path)
    monkeypatch.setattr(planner, "PARTS", (planner.Part("random", lambda: iter([("chain", CHAIN)])),))
    monkeypatch.setattr(planner, "_warm_up", lambda: None)
    monkeypatch.setattr(planner, "measure_shapes", measured)
    monkeypatch.setattr(planner, "problems", lambda: {"chain": CHAIN})
    assert planner.main(arguments) == 0
    text = (tmp_path / place / "benchmarks" / "PLANNER.md").read_text()
    assert "- **met**: 6 new shapes of 200 buffers: all under 5 ms" in text
    assert [f"| {pools} | 2 | 3.00 |" in text for pools in POOLS] == [True] * 3
    assert ("| chain |" in text) is (not arguments)


def test_an_interrupted_run_says_that_new_shapes_were_not_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def interrupt(_: int) -> Shapes:
        raise KeyboardInterrupt

    monkeypatch.setattr(planner, "ROOT", tmp_path)
    monkeypatch.setattr(planner, "PARTS", (planner.Part("random", lambda: iter([("chain", CHAIN)])),))
    monkeypatch.setattr(planner, "_warm_up", lambda: None)
    monkeypatch.setattr(planner, "measure_shapes", interrupt)
    with pytest.raises(KeyboardInterrupt):
        planner.main([])
    text = (tmp_path / "benchmarks" / "PLANNER.md").read_text()
    assert "- New shapes of programs with 200 buffers: not measured" in text


def test_families_of_programs_repeat() -> None:
    assert Family.random(1, 2) == Family.random(1, 2) != Family.random(2, 2)
    assert [len(Family.random(1, 2).problem(*at).pools) for at in SAMPLES] == [2, 2, 2]


def test_what_suffers_without_a_strategy() -> None:
    """The local search alone gets this problem to its bound; nothing is left out for good."""
    problem = random_problem(1_000)
    before = plan(problem)
    (found,) = worse_without({"random": problem})
    assert (found.strategy, found.problem, found.arena) == ("search", "random", before.arena)
    assert found.larger == plan(problem, effort=0).arena > before.arena
    assert plan(problem) == before


def test_what_suffers_without_loans_and_without_search_among_ties() -> None:
    lent = Family.random(2, 3).problem(64, 64)
    without = [(each.strategy, each.arena < each.larger) for each in worse_without_loans({"lent": lent})]
    assert without == [("borrow/area", True), (ALL_LOANS, True)]
    assert LOAN_ORDERS.keys() == {"borrow/peak", "borrow/area"}
    assert [each.strategy for each in worse_without_search({"tied": tied_problem(80, 4)})] == [TIES]


def test_limits_for_all_sizes_need_loans_that_always_fit() -> None:
    assert {each.strategy for each in worse_for_all_sizes(1)} == {SURE, REPACKED}


def test_the_page_names_what_suffers_most() -> None:
    worse = [Worse("search", "a", 100, 101), Worse("search", "b", 100, 150), Worse(ALL_GREEDY, "c", 100, 120)]
    page = render({"date": "", "machine": "", "load": 0, "versions": VERSIONS}, [], [], None, worse)
    assert "| `search` | b | 100 | 150 | 50.00% |" in page
    assert "| `greedy/…` | c | 100 | 120 | 20.00% |" in page
    assert "| a |" not in page


def test_every_strategy_has_a_problem_that_gets_worse_without_it() -> None:
    """In the page that was written last; those that use others, and the plan without reuse, are nothing to leave out."""
    text = (Path(__file__).parents[2] / "benchmarks" / "PLANNER.md").read_text(encoding="utf-8")
    table = text.partition("## What each strategy is for")[2]
    rows = re.findall(r"^\| `(.*?)` \| .* \| ([\d,]+) \| ([\d,]+) \| ", table, re.MULTILINE)
    worse = {name for name, arena, larger in rows if int(larger.replace(",", "")) > int(arena.replace(",", ""))}
    others = {*LOAN_ORDERS, ALL_LOANS, TIES, SURE, REPACKED}
    assert worse == {*STRATEGIES, ALL_GREEDY, PASSES, EJECTION, *others} - {PORTFOLIO, NO_REUSE, "exact"}
