"""Two reports side by side: what a change does to the memory of a program, and which buffers and submodules did it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hotdesk.report.document import BufferEntry, Document
from hotdesk.report.limits import grown
from hotdesk.report.text import counted, size

FIGURES = ("peak", "arena", "lower_bound", "no_reuse", "outputs", "weights", "prepared", "allocations")
_TITLES = {"lower_bound": "bound", "no_reuse": "no reuse", "allocations": "buffers"}
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of both reports: bytes, or a number of buffers."""

    name: str
    before: int
    after: int

    @property
    def change(self) -> int:
        return self.after - self.before

    @property
    def percent(self) -> float | None:
        return 100 * self.change / self.before if self.before else None

    @property
    def is_count(self) -> bool:
        return self.name == "buffers"


@dataclass(frozen=True, slots=True)
class Diff:
    """What differs between two reports.

    Attributes:
        before, after: their names.
        figures: those of `FIGURES`, equal ones too.
        new, gone: the buffers at the peak of one of them that the other one does not have at its own, the largest first.
        modules: bytes at the peak by submodule, where they differ, the largest change first.
        decisions: how often each outcome was decided, where that differs.
    """

    before: str
    after: str
    figures: tuple[Figure, ...]
    new: tuple[BufferEntry, ...]
    gone: tuple[BufferEntry, ...]
    modules: tuple[Figure, ...]
    decisions: tuple[Figure, ...]

    @property
    def is_equal(self) -> bool:
        """Whether both take the same memory."""
        changed = any(figure.change for figure in self.figures)
        return not (changed or self.new or self.gone or self.modules or self.decisions)

    def to_dict(self) -> dict[str, Any]:
        def figure(each: Figure) -> dict[str, Any]:
            return {"name": each.name, "before": each.before, "after": each.after}

        def buffer(each: BufferEntry) -> dict[str, Any]:
            names = ("name", "shape", "type", "op", "line", "module", "bytes")
            return {name: getattr(each, name) for name in names}

        return {
            "before": self.before,
            "after": self.after,
            "figures": list(map(figure, self.figures)),
            "new": list(map(buffer, self.new)),
            "gone": list(map(buffer, self.gone)),
            "modules": list(map(figure, self.modules)),
            "decisions": list(map(figure, self.decisions)),
        }

    def __str__(self) -> str:
        return "\n".join(_text(self))

    def markdown(self) -> str:
        """A comment for GitHub."""
        return "\n".join(_markdown(self)) + "\n"


def diff(before: Document, after: Document, names: tuple[str, str] | None = None) -> Diff:
    """What differs between two reports; `names` is what they are called, by default by their programs."""
    first, second = names or (before.name, after.name)
    memories = before.memory, after.memory
    figures = [Figure(_TITLES.get(name, name), *(getattr(memory, name) for memory in memories)) for name in FIGURES]
    return Diff(
        *(first, second, tuple(figures), grown(after, before), grown(before, after)),
        _changed(_by_module(before), _by_module(after)),
        _changed(_outcomes(before), _outcomes(after)),
    )


def _by_module(made: Document) -> Counter[str]:
    found: Counter[str] = Counter()
    for each in made.at_peak:
        found[each.module or each.op] += each.bytes
    return found


def _outcomes(made: Document) -> Counter[str]:
    return Counter(each.outcome for each in made.decisions)


def _changed(before: Counter[str], after: Counter[str]) -> tuple[Figure, ...]:
    figures = [Figure(name, before[name], after[name]) for name in sorted({*before, *after})]
    return tuple(sorted((each for each in figures if each.change), key=lambda each: -abs(each.change)))


def _text(found: Diff) -> Iterator[str]:
    yield f"{found.before} → {found.after}"
    if found.is_equal:
        yield "the same memory"
        return
    for figure in found.figures:
        yield f"{figure.name:<11}{_spelled(figure, figure.before)} → {_spelled(figure, figure.after)}{_change(figure)}"
    for title, buffers in (("new", found.new), ("gone", found.gone)):
        for each in buffers[:_SHOWN]:
            yield f"{title:<11}{size(each.bytes)}  {each.title}  {_origin(each)}"
        yield from _more(title, buffers)
    for each in found.modules[:_SHOWN]:
        yield f"{'at peak':<11}{size(each.before)} → {size(each.after)}  {each.name}"
    if found.decisions:
        told = ", ".join(f"{each.before} → {each.after} {each.name}" for each in found.decisions)
        yield f"{'decisions':<11}{told}"


def _more(title: str, buffers: Sequence[BufferEntry]) -> Iterator[str]:
    rest = buffers[_SHOWN:]
    if rest:
        yield f"{title:<11}{size(sum(each.bytes for each in rest))} in {len(rest):,} more"


def _markdown(found: Diff) -> Iterator[str]:
    peak = found.figures[0]
    verdict = "the same" if not peak.change else f"{_signed(peak.change)} bytes{_percent(peak)}"
    yield f"### Memory: peak {size(peak.after)}, {verdict}"
    yield ""
    if found.is_equal:
        yield f"`{_code(found.before)}` and `{_code(found.after)}` take the same memory."
        return
    yield f"| | `{_code(found.before)}` | `{_code(found.after)}` | change |"
    yield "|---|--:|--:|--:|"
    for figure in found.figures:
        change = f"{_signed(figure.change)}{_percent(figure)}" if figure.change else "="
        yield f"| {figure.name} | {figure.before:,} | {figure.after:,} | {change} |"
    for title, buffers in (("New at the peak", found.new), ("Gone from the peak", found.gone)):
        if not buffers:
            continue
        yield ""
        together = f"{counted(len(buffers), 'buffer')}, {size(sum(each.bytes for each in buffers))}"
        yield f"<details><summary>{title}: {together}</summary>"
        yield ""
        yield "| bytes | buffer | operation | submodule | line |"
        yield "|--:|---|---|---|---|"
        for each in buffers[:_SHOWN]:
            cells = (each.title, each.op, each.module, each.line)
            yield f"| {each.bytes:,} | " + " | ".join(f"`{_code(cell)}`" if cell else "" for cell in cells) + " |"
        yield ""
        yield "</details>"


def _code(text: str) -> str:
    """Text for a code span in a cell of a table."""
    return text.replace("`", "'").replace("|", "\\|").replace("\n", " ")


def _spelled(figure: Figure, value: int) -> str:
    return f"{value:,}" if figure.is_count else size(value)


def _change(figure: Figure) -> str:
    return f"  {_signed(figure.change)}{_percent(figure)}" if figure.change else ""


def _percent(figure: Figure) -> str:
    return "" if figure.percent is None else f" ({figure.percent:+.1f} %)"


def _signed(value: int) -> str:
    return f"{value:+,}"


def _origin(each: BufferEntry) -> str:
    inside = f" in {each.module}" if each.module else ""
    return f"{each.op}{inside}" + (f" at {each.line}" if each.line else "")
