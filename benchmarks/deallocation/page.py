"""A run as a Markdown page and as tables on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table

from benchmarks.bufferization.page import NONE, table, verdict_table, verdicts
from benchmarks.deallocation.bars import bars, theirs
from benchmarks.deallocation.rows import Figures, Row
from benchmarks.deallocation.sides import ALONE, ARENA, BEST, SIDES

COLUMNS = (
    *("program", "peak mlir", "peak mlir best", "peak hotdesk", "peak shared", "peak arena"),
    *(
        "deallocs mlir",
        "deallocs hotdesk",
        "deallocs shared",
        "checks mlir",
        "checks hotdesk",
        "run mlir",
        "run hotdesk",
    ),
    *("copies mlir", "copies hotdesk", "copies shared", "s mlir", "s hotdesk", "s shared", "wall mlir", "wall shared"),
)
_TITLES = {
    "models": "models",
    "loops": "loops, seven times round",
    "examples": "examples of `tests/data/structured`",
    "random": "random programs of `tests/structured`",
    "endurance": "loops, 100,000 times round",
    "allocations": "one allocation after the other",
}

DEFINITIONS = """\
All sides start from one module on memrefs in which nothing is freed; what made it is part of a model's name. **MLIR's buffers**
are those of `eliminate-empty-tensors` and `one-shot-bufferize` after elementwise fusion, **Hotdesk's buffers** those of the
compiler, workspaces included, with its own ops as calls of declared functions, since MLIR refuses ops whose effects it does not
know. Examples and random programs are bufferized by MLIR, or by Hotdesk, which returns results as MLIR does, where MLIR does not
take them. Loops are memref IR.

"""

MEANINGS = """\

- **mlir** is judged by its side that holds least, then asks least, then copies least; `peak mlir` is its pipeline alone.
- **peak**: bytes at once. Models and chains: allocations and deallocations in program order, arguments the caller's, a result
  from its first touch to the end, what `@prepare` keeps from start to end. Others run under Hotdesk's memory checker, which also
  finds leaks, double frees and uses after a free; the lists that MLIR allocates for addresses and flags count nothing.
- **deallocs**: `memref.dealloc` in the text, those of such lists included.
- **checks**: conditions on freeing and on copying a result, and comparisons of addresses, in the text; a call of MLIR's
  `@dealloc_helper` is one. **run**: how often a run comes by them; each comparison in the helper is one. Models
  and chains, which have no loops, come by each once.
- **copies**: as in BUFFERIZE.md, in the text, those under a condition too. **run**: how many a run makes, which the bar is about.
- **s**: processor time of all passes of a side, median of three runs, or of fewer when they take 5 s, sides
  interleaved, without parsing; **wall** by the clock.
