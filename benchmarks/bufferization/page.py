"""A run as a Markdown page and as tables on a terminal."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from rich.table import Table

from benchmarks.bufferization.bars import Bar, bars, growth
from benchmarks.bufferization.cases import Case
from benchmarks.bufferization.runs import Row

NONE = "–"
TABLE_WIDTH = 150
COLUMNS = (
    *("module", "as", "side", "copies", "copied MB", "allocations", "allocated MB", "peak MB"),
    *("bufferize s", "all passes s", "wall s"),
)
_TITLES = {
    "models": "Models",
    "depth": "Models of growing depth, small hidden sizes",
    "generated": "Generated programs",
}

DEFINITIONS = """\
Every side starts from the same linalg-on-tensors module and ends with buffers freed. MB = 10⁶ bytes.

- **mlir**: `eliminate-empty-tensors`, `one-shot-bufferize` with function boundaries and identity layouts, `canonicalize`, `cse`,
  `buffer-results-to-out-params` (allocations hoisted), `buffer-deallocation-pipeline`, `optimize-allocation-liveness`, all from
  the torch-mlir wheel. Results are also left returned, without the out-params pass; what copies less, then peaks lower, counts.
  torch-mlir's scans go to buffers by its own `tm-tensor-bufferize`, first and untimed.
- **one-shot**: Hotdesk on exactly that module: readers of concatenations in parts, pads and concatenations taken apart, cheap
  ops recomputed, what is inserted computed in place, destinations chosen, bufferized, freed.
- **pipeline**: Hotdesk's own tensor passes and memory stage, from the unfused module, as the compiler runs them. Workspaces of
  convolutions are allocations, and what `@prepare` keeps of the weights counts from start to end: MLIR's side has neither.
- **as**: fused is after `linalg-fuse-elementwise-ops`, `canonicalize`, `cse`.
- **copies**: `memref.copy`, clones, `linalg.copy`, and generics that only yield an input through the map they write by, which is
  how Hotdesk spells a copy; transposes and broadcasts are none. An op in a loop counts once. Same counter for all sides.
- **allocations**: results that became arguments are none.
- **peak**: allocations and deallocations carried out in program order. Arguments are the caller's and only read, on all sides; a
  result counts from its first touch (from its allocation, when it is returned) to the end.
- **bufferize**: seconds until all is on buffers; **all passes** adds freeing. The pipeline's begin with destinations.
  Both, and the bars, are processor time, for machines are shared; **wall** is all passes by the clock. All run on one thread.
  Without parsing and printing, verified after each pass on all sides, medians of interleaved runs, each in a fresh context of a
  process that has run before; growth is by quickest runs. A run of MLIR's beyond the limit (wall, with parsing) ends its side.
