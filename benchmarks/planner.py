"""The planner on published instances, traces, the example models and random problems, beside MLIR's best-fit.

Prints tables and writes `benchmarks/PLANNER.md`. A run of some parts only writes to `build/benchmarks`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rich.console import Console

from benchmarks.measure import ROOT
from benchmarks.planner_cases.live_ranges import stored
from benchmarks.planner_cases.page import BELOW, Row, render
from benchmarks.planner_cases.peer import MOST, best_fit
from benchmarks.planner_cases.problems import CAPACITY, minimalloc, random_problem, traces
from benchmarks.planner_cases.shapes import POOLS, Shapes
from benchmarks.planner_cases.shapes import measure as measure_shapes
from benchmarks.planner_cases.without import (
    Worse,
    lending,
    problems,
    tied,
    worse_for_all_sizes,
    worse_without,
    worse_without_loans,
    worse_without_search,
)
from benchmarks.results import surroundings
from hotdesk.planning import Buffer, Plan, Problem, check, plan
from hotdesk.planning.problem.bounds import certificate, certificate_text

RANDOM_SIZES = (100, 1_000, 10_000, 100_000)


@dataclass(frozen=True, slots=True)
class Part:
    """One table: its problems, and how they are put to the planner."""

    name: str
    problems: Callable[[], Iterator[tuple[str, Problem]]]
    strategy: str = "portfolio"
    capacity: int | None = None
    effort: int | None = None


PARTS = (
    Part("models", stored),
    Part("random", lambda: ((f"{count:,}", random_problem(count)) for count in RANDOM_SIZES)),
    Part("minimalloc", minimalloc, "exact", CAPACITY),
    Part("below", lambda: (each for each in minimalloc() if each[0] in BELOW), "exact", effort=800_000),
    Part("traces", traces),
)

SHAPES = "shapes"
"""The part that plans for sizes of calls, `planner_cases/shapes.py`."""

WITHOUT = "without"
"""The part that leaves one strategy out at a time, `planner_cases/without.py`."""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    console = Console(highlight=False)
    around = surroundings()
    chosen = [part for part in PARTS if options.only in (None, part.name)]
    shapes: list[Shapes] | None = [] if options.only in (None, SHAPES) else None
    path = (ROOT / "build" / "benchmarks" if options.only else ROOT / "benchmarks") / "PLANNER.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    rows: list[Row] = []
    _warm_up()
    for part in chosen:
        for name, problem in part.problems():
            rows.append(measure(part, name, problem))
            console.print(part.name, *rows[-1].cells(), markup=False, soft_wrap=True)
            # what an interrupted run has is kept
            path.write_text(render(around, rows, [each.name for each in chosen], shapes))
    if shapes is not None:
        shapes += [measure_shapes(pools) for pools in POOLS]
        path.write_text(render(around, rows, [each.name for each in chosen], shapes))
    if options.only in (None, WITHOUT):
        worse: list[Worse] = []
        for each in chain(
            worse_without(problems()),
            worse_without_loans(lending()),
            worse_without_search(tied()),
            worse_for_all_sizes(),
        ):
            worse.append(each)
            console.print(WITHOUT, each, markup=False, soft_wrap=True)
        path.write_text(render(around, rows, [each.name for each in chosen], shapes, worse))
    console.print(path.read_text(), markup=False)
    console.print(f"wrote {path}", soft_wrap=True)
    return 0


def measure(part: Part, name: str, problem: Problem) -> Row:
    """Plans once, has the plan checked, and asks MLIR's planner for the same buffers, all in one arena.

    Raises AssertionError for a plan that breaks a rule.
    """
    wall, started = time.perf_counter(), time.process_time()
    made = plan(problem, strategy=part.strategy, capacity=part.capacity, effort=part.effort)
    seconds, wall = time.process_time() - started, time.perf_counter() - wall
    faults = check(problem, made)
    if faults:
        raise AssertionError(f"{part.name} {name}: {faults[0].message}")
    peer = best_fit(problem) if 0 < len(problem.buffers) <= MOST else None
    alone = made if not problem.pools else plan(Problem(problem.buffers), strategy=part.strategy)
    proof = _certificate(problem, made)
    return Row(part.name, name, len(problem.buffers), made, alone.arena, seconds, wall, peer, proof)


def _certificate(problem: Problem, made: Plan) -> str:
    found = certificate(problem, made.bound)
    if not found.buffers:
        return ""
    return f"{made.bound.kind}, {len(found.buffers):,} buffers at step {made.bound.step}: {certificate_text(found, 4)}"


def _warm_up() -> None:
    """Loads the solver and the compiled code, or compiles it, on a problem whose load is out of reach."""
    ranges = ((0, 2, 3), (0, 1, 3), (1, 4, 1), (1, 3, 2), (4, 5, 3), (3, 5, 3), (2, 4, 1), (2, 4, 1))
    plan((Buffer(i, *row, 1) for i, row in enumerate(ranges)), strategy="exact")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=[*(part.name for part in PARTS), SHAPES, WITHOUT], help="one part")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