"""


@dataclass(frozen=True, slots=True)
class Page:
    """What one run measured, and on what."""

    around: Mapping[str, Any]
    commit: str
    rows: tuple[Row, ...]

    def render(self) -> str:
        """The Markdown page."""
        versions = ", ".join(f"{name} {self.around['versions'][name]}" for name in ("python", "torch-mlir", "torch"))
        head = (
            "# Freeing and sharing buffers beside MLIR's\n\n"
            f"Written by `make bench-buffers` on {self.around['date']}, commit {self.commit}. {self.around['machine']}; "
            f"load at the start {self.around['load']:.1f}.\n{versions}.\n"
        )
        sides = "".join(f"- `{name}`: `{pipeline}`\n" for name, pipeline in SIDES.items())
        sums = table("## By side\n", _SUM_COLUMNS, self._sums())
        lines = table("## By program\n", COLUMNS, self._lines(bold=True))
        return "\n".join((head, DEFINITIONS + sides + MEANINGS, verdicts(bars(self.rows)), sums, lines, self._notes()))

    def tables(self) -> Iterable[Table]:
        """The same figures for a terminal."""
        sums = Table(*_SUM_COLUMNS, title="By side")
        for line in self._sums():
            sums.add_row(*line)
        yield sums
        yield verdict_table(bars(self.rows))

    def _sums(self) -> list[tuple[str, ...]]:
        """Sums over the programs that every side takes."""
        by_program: dict[tuple[str, str], dict[str, Row]] = {}
        for row in self.rows:
            by_program.setdefault((row.group, row.program), {})[row.side] = row
        common = [
            found for found in by_program.values() if all(side in found and found[side].figures for side in SIDES)
        ]
        return [_sum(side, [found[side] for found in common]) for side in SIDES if common]

    def _lines(self, *, bold: bool) -> list[tuple[str, ...]]:
        lines: list[tuple[str, ...]] = []
        for group, title in _TITLES.items():
            names = list(dict.fromkeys(row.program for row in self.rows if row.group == group))
            if names and bold:
                lines.append((f"**{title}**", *[""] * (len(COLUMNS) - 1)))
            lines += [self._cells(name, group) for name in names]
        return lines

    def _cells(self, program: str, group: str) -> tuple[str, ...]:
        found = {row.side: row for row in self.rows if (row.program, row.group) == (program, group)}
        best = theirs(self.rows, program, group)
        alone, shared = found.get(ALONE), found.get(BEST)

        def cell(row: Row | None, figure: Callable[[Figures], int]) -> str:
            return f"{figure(row.figures):,}" if row is not None and row.figures is not None else NONE

        return (
            program,
            *(cell(row, lambda f: f.peak) for row in (found.get("mlir"), best, alone, shared, found.get(ARENA))),
            *(cell(row, lambda f: f.deallocations) for row in (best, alone, shared)),
            *(cell(row, lambda f: f.checks) for row in (best, alone)),
            *(cell(row, lambda f: f.executed) for row in (best, alone)),
            *(cell(row, lambda f: f.copies) for row in (best, alone, shared)),
            *(_seconds(row.processor if row else None) for row in (best, alone, shared)),
            *(_seconds(row.wall if row else None) for row in (best, shared)),
        )

    def _notes(self) -> str:
        refused: dict[str, list[str]] = {}
        for row in self.rows:
            if row.note:
                reason = _reason(row.note)
                refused.setdefault(reason, []).append(f"{row.program} ({row.side})")
        lines = [f"- {reason}: {'; '.join(names)}" for reason, names in refused.items()]
        wrong = [
            f"- {row.program}, {row.side}: {' '.join(row.figures.faults[0].split())}"
            for row in self.rows
            if row.figures and row.figures.faults
        ]
        parts = [("## No result\n", lines), ("## Faults\n", wrong)]
        return "\n".join("\n".join((title, *found, "")) for title, found in parts if found)


_SUM_COLUMNS = (
    "side",
    "programs",
    "peak",
    "deallocs",
    "conditions",
    "comparisons",
    "checks run",
    "copies",
    "copies run",
    "s",
)


def _sum(side: str, rows: Sequence[Row]) -> tuple[str, ...]:
    figures = [row.figures for row in rows if row.figures is not None]
    totals = (
        sum(each.peak for each in figures),
        sum(each.deallocations for each in figures),
        sum(each.conditions for each in figures),
        sum(each.comparisons for each in figures),
        sum(each.executed for each in figures),
        sum(each.copies for each in figures),
        sum(each.copied for each in figures),
    )
    return (
        side,
        str(len(figures)),
        *(f"{total:,}" for total in totals),
        _seconds(sum(row.processor or 0 for row in rows)),
    )


def _reason(note: str) -> str:
    """What MLIR says in its first error, or the note as it is."""
    _, found, rest = note.partition("error: ")
    return (rest.partition(": ")[2] if found else note).partition(" note: ")[0][:160].strip()


def _seconds(seconds: float | None) -> str:
    if seconds is None:
        return NONE
    return f"{seconds:.3f}" if seconds < 1 else f"{seconds:.2f}"
