"""A run of the planner's benchmark as a Markdown page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from benchmarks.planner_cases.problems import CAPACITY, MINIMALLOC_SECONDS
from benchmarks.planner_cases.shapes import COUNT, Shapes, bar
from benchmarks.planner_cases.without import ALL_GREEDY, ALL_LOANS, EJECTIONS, REPACKED, SURE, TIES, Worse
from hotdesk.planning import Plan

NONE = "–"
MODEL_PROBLEMS = 20
"""Ten example models, with fusion and without."""

BELOW = ("C", "D", "J")
"""Instances of MiniMalloc whose live sum is below the capacity they are published with."""

COLUMNS = (
    *("problem", "buffers", "bound", "proof", "arena", "gap", "strategy", "CPU s", "wall s"),
    *("in one arena", "MLIR best-fit", "MLIR CPU s"),
)
TITLES = {
    "minimalloc": f"MiniMalloc's challenging instances, asked to fit {CAPACITY:,} bytes",
    "below": "Those of them that may need less, asked for the bound",
    "traces": "Traces",
    "models": "Live ranges of the example models",
    "random": "Random problems",
}

SHAPES_TITLE = f"New shapes of programs with {COUNT} buffers"
SHAPE_COLUMNS = ("pools", "shapes", "median ms", "p99 ms", "most ms", "above the bound", "at most")

WITHOUT_TITLE = "What each strategy is for"
WITHOUT_COLUMNS = ("without", "problem", "arena with all", "arena without it", "larger by")
WITHOUT_TEXT = f"""\
The problem that suffers most, among traces, MiniMalloc's instances and random problems, where a strategy is left out: of the
portfolio; for `dive` and `cp-sat` of `exact`, asked for MiniMalloc's capacity; for `ejection`, which is tried only where there is
time, of {EJECTIONS:,} placements behind the portfolio. `{ALL_GREEDY}` leaves out all greedy orders at once.

The orders of loans, `{ALL_LOANS}` for all of them, are left out of the portfolio without search, on the models' problems and on
random programs with pools; `{TIES}` on random problems with ties and gaps. `{SURE}` and `{REPACKED}` are about
limits that are proven for all sizes of such programs: from stackings with those loans alone that always fit, and packed anew.
"""

DEFINITIONS = """\
Bytes. Every plan was checked by `hotdesk.planning.check`.

- **bound**: no plan has a smaller arena; **proof** says why: the buffers live at one step ("live"), or a search that left
  nothing out; below each table, the step, and the footprints of the largest buffers in the proof and of all others together, less
  what pools can lend there. **gap** is the arena over the bound; 0 is proven optimal.
- **CPU s**: processor time of `plan`, which runs on one thread; **wall s**: by the clock, on a machine that others used too.
- **in one arena**: without borrowing the memory of results, which only the models' problems offer.
- **MLIR best-fit**: `static-memory-planner-analysis{algorithm=best-fit}` from the torch-mlir wheel, on a function that allocates,
  writes and frees the same buffers at the same steps.
- The problems of the models were taken from the compiler by `benchmarks/planner_cases/live_ranges.py`; "unfused" leaves out
  `linalg-fuse-elementwise-ops`. Random problems: see `planner_cases/problems.py`.
