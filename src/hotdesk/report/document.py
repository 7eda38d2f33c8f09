"""The report as one record: points, buffers, the bound and the decisions of a call. JSON, and the source of every other format.

    {"format": "hotdesk-report", "version": 1, "name": "main", "memory": {"peak": 7229344, …}, "points": […], "buffers": […], …}

`docs/schema/report-1.json` is the schema of the JSON. A point is an operation of the program by its number; a buffer is in use
from `lower` up to `upper` in these numbers. All sizes and offsets are in bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

from hotdesk.errors import ReportError
from hotdesk.explain import Decision, Outcome, Reason, Source
from hotdesk.explain.remedies import remedy
from hotdesk.report.certificates import Certificate, CertifiedBuffer
from hotdesk.report.memory import Memory
from hotdesk.report.neighbours import neighbours
from hotdesk.report.profile import Profile
from hotdesk.report.records import BufferLine, Report, summarize
from hotdesk.report.text import counted, render, size
from hotdesk.sizes.size import evaluate

FORMAT = "hotdesk-report"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Point:
    """An operation of the program.

    Attributes:
        op, line, module: its name, Python line and submodule; "" where one is not known.
        bytes: of all buffers that are in use there, results included.
        seconds: that its kernel takes, if that was measured.
    """

    op: str
    line: str
    module: str
    bytes: int
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class BufferEntry:
    """A buffer of the arena, of memory that is lent, or a result.

    Attributes:
        id: its place in `Document.buffers`; `name` is `b` and this number.
        shape, type: sizes and element type; empty where they are not known.
        op, line, module: of the operation that uses it first.
        where: `arena`, `result 0`, `lent by result 0` or `lent by input 'x'`; `offset` counts from its start.
        before, after: the buffers that had bytes of its place right before and right after it, by id.
    """

    id: int
    name: str
    shape: tuple[int, ...]
    type: str
    op: str
    line: str
    module: str
    lower: int
    upper: int
    where: str
    offset: int
    bytes: int
    before: tuple[int, ...]
    after: tuple[int, ...]

    @property
    def title(self) -> str:
        """What a table calls it: name, type and shape."""
        return f"{self.name} {self.type}[{', '.join(map(str, self.shape))}]" if self.type else self.name

    @property
    def identity(self) -> tuple[str, str, str]:
        """What it is in another version of the program, where points and lines have moved: its submodule, op and type."""
        return self.module, self.op, f"{self.type}[{','.join(map(str, self.shape))}]"


@dataclass(frozen=True, slots=True)
class DecisionEntry:
    """A decision with its reason and what would change it; `because` are the operations behind it, as op, line, module."""

    subject: str
    outcome: str
    reason: str
    text: str
    bytes: int
    remedy: str
    because: tuple[tuple[str, str, str], ...]

    @property
    def decision(self) -> Decision:
        """The decision itself, but for where a conflict is."""
        because = tuple(Source(*each) for each in self.because)
        return Decision(self.subject, Outcome(self.outcome), Reason(self.reason), because, self.bytes, hint=self.remedy)

    @property
    def line(self) -> str:
        return self.because[0][1] if self.because else ""

    @property
    def module(self) -> str:
        return self.because[0][2] if self.because else ""


@dataclass(frozen=True, slots=True)
class Series:
    """Bytes over a run of another allocator: `at` from 0, its start, to 1, its end. `source` says where this comes from."""

    name: str
    source: str
    at: tuple[float, ...]
    bytes: tuple[int, ...]

    @property
    def peak(self) -> int:
        return max(self.bytes, default=0)


@dataclass(frozen=True, slots=True)
class Document:
    """The report on a call of a program.

    Attributes:
        name, symbols: of the program, and the sizes of the call.
        memory: what the call takes; without its certificate.
        bound: what proves the lower bound, if anything does.
        points, buffers, decisions: see their classes; buffers in order of first use.
        series: other allocators' bytes, such as those of eager PyTorch.
        profile: where the time goes, as `Profile.to_dict` has it, if it was measured.
        hotdesk: the version that made it.
    """

    name: str
    symbols: tuple[tuple[str, int], ...]
    memory: Memory
    bound: Certificate | None
    points: tuple[Point, ...]
    buffers: tuple[BufferEntry, ...]
    decisions: tuple[DecisionEntry, ...]
    series: tuple[Series, ...] = ()
    profile: Mapping[str, Any] | None = None
    hotdesk: str = ""

    @property
    def peak_point(self) -> int:
        """The first point at which most bytes are in use; 0 in a program without points."""
        return max(range(len(self.points)), key=lambda i: (self.points[i].bytes, -i), default=0)

    @property
    def at_peak(self) -> tuple[BufferEntry, ...]:
        """The buffers in use at that point, the largest first."""
        return self.at(self.peak_point)

    def at(self, point: int) -> tuple[BufferEntry, ...]:
        """The buffers in use at a point, the largest first."""
        found = [each for each in self.buffers if each.lower <= point < each.upper and each.bytes]
        return tuple(sorted(found, key=lambda each: (-each.bytes, each.id)))

    @property
    def summary(self) -> Report:
        """What the report in text says."""
        lines = [
            BufferLine(
                *(each.op, each.bytes, each.line, each.lower, each.upper, each.where),
                *(each.offset, each.module, each.shape, each.type),
            )
            for each in self.at_peak
        ]
        decisions = [each.decision for each in self.decisions]
        return summarize(self.name, self.symbols, replace(self.memory, certificate=self.bound), lines, decisions)

    def __str__(self) -> str:
        return "\n".join([render(self.summary), *self._measured()])

    def _measured(self) -> Iterator[str]:
        if self.time is not None:
            yield f"{'time':<11}{self.time}"
        for each in self.series:
            yield f"{'beside':<11}{size(each.peak)}: {each.name}, {_times(each.peak, self.memory.peak)}"

    @property
    def time(self) -> str | None:
        """The time of a call in words, if it was measured."""
        if self.profile is None:
            return None
        kernels = self.profile["kernels"]
        calls = counted(sum(each["calls"] for each in kernels), "call")
        return f"{self.profile['seconds'] * 1e3:.3f} ms in {calls} of {counted(len(kernels), 'kernel')}"

    def with_series(self, series: Iterable[Series]) -> Document:
        return replace(self, series=(*self.series, *series))

    def with_profile(self, profile: Profile) -> Document:
        """With the time of each kernel, and of each point that runs one."""
        taken = dict(profile.points)
        points = tuple(replace(each, seconds=taken.get(number)) for number, each in enumerate(self.points))
        return replace(self, points=points, profile=profile.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it, derived figures included."""
        memory = {name: value for name, value in asdict(self.memory).items() if name != "certificate"}
        peak = {
            "point": self.peak_point,
            "bytes": self.points[self.peak_point].bytes if self.points else 0,
            "buffers": [each.id for each in self.at_peak],
        }
        return {
            "format": FORMAT,
            "version": VERSION,
            "hotdesk": self.hotdesk,
            "name": self.name,
            "symbols": dict(self.symbols),
            "memory": memory,
            "bound": None if self.bound is None else asdict(self.bound),
            "peak": peak,
            "points": [asdict(each) for each in self.points],
            "buffers": [asdict(each) for each in self.buffers],
            "decisions": [
                {**asdict(each), "because": [dict(zip(_ORIGIN, part, strict=True)) for part in each.because]}
                for each in self.decisions
            ],
            "series": [{**asdict(each), "peak": each.peak} for each in self.series],
            "profile": self.profile,
        }

    def to_json(self) -> str:
        """The JSON, the same for the same record, with a line for each point, buffer and decision."""
        return _spelled(self.to_dict()) + "\n"

    @classmethod
    def from_json(cls, text: str, name: str = "the report") -> Document:
        """The record of what `to_json` made; `name` is what an error calls it.

        Raises:
            ReportError: the text is no report, or of another version.
        """
        try:
            found = json.loads(text)
        except json.JSONDecodeError as error:
            raise _refused(name, f"text that is no JSON: {error}") from error
        if not isinstance(found, dict) or cast("dict[str, Any]", found).get("format") != FORMAT:
            raise _refused(name, 'JSON without "format": "hotdesk-report"')
        given = cast("dict[str, Any]", found)
        if given.get("version") != VERSION:
            raise _refused(name, f"version {given.get('version')}")
        try:
            return cls(**_fields(given))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise _refused(name, f"one that lacks or misspells a field ({error})") from error


