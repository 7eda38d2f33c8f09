"""Where a function's buffers lie for one value of the symbols, and what there is to tell about it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.report.records import BufferLine
from hotdesk.runtime.lowered import Lowered

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


def buffer_lines(lowered: Lowered, layout: Layout, inputs: Mapping[int, str]) -> tuple[BufferLine, ...]:
    """Every buffer of the arena and every result with memory of its own, in the order of first use. Results live to the end.

    `inputs` are the names of the inputs, by place.
    """
    end = len(lowered.sources)
    lines = [_line(lowered, layout, place, "arena", offset) for place, offset in layout.in_arena]
    for place, lender, offset in layout.lent:
        lines.append(_line(lowered, layout, place, f"lent by {_lender(lowered, lender, inputs)}", offset))
    for number, place in enumerate(lowered.result_places):
        if place not in lowered.donated:
            lines.append(replace(_line(lowered, layout, place, f"result {number}", 0), upper=end))
    return tuple(sorted(lines, key=lambda line: (line.lower, line.upper)))


def _lender(lowered: Lowered, place: int, inputs: Mapping[int, str]) -> str:
    if place in lowered.donated:
        return f"input '{inputs[place]}'"
    return f"result {lowered.result_places.index(place)}"


def _line(lowered: Lowered, layout: Layout, place: int, where: str, offset: int) -> BufferLine:
    use = lowered.buffers[place]
    source = lowered.sources[use.lower] if use.lower < use.upper else None
    name = source.op if source is not None else use.kind
    location = source.location if source is not None else ""
    return BufferLine(name, layout.sizes[place], location, use.lower, use.upper, where, offset)


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


def shared_decisions(lowered: Lowered, layout: Layout, inputs: Mapping[int, str]) -> list[Decision]:
    """Which buffers took over bytes of one that died before, of a result that is written later, or of a donated input.

    `inputs` are the names of the inputs, by place.
    """
    decisions: list[Decision] = []
    for place, lender, _ in layout.lent:
        source = lowered.sources[lowered.buffers[place].lower]
        subject = f"{source.op} in {_lender(lowered, lender, inputs)}"
        reason = Reason.DONATED if lender in lowered.donated else Reason.RESULT_SLOT
        decisions.append(Decision(subject, Outcome.LENT, reason, (source,), layout.sizes[place]))
    bytes_of = _LastHolder()
    for place, offset in sorted(layout.in_arena, key=lambda entry: lowered.buffers[entry[0]].lower):
        size = layout.sizes[place]
        before = bytes_of.replace(offset, offset + size, place)
        if before is not None:
            source, previous = (lowered.sources[lowered.buffers[i].lower] for i in (place, before))
            decisions.append(Decision(source.op, Outcome.SHARED, Reason.LIVE_RANGE_ENDED, (source, previous), size))
    return decisions


class _LastHolder:
    """Who had each byte of the arena last: disjoint ranges in order; each range given is cut into what it replaces once."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ranges: list[tuple[int, int, int]] = []

    def replace(self, start: int, end: int, holder: int) -> int | None:
        """Gives `[start, end)` to a holder; returns who had the first byte of it that anybody had, or None."""
        first = max(0, bisect_right(self._starts, start) - 1)
        if first < len(self._ranges) and self._ranges[first][1] <= start:
            first += 1
        last = bisect_left(self._starts, end)
        if start == end:
            return None
        replaced = self._ranges[first:last]
        kept = [(a, start, who) for a, _, who in replaced[:1] if a < start]
        kept += [(start, end, holder)]
        kept += [(end, b, who) for _, b, who in replaced[-1:] if end < b]
        self._ranges[first:last] = kept
        self._starts[first:last] = [a for a, _, _ in kept]
        return replaced[0][2] if replaced else None