- New shapes: see `planner_cases/shapes.py`. Processor time of what a call with sizes that are new does to be planned, with the
  check of the plan, the least of several goes.
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One problem: its plan, the arena without pools, seconds, and what MLIR's planner made of it, if it was asked.

    `certificate` says what proves the bound: the step, and the buffers with their bytes.
    """

    part: str
    name: str
    buffers: int
    plan: Plan
    alone: int
    seconds: float
    wall: float
    peer: tuple[int, float] | None
    certificate: str = ""

    def cells(self) -> tuple[str, ...]:
        """The cells of the row, in the order of `COLUMNS`."""
        made = self.plan
        peer = (f"{self.peer[0]:,}", f"{self.peer[1]:.2f}") if self.peer else (NONE, NONE)
        return (
            *(self.name, f"{self.buffers:,}", f"{made.bound.bytes:,}", made.bound.kind, f"{made.arena:,}"),
            *(f"{made.gap:.2%}", made.strategy, f"{self.seconds:.2f}", f"{self.wall:.2f}", f"{self.alone:,}", *peer),
        )


def render(
    around: Mapping[str, Any],
    rows: Sequence[Row],
    parts: Sequence[str],
    shapes: Sequence[Shapes] | None = None,
    worse: Sequence[Worse] = (),
) -> str:
    """The page; parts without rows, and instances that are missing, are named. `shapes` are None where they are no part of it."""
    versions = ", ".join(f"{name} {around['versions'][name]}" for name in ("python", "torch-mlir", "numpy"))
    head = (
        f"# The planner\n\nWritten by `make bench-planner` on {around['date']}. {around['machine']}; "
        f"load at the start {around['load']:.1f}.\n{versions}.\n\n{DEFINITIONS}\n"
    )
    lines = [line for part in parts for line in bars(part, [r for r in rows if r.part == part])]
    tables = [_table(part, [row for row in rows if row.part == part]) for part in parts]
    if shapes:
        lines.append(_bar(*bar(shapes)))
        tables.append(_rows(SHAPES_TITLE, SHAPE_COLUMNS, [row.cells() for row in shapes]))
    elif shapes is not None:
        lines.append(f"{SHAPES_TITLE}: not measured")
    if worse:
        tables.append(_rows(WITHOUT_TITLE, WITHOUT_COLUMNS, _most_suffering(worse)) + f"\n{WITHOUT_TEXT}")
    verdicts = "\n".join(f"- {line}" for line in lines)
    return "\n".join([head + f"## Bars\n\n{verdicts}\n", *tables])


def _most_suffering(worse: Sequence[Worse]) -> list[tuple[str, ...]]:
    """For each strategy, in the order given, the row that grows most."""
    names = dict.fromkeys(each.strategy for each in worse)
    most = (max((each for each in worse if each.strategy == name), key=lambda each: each.share) for name in names)
    return [(f"`{w.strategy}`", w.problem, f"{w.arena:,}", f"{w.larger:,}", f"{w.share:.2%}") for w in most]


def bars(part: str, rows: Sequence[Row]) -> list[str]:
    """One line for each bar of a part: whether it is met, and by which figures."""
    if not rows:
        return [f"{TITLES[part]}: not measured, or the files are not there"]
    total = sum(row.seconds for row in rows)
    longest = max(row.seconds for row in rows)
    worst = max(row.plan.gap for row in rows)
    if part == "minimalloc":
        fit = [row.name for row in rows if row.plan.arena <= CAPACITY]
        quick = [row.name for row in rows if row.plan.arena <= CAPACITY and row.seconds <= 10]
        everything = len(rows) == len(MINIMALLOC_SECONDS)
        return [
            _bar(
                everything and len(fit) == len(rows) and total <= 120,
                f"all eleven at capacity within 120 s: {len(fit)} of {len(rows)} ({' '.join(fit)}), {total:.1f} s of CPU",
            ),
            _bar(len(quick) >= 8, f"eight within 10 s each: {len(quick)} ({' '.join(quick)})"),
        ]
    if part == "below":
        below = [f"{row.name} {row.plan.arena:,}" for row in rows if row.plan.arena < CAPACITY]
        return [_bar(len(below) == len(BELOW), f"C, D and J below capacity: {', '.join(below) or 'none'}")]
    if part == "traces":
        return [
            _bar(
                len(rows) == 4 and worst <= 0.01 and longest <= 10,
                f"four traces within 1 % of the bound, 10 s each: {len(rows)} measured, {worst:.2%}, {longest:.1f} s at most",
            )
        ]
    if part == "models":
        proven = sum(row.plan.proven_optimal for row in rows)
        return [
            _bar(
                proven == len(rows) == MODEL_PROBLEMS and total <= 1,
                f"all {MODEL_PROBLEMS} proven optimal, 1 s in total: {proven} of {len(rows)} measured, {total:.2f} s",
            ),
            _beside_mlir(rows),
        ]
    last = rows[-1]
    return [
        _bar(
            last.plan.gap <= 0.05 and last.seconds <= 30,
            f"{last.name} buffers within 5 % of the bound and 30 s: {last.plan.gap:.2%}, {last.seconds:.1f} s",
        )
    ]


def _beside_mlir(rows: Sequence[Row]) -> str:
    """In one arena, what MLIR's planner takes at least as much for; it is asked of each problem that has buffers."""
    asked = [(row.alone, row.peer[0]) for row in rows if row.peer]
    without = len(rows) - len(asked)
    least = sum(ours <= theirs for ours, theirs in asked)
    ratio = fmean([theirs / ours for ours, theirs in asked if ours] or [1.0])
    return _bar(
        least == len(asked) and all(row.peer or not row.buffers for row in rows),
        f"in one arena never above MLIR's best-fit: {least} of {len(asked)}, which takes {ratio:.2f} times as much on average; "
        f"{without} have nothing to plan",
    )


def _bar(met: bool, text: str) -> str:
    return f"**{'met' if met else 'not met'}**: {text}"


def _table(part: str, rows: Sequence[Row]) -> str:
    columns = (*COLUMNS, "MiniMalloc C++ s") if part == "minimalloc" else COLUMNS
    cells: list[tuple[str, ...]] = []
    for row in rows:
        published = (f"{MINIMALLOC_SECONDS[row.name]:.1f}",) if part == "minimalloc" else ()
        cells.append((*row.cells(), *published))
    return _rows(TITLES[part], columns, cells) + _certificates(rows)


def _certificates(rows: Sequence[Row]) -> str:
    """What proves the bound of each row that has one: a list."""
    lines = [f"- {row.name}: {row.certificate}" for row in rows if row.certificate]
    return "\n".join(["", "What proves the bounds:", "", *lines, ""]) if lines else ""


def _rows(title: str, columns: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    lines = [f"## {title}\n", f"| {' | '.join(columns)} |", "|" + " --- |" * len(columns)]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in cells), ""])
