"""The ways to run a program, as one record: bytes against milliseconds and against work done twice. Each format is made of it.

    {"format": "hotdesk-tradeoff", "version": 1, "name": "main", "points": [{"name": "as it is", "peak": 6025120, …}, …], …}

`docs/schema/tradeoff-1.json` is the schema of the JSON. Sizes are in bytes, times in seconds.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from hotdesk.report.text import size

TRADEOFF_FORMAT = "hotdesk-tradeoff"
TRADEOFF_VERSION = 1
TIME, WORK = "time", "work"
"""What bytes are held against."""


@dataclass(frozen=True, slots=True)
class TradeoffPoint:
    """A way to run the program.

    Attributes:
        name: `as it is`, `order peak`, `budget 5,121,352`, or whose run it is, such as `eager PyTorch`.
        order, budget: the options that give it; None where it is another's.
        peak: the most bytes that a call has in use above weights and inputs, results included; None where nobody told.
        again: bytes that operations write more than those of the program as it is; None where it is another's.
        operations: how many more there are.
        prepared: bytes that are computed from the weights once and kept.
        seconds, best: the median and the least time of a call; None where it was not measured.
        calls: how many were timed.
        note: why something is missing, or how its bytes were found.
    """

    name: str
    order: str | None = None
    budget: int | None = None
    peak: int | None = None
    again: int | None = None
    operations: int | None = None
    prepared: int | None = None
    seconds: float | None = None
    best: float | None = None
    calls: int = 0
    note: str = ""

    @property
    def is_ours(self) -> bool:
        return self.order is not None

    @property
    def options(self) -> str:
        """The options of a command line that give it."""
        order = "--order peak" if self.order == "peak" else ""
        return order if self.budget is None else f"--budget {self.budget}"

    @property
    def arguments(self) -> str:
        """The same in Python: keyword arguments of `hotdesk.compile`."""
        order = "order='peak'" if self.order == "peak" else ""
        return order if self.budget is None else f"budget={self.budget}"


@dataclass(frozen=True, slots=True)
class Tradeoff:
    """The ways to run a program, those of Hotdesk first.

    Attributes:
        name, symbols: of the program, and the sizes of the calls that were timed.
        command: what the command line of a point begins with, such as `hotdesk run model.onnx`; "" in Python.
        threads: how many programs of Hotdesk's use.
        points: see their class.
        refused: why no lower budget is met; "" if none was refused.
        hotdesk: the version that made it.
    """

    name: str
    symbols: tuple[tuple[str, int], ...]
    command: str
    threads: int
    points: tuple[TradeoffPoint, ...]
    refused: str = ""
    hotdesk: str = ""

    def how(self, point: TradeoffPoint) -> str:
        """What to write for a point of Hotdesk's; the name of another."""
        if not point.is_ours:
            return point.name
        if not self.command:
            return f"hotdesk.compile(…{', ' * bool(point.arguments)}{point.arguments})"
        return f"{self.command} {point.options}".rstrip()

    def unbeaten(self, point: TradeoffPoint) -> tuple[str, ...]:
        """In what nothing beats a point: `time`, `work` done twice, or both. To beat it, another takes no more of either, and
        less of bytes or of that."""
        return tuple(name for name in (TIME, WORK) if self._stands(point, name))

    def _stands(self, point: TradeoffPoint, against: str) -> bool:
        at = _place(point, against)
        others = (_place(other, against) for other in self.points)
        return at is not None and not any(o is not None and o != at and o[0] <= at[0] and o[1] <= at[1] for o in others)

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it, derived figures included."""
        return {
            "format": TRADEOFF_FORMAT,
            "version": TRADEOFF_VERSION,
            "hotdesk": self.hotdesk,
            "name": self.name,
            "symbols": dict(self.symbols),
            "command": self.command,
            "threads": self.threads,
            "points": [
                {**asdict(point), "how": self.how(point), "unbeaten": list(self.unbeaten(point))}
                for point in self.points
            ],
            "refused": self.refused,
        }

    def to_json(self) -> str:
        """The JSON, with a line for each point."""
        found = self.to_dict()
        rows = ",\n".join(f"  {json.dumps(each)}" for each in found["points"])
        parts = (
            f" {json.dumps(key)}: " + (f"[\n{rows}\n ]" if key == "points" else json.dumps(value))
            for key, value in found.items()
        )
        return "{\n" + ",\n".join(parts) + "\n}\n"

    def __str__(self) -> str:
        return "\n".join(_lines(self))


def _place(point: TradeoffPoint, against: str) -> tuple[int, float] | None:
    cost = point.seconds if against == TIME else point.again
    return None if point.peak is None or cost is None else (point.peak, cost)


COLUMNS = ("unbeaten", "peak", "ms", "written twice", "operations", "how")
"""Of the table in all formats."""


def cells(made: Tradeoff, point: TradeoffPoint) -> tuple[str, ...]:
    """The row of a point, by column."""
    return (
        ", ".join(made.unbeaten(point)),
        "" if point.peak is None else size(point.peak),
        "" if point.seconds is None else f"{point.seconds * 1e3:.3f}",
        "" if point.again is None else size(point.again),
        "" if point.operations is None else f"{point.operations:+}",
        made.how(point),
    )


def title_of(made: Tradeoff) -> str:
    """The name of the program, its sizes, and how many points there are."""
    at = ", ".join(f"{name} = {value}" for name, value in made.symbols)
    ours = sum(point.is_ours for point in made.points)
    beside = len(made.points) - ours
    ways = f"{ours} way{'s' * (ours > 1)} to run it" + (f", {beside} beside" if beside else "")
    return f"{made.name}{f' ({at})' if at else ''}: {ways}"


def _lines(made: Tradeoff) -> Iterator[str]:
    yield title_of(made)
    rows = [COLUMNS, *(cells(made, point) for point in made.points)]
    yield from _aligned(rows)
    for point in made.points:
        if point.note:
            yield f"{point.name}: {point.note}"
    if made.refused:
        yield f"lower: {made.refused}"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows as columns, numbers to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        texts = [
            text.rjust(width) if 0 < i < len(row) - 1 else text.ljust(width)
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(texts).rstrip()


def command_line(verb: str, model: str, options: Mapping[str, object]) -> str:
    """What a command line on a model begins with, and options that are given."""
    words = ["hotdesk", verb, model]
    for name, value in options.items():
        if value is True:
            words.append(f"--{name}")
        elif value:
            words += [f"--{name}", str(value)]
    return shlex.join(words)
