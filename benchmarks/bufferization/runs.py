"""The parent's side: children take turns, one run each, until there are enough runs or one has used its time."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchmarks.bufferization.cases import Program
from benchmarks.bufferization.child import Child
from benchmarks.bufferization.count import Counts
from benchmarks.bufferization.sides import FREEING

FEWEST_RUNS, MOST_RUNS = 3, 9
ENOUGH_SECONDS = 1.5
LONG_SECONDS = 20.0
"""Runs beyond the fewest are made while a side has used less than the first; after the second, none is repeated."""

PATIENCE = 10


@dataclass(frozen=True, slots=True)
class Row:
    """One side on one program.

    Attributes:
        counts, peak: None when the side had no result in time, or refused.
        runs: seconds of processor time by pass, of each run.
        walls: seconds on the wall of each run.
        note: why there is no result: `> 120 s`, an error's code and message, what ended the child.
    """

    case: str
    variant: str
    side: str
    counts: Counts | None = None
    peak: int | None = None
    runs: tuple[dict[str, float], ...] = field(default=())
    walls: tuple[float, ...] = ()
    note: str = ""

    def seconds(self, freeing: bool = True) -> float | None:
        """The median over runs of all passes, or of those that bufferize without those that free."""
        totals = self._totals(freeing)
        return median(totals) if totals else None

    def best(self) -> float | None:
        """The quickest run, all passes."""
        return min(self._totals(True), default=None)

    def _totals(self, freeing: bool) -> list[float]:
        return [sum(s for name, s in run.items() if freeing or name not in FREEING) for run in self.runs]


def measure(case: str, program: Program, limit: float, directory: Path) -> tuple[Row, ...]:
    """All sides of a program, their runs interleaved.

    A run of MLIR's that takes longer than `limit` seconds ends its side; Hotdesk's may take `PATIENCE` times as long.
    """
    path = directory / "program.mlir"
    path.write_text(program.text)
    limits = {side: limit if side == "mlir" else PATIENCE * limit for side in program.sides}
    sides = {side: _Side(side, path, dict(program.symbols), limits[side]) for side in program.sides}
    try:
        for number in range(MOST_RUNS):
            for side in sides.values():
                if side.wants_more(number):
                    side.run()
    finally:
        for side in sides.values():
            side.stop()
    return tuple(side.row(case, program.variant) for side in sides.values())


class _Side:
    """A child, and what it answered."""

    def __init__(self, name: str, path: Path, symbols: dict[str, int], limit: float) -> None:
        arguments = (name, str(path), json.dumps(symbols))
        self._child = Child("benchmarks.bufferization.worker", arguments, path.parent / f"{name}.log")
        self._name = name
        self._limit = limit
        self._runs: list[dict[str, float]] = []
        self._walls: list[float] = []
        self._counts: dict[str, int] | None = None
        self._note = ""
        self._used = 0.0

    def wants_more(self, number: int) -> bool:
        if self._note and not self._runs:
            return False
        if number < FEWEST_RUNS:
            return self._used < LONG_SECONDS
        return self._used < ENOUGH_SECONDS

    def run(self) -> None:
        start = time.monotonic()
        answer = self._child.ask("", self._limit)
        if "error" in answer:
            self._note = answer["error"]
            return
        self._counts = answer.get("counts", self._counts)
        self._note = answer.get("counts_error", self._note)
        self._runs.append(answer["seconds"])
        self._walls.append(answer["wall"])
        self._used += time.monotonic() - start

    def stop(self) -> None:
        self._child.stop()

    def row(self, case: str, variant: str) -> Row:
        counts, peak = None, None
        if self._counts is not None:
            values = dict(self._counts)
            peak = values.pop("peak")
            counts = Counts(**values)
        return Row(case, variant, self._name, counts, peak, tuple(self._runs), tuple(self._walls), self._note)