_ORIGIN = ("op", "line", "module")


def _times(count: int, of: int) -> str:
    return f"{count / of:.2f} times the peak" if of else "where this takes nothing"


_LISTS = ("points", "buffers", "decisions", "series")


def _refused(name: str, got: str) -> ReportError:
    hint = "Write one with: hotdesk report MODEL --json FILE"
    return ReportError(name, expected=f"a report of version {VERSION} (docs/schema/report-1.json)", got=got, hint=hint)


def _spelled(found: Mapping[str, Any]) -> str:
    def entry(key: str, value: Any) -> str:
        if key in _LISTS and value:
            rows = ",\n".join(f"  {json.dumps(each)}" for each in value)
            return f" {json.dumps(key)}: [\n{rows}\n ]"
        return f" {json.dumps(key)}: {json.dumps(value)}"

    return "{\n" + ",\n".join(entry(key, value) for key, value in found.items()) + "\n}"


def _fields(given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a `Document` from its JSON."""

    def bound(each: dict[str, Any]) -> Certificate:
        return _made(Certificate, {**each, "buffers": tuple(CertifiedBuffer(**held) for held in each["buffers"])})

    def decision(each: dict[str, Any]) -> DecisionEntry:
        because = tuple(tuple(part[key] for key in _ORIGIN) for part in each["because"])
        return _made(DecisionEntry, {**each, "because": because})

    def buffer(each: dict[str, Any]) -> BufferEntry:
        return _made(BufferEntry, {**each, **{key: tuple(each[key]) for key in ("shape", "before", "after")}})

    return {
        "name": given["name"],
        "symbols": tuple((str(name), int(value)) for name, value in given["symbols"].items()),
        "memory": Memory(**given["memory"]),
        "bound": given["bound"] and bound(given["bound"]),
        "points": tuple(Point(**each) for each in given["points"]),
        "buffers": tuple(map(buffer, given["buffers"])),
        "decisions": tuple(map(decision, given["decisions"])),
        "series": tuple(Series(s["name"], s["source"], tuple(s["at"]), tuple(s["bytes"])) for s in given["series"]),
        "profile": given["profile"],
        "hotdesk": given["hotdesk"],
    }


def _made(kind: Any, fields: dict[str, Any]) -> Any:
    """A record of fields that JSON had; TypeError if one is missing or unknown."""
    return kind(**fields)


def document(
    name: str,
    symbols: Sequence[tuple[str, int]],
    memory: Memory,
    lines: Sequence[BufferLine],
    points: Sequence[Source],
    decisions: Sequence[Decision],
) -> Document:
    """The record of a call: its buffers in order of first use, the program's ops, and decisions whose bytes are numbers."""
    from importlib.metadata import version  # takes a while to load, and calls do without

    around = neighbours(
        [(each.where.removeprefix("lent by "), each.offset, each.offset + each.bytes, each.lower) for each in lines]
    )
    buffers = tuple(
        BufferEntry(
            *(number, f"b{number}", each.shape, each.element, each.name, each.location, each.module),
            *(each.lower, each.upper, each.where, each.offset, each.bytes, *around[number]),
        )
        for number, each in enumerate(lines)
    )
    live = _live(lines, len(points))
    return Document(
        name=name,
        symbols=tuple(symbols),
        memory=replace(memory, certificate=None),
        bound=memory.certificate,
        points=tuple(Point(each.op, each.location, each.module, held) for each, held in zip(points, live, strict=True)),
        buffers=buffers,
        decisions=tuple(map(_entry, decisions)),
        hotdesk=version("hotdesk"),
    )


def _live(lines: Sequence[BufferLine], count: int) -> list[int]:
    """The bytes in use at each point."""
    changes = [0] * (count + 1)
    for line in lines:
        if line.lower < line.upper <= count:
            changes[line.lower] += line.bytes
            changes[line.upper] -= line.bytes
    held, total = list[int](), 0
    for change in changes[:count]:
        total += change
        held.append(total)
    return held


def _entry(decision: Decision) -> DecisionEntry:
    return DecisionEntry(
        decision.subject,
        decision.outcome.value,
        decision.reason.value,
        decision.reason.text,
        evaluate(decision.bytes, {}),
        remedy(decision),
        tuple((each.op, each.location, each.module) for each in decision.because),
    )