"""


@dataclass(frozen=True, slots=True)
class Page:
    """What one run measured, and on what."""

    around: Mapping[str, Any]
    commit: str
    limit: float
    cases: tuple[Case, ...]
    rows: tuple[Row, ...]

    def render(self) -> str:
        """The Markdown page."""
        versions = ", ".join(f"{name} {self.around['versions'][name]}" for name in ("python", "torch-mlir", "torch"))
        head = (
            "# Bufferization beside MLIR's\n\n"
            f"Written by `make bench-bufferize` on {self.around['date']}, commit {self.commit}. {self.around['machine']}; "
            f"load at the start {self.around['load']:.1f}; limit of a run {self.limit:.0f} s.\n{versions}.\n"
        )
        groups = [self._group(group) for group in _TITLES]
        return "\n".join(
            part for part in (head, DEFINITIONS, verdicts(bars(self.rows)), *groups, self._growth()) if part
        )

    def tables(self) -> Iterable[Table]:
        """The same figures for a terminal."""
        for group, title in _TITLES.items():
            rows = self._rows(group)
            if rows:
                shown = Table(*COLUMNS, title=title)
                for row in rows:
                    shown.add_row(*cells(row))
                yield shown
        yield verdict_table(bars(self.rows))

    def _rows(self, group: str) -> list[Row]:
        names = {case.name for case in self.cases if case.group == group}
        return [row for row in self.rows if row.case in names]

    def _group(self, group: str) -> str:
        rows = self._rows(group)
        if not rows:
            return ""
        notes = [f"- {row.case}, {row.variant}, {row.side}: {row.note}" for row in rows if row.note]
        return table(f"## {_TITLES[group]}\n", COLUMNS, map(cells, rows)) + (
            "\n".join(["", *notes, ""]) if notes else ""
        )

    def _growth(self) -> str:
        lines: list[tuple[str, ...]] = []
        families = {
            case.family: [c for c in self.cases if c.family == case.family] for case in self.cases if case.family
        }
        for family, members in families.items():
            for side in ("mlir", "one-shot"):
                if len(members) > 1:
                    lines.append((family, side, *_family(self.rows, members, side)))
        title = (
            "## Growth\n\nProcessor seconds of all passes by size, quickest runs; growth between sizes over linear.\n"
        )
        return table(title, ("program", "side", "seconds", "growth ÷ linear", "first to last"), lines) if lines else ""


def cells(row: Row) -> tuple[str, ...]:
    """The cells of a row, in the order of `COLUMNS`."""
    counts = row.counts
    sizes = (
        (str(counts.copies), _mb(counts.copied), str(counts.allocations), _mb(counts.allocated))
        if counts
        else (NONE, NONE, NONE, NONE)
    )
    without = _note(row)
    return (
        *(row.case, row.variant, row.side),
        *sizes,
        _mb(row.peak) if row.peak is not None else NONE,
        *(_seconds(row.seconds(freeing)) if row.runs else without for freeing in (False, True)),
        _seconds(median(row.walls)) if row.walls else without,
    )


def _note(row: Row) -> str:
    """What stands for the time that is not there: the limit, or the code of an error."""
    return row.note if row.note.startswith(">") else row.note.partition(" ")[0] or NONE


def _family(rows: Sequence[Row], members: Sequence[Case], side: str) -> tuple[str, str, str]:
    times = {row.case: row for row in rows if row.side == side and row.variant != "fused"}
    seconds = [
        f"{case.size:,}: {_seconds(times[case.name].best()) if times[case.name].runs else _note(times[case.name])}"
        for case in members
        if case.name in times
    ]
    steps = list(itertools.pairwise(members))
    factors = [growth(rows, side, a.name, b.name, 1) for a, b in (*steps, (members[0], members[-1]))]
    shown = [
        f"{factor * a.size / b.size:.2f}" if factor is not None else NONE
        for factor, (a, b) in zip(factors, (*steps, (members[0], members[-1])), strict=True)
    ]
    return "; ".join(seconds), ", ".join(shown[:-1]), shown[-1]


def verdict_table(found: Sequence[Bar]) -> Table:
    """Bars for a terminal."""
    shown = Table("bar", "met", "found", title="Bars")
    for bar in found:
        shown.add_row(bar.text, _met(bar), "\n".join(bar.found))
    return shown


def verdicts(found: Sequence[Bar]) -> str:
    """Bars as Markdown."""
    lines: list[str] = []
    for bar in found:
        lines.append(f"- **{_met(bar)}**: {bar.text}" + (":" if bar.found else ""))
        lines += [f"  - {line}" for line in bar.found]
    return "\n".join(("## Bars\n", *lines, ""))


def _met(bar: Bar) -> str:
    return {True: "met", False: "not met", None: "not measured"}[bar.met]


def table(title: str, columns: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table as Markdown."""
    body = [f"| {' | '.join(line)} |" for line in (columns, *lines)]
    return "\n".join((title, body[0], "|" + "---|" * len(columns), *body[1:], ""))


def _mb(size: int) -> str:
    return f"{size / 1e6:.3f}"


def _seconds(seconds: float | None) -> str:
    if seconds is None:
        return NONE
    return f"{seconds:.3f}" if seconds < 1 else f"{seconds:.2f}"
