"""What there is to tell about a plan: its buffers, which of them took over bytes of others, and what no plan can beat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from hotdesk.explain import Decision, Outcome, Reason, Source
from hotdesk.planning.problem.bounds import certificate
from hotdesk.planning.problem.loan_bounds import raised_by_loans
from hotdesk.planning.problem.plan import Plan
from hotdesk.report.certificates import Certificate, CertifiedBuffer
from hotdesk.report.neighbours import Holders
from hotdesk.report.records import BufferLine
from hotdesk.runtime.lowered import EntryFunction, Planned
from hotdesk.runtime.plans.layout import Layout
from hotdesk.runtime.plans.problems import problem_of
from hotdesk.sizes.size import evaluate


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


class Located(Planned, Protocol):
    """A function whose operations have names and lines, by op number."""

    @property
    def sources(self) -> Sequence[Source]: ...


def certified(function: Located, sizes: Sequence[int], plan: Plan) -> Certificate:
    """The certificate of the bound of a plan for a function whose buffers have these sizes, in bytes, by place.

    A plan for the sizes of a call has a bound that is found fast; here it is raised, if whole loans prove more. A buffer has the
    name and the line of the operation that uses it first.
    """
    problem = problem_of(function, sizes)
    bound = raised_by_loans(problem, plan.bound, plan.arena)
    found = certificate(problem, bound)
    point = function.sources[bound.step] if found.buffers else Source("", "")
    named = tuple(
        CertifiedBuffer(source.op, buffer.size, buffer.footprint, source.location)
        for buffer in found.buffers
        for source in [function.sources[buffer.lower]]
    )
    return Certificate(bound.bytes, bound.kind, bound.step, point.op, point.location, named, found.lent)
