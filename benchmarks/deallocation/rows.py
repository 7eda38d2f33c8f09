"""The parent's side: a program is bufferized once, then the sides take turns at it in a child process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.bufferization.child import Child

RUNS = 3
LONG_SECONDS = 5.0
"""A side that has used so much of the clock is not run again."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program, as text, and how its figures are found.

    Attributes:
        starts: ways to a module on memrefs (`starts.started`), tried in order.
        symbols: values of symbolic sizes, for programs that are followed in order.
        sizes: dynamic sizes and scalar integers of `@main`, for programs that are run; None for the others.
        sides: names of the sides that take it.
        compared: whether a run is compared with one in which nothing is freed.
    """

    name: str
    group: str
    text: str
    starts: tuple[str, ...]
    sides: tuple[str, ...]
    symbols: Mapping[str, int] = field(default_factory=dict[str, int])
    sizes: tuple[int, ...] | None = None
    compared: bool = True


@dataclass(frozen=True, slots=True)
class Figures:
    """What a side made of a program. Bytes; `allocations`, `faults` and `differs` are of a run.

    Attributes:
        activations: the peak without what is prepared of the weights.
        conditions, comparisons: checks in the text (`checks.asked`).
        executed: checks that a run comes by; those in the text for a program that is followed in order.
        copied: copies that a run makes; those in the text for a program that is followed in order.
        allocations: buffers that the run allocated.
        faults: uses after free, double frees, leaks and the like, as the memory checker tells them.
        differs: whether it computes something else than before anything was freed.
    """

    peak: int
    activations: int
    deallocations: int
    conditions: int
    comparisons: int
    copies: int
    executed: int = 0
    copied: int = 0
    allocations: int = 0
    faults: tuple[str, ...] = ()
    differs: bool = False

    @property
    def checks(self) -> int:
        return self.conditions + self.comparisons


@dataclass(frozen=True, slots=True)
class Row:
    """One side on one program; `figures` are None, and `note` says why, where it has no result."""

    program: str
    group: str
    side: str
    figures: Figures | None = None
    seconds: tuple[float, ...] = ()
    walls: tuple[float, ...] = ()
    note: str = ""

    @property
    def processor(self) -> float | None:
        return median(self.seconds) if self.seconds else None

    @property
    def wall(self) -> float | None:
        return median(self.walls) if self.walls else None


class Bench:
    """A child process, started again when a pass has ended it."""

    def __init__(self, directory: Path, limit: float) -> None:
        self._log = directory / "worker.log"
        self._limit = limit
        self._child: Child | None = None

    def stop(self) -> None:
        if self._child is not None:
            self._child.stop()
            self._child = None

    def measure(self, program: Program) -> tuple[Row, ...]:
        """All sides of a program, their runs interleaved."""
        text, note = self._start(program)
        if text is None:
            return tuple(Row(program.name, program.group, side, note=note) for side in program.sides)
        found: dict[str, list[dict[str, Any]]] = {side: [] for side in program.sides}
        errors: dict[str, str] = {}
        for number in range(RUNS):
            for side in program.sides:
                if side in errors or sum(answer["wall"] for answer in found[side]) > LONG_SECONDS:
                    continue
                figures = "" if number else "order" if program.sizes is None else "run"
                request = {"side": side, "text": text, "figures": figures}
                answer = self._ask(
                    {**request, "sizes": program.sizes, "symbols": dict(program.symbols), "compared": program.compared}
                )
                if "error" in answer:
                    errors[side] = answer["error"]
                else:
                    found[side].append(answer)
        return tuple(_row(program, side, found[side], errors.get(side, "")) for side in program.sides)

    def _start(self, program: Program) -> tuple[str | None, str]:
        note = ""
        for start in program.starts:
            answer = self._ask({"start": start, "text": program.text})
            if "text" in answer:
                return answer["text"], ""
            note = answer["error"]
        return None, note

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._child is None or self._child.ended:
            self.stop()
            self._child = Child("benchmarks.deallocation.worker", (), self._log)
        return self._child.ask(json.dumps(request), self._limit)


def _row(program: Program, side: str, answers: list[dict[str, Any]], note: str) -> Row:
    if not answers:
        return Row(program.name, program.group, side, note=note)
    values = dict(answers[0]["figures"])
    values["faults"] = tuple(values["faults"])
    times = tuple(answer["seconds"] for answer in answers), tuple(answer["wall"] for answer in answers)
    return Row(program.name, program.group, side, Figures(**values), *times, note)
