"""Where a function's buffers lie for one value of the symbols, and what there is to tell about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hotdesk.explain import Decision, Outcome, Reason, Source
from hotdesk.report.neighbours import Holders
from hotdesk.report.records import BufferLine
from hotdesk.runtime.lowered import EntryFunction
from hotdesk.sizes.size import evaluate

if TYPE_CHECKING:
    from hotdesk.planning import Plan

ALIGNMENT = 64


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything lies for one value of the symbols.

    By place in the pointer table: `in_arena` with offsets in the arena, `lent` with the place of the result or donated input that
    lends its memory and the offset in that.
    """

    plan: Plan
    in_arena: tuple[tuple[int, int], ...]
    lent: tuple[tuple[int, int, int], ...]
    numbers: Any
    sizes: tuple[int, ...]

    @property
    def bytes(self) -> int:
        """About what keeping it takes: Python's records and numbers, a little more rather than less."""
        return 2048 + 400 * len(self.plan.placements) + 40 * len(self.sizes) + 8 * len(self.numbers)


def buffer_lines(
    lowered: EntryFunction, layout: Layout, inputs: Mapping[int, str], symbols: Mapping[str, int]
) -> tuple[BufferLine, ...]:
    """Every buffer of the arena and every result with memory of its own, in the order of first use. Results live to the end.

    `inputs` are the names of the inputs, by place; `symbols` the sizes of the call.
    """
    end = len(lowered.sources)

    def line(place: int, where: str, offset: int) -> BufferLine:
        return _line(lowered, layout, place, where, offset, symbols)

    lines = [line(place, "arena", offset) for place, offset in layout.in_arena]
    for place, lender, offset in layout.lent:
        lines.append(line(place, f"lent by {_lender(lowered, lender, inputs)}", offset))
    for number, place in enumerate(lowered.result_places):
        if place not in lowered.donated:
            lines.append(replace(line(place, f"result {number}", 0), upper=end))
    return tuple(sorted(lines, key=lambda line: (line.lower, line.upper)))


def _lender(lowered: EntryFunction, place: int, inputs: Mapping[int, str]) -> str:
    if place in lowered.donated:
        return f"input '{inputs[place]}'"
    return f"result {lowered.result_places.index(place)}"


def _line(
    lowered: EntryFunction, layout: Layout, place: int, where: str, offset: int, symbols: Mapping[str, int]
) -> BufferLine:
    use = lowered.buffers[place]
    source = lowered.sources[use.lower] if use.lower < use.upper else Source(use.kind)
    shape = tuple(evaluate(dim, symbols) for dim in use.shape)
    size = layout.sizes[place]
    return BufferLine(
        *(source.op, size, source.location, use.lower, use.upper, where, offset, source.module, shape, use.element)
    )


def at_peak(lines: Sequence[BufferLine]) -> tuple[BufferLine, ...]:
    """The buffers in use at the step where most bytes are, largest first."""
    changes: dict[int, int] = {}
    for line in lines:
        changes[line.lower] = changes.get(line.lower, 0) + line.bytes
        changes[line.upper] = changes.get(line.upper, 0) - line.bytes
    step, live, most = 0, 0, -1
    for moment in sorted(changes):
        live += changes[moment]
        if live > most:
            step, most = moment, live
    present = [line for line in lines if line.lower <= step < line.upper and line.bytes]
    return tuple(sorted(present, key=lambda line: (-line.bytes, line.lower)))


def shared_decisions(lowered: EntryFunction, layout: Layout, inputs: Mapping[int, str]) -> list[Decision]:
    """Which buffers took over bytes of one that died before, of a result that is written later, or of a donated input.

    `inputs` are the names of the inputs, by place.
    """
    decisions: list[Decision] = []
    for place, lender, _ in layout.lent:
        source = lowered.sources[lowered.buffers[place].lower]
        subject = f"{source.op} in {_lender(lowered, lender, inputs)}"
        reason = Reason.DONATED if lender in lowered.donated else Reason.RESULT_SLOT
        decisions.append(Decision(subject, Outcome.LENT, reason, (source,), layout.sizes[place]))
    bytes_of = Holders()
    for place, offset in sorted(layout.in_arena, key=lambda entry: lowered.buffers[entry[0]].lower):
        size = layout.sizes[place]
        before = bytes_of.replace(offset, offset + size, place)
        if before:
            source, previous = (lowered.sources[lowered.buffers[i].lower] for i in (place, before[0]))
            decisions.append(Decision(source.op, Outcome.SHARED, Reason.LIVE_RANGE_ENDED, (source, previous), size))
    return decisions
