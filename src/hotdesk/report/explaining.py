"""Answers from a report: why a buffer is where it is and what would free it, what a line, a submodule or the peak holds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import cast

from hotdesk.errors import OptionError
from hotdesk.explain import Outcome, Source
from hotdesk.explain.answers import Spot
from hotdesk.report.document import BufferEntry, DecisionEntry, Document
from hotdesk.report.text import counted, size

_BUFFER = re.compile(r"%?(b\d+)")
_SHOWN = 10
_TELLING = (Outcome.ALLOCATED.value, Outcome.COPIED.value, Outcome.SPLIT.value, Outcome.RECOMPUTED.value)


def explain(made: Document, what: str) -> str:
    """The answer in lines of text.

    Args:
        made: the report.
        what: `peak`; a buffer such as `b12`; a line such as `model.py:12`; or a submodule such as `encoder.layer.3`, with
            all in it.

    Raises:
        OptionError: there is no such thing in the report.
    """
    if not isinstance(cast(object, what), str):
        expected = "'peak', a buffer such as 'b12', a line such as 'model.py:12', or a submodule"
        raise OptionError("what to explain", expected=expected, got=repr(what))
    if what == "peak":
        return "\n".join(_peak(made))
    named = _BUFFER.fullmatch(what)
    if named is not None:
        return "\n".join(_buffer(made, _found(made, named[1])))
    spot = Spot.of(what)
    if spot is not None:
        return "\n".join(_line(made, what, spot))
    return "\n".join(_module(made, what))


def _found(made: Document, name: str) -> BufferEntry:
    number = int(name[1:])
    if number < len(made.buffers):
        return made.buffers[number]
    expected = f"b0 to b{len(made.buffers) - 1}" if made.buffers else "none: the program has no buffers"
    raise OptionError("buffer", expected=expected, got=name)


def _peak(made: Document) -> Iterator[str]:
    if not made.points or not made.buffers:
        yield "The program has no buffers."
        return
    point = made.points[made.peak_point]
    where = _at(point.op, point.line, point.module)
    yield f"{size(point.bytes)} are in use at point {made.peak_point} of {len(made.points)}, {where}."
    yield from _bound(made)
    for each in made.at_peak[:_SHOWN]:
        yield ""
        yield from _buffer(made, each)
    yield from _rest(made.at_peak)


def _bound(made: Document) -> Iterator[str]:
    memory = made.memory
    if memory.arena <= memory.lower_bound:
        told = f"No plan for this order of operations has an arena smaller than these {size(memory.arena)}"
        yield f"{told}: another order, or a budget, may."
    else:
        yield f"The arena has {size(memory.arena)}; the lower bound is {size(memory.lower_bound)}."


def _buffer(made: Document, buffer: BufferEntry) -> Iterator[str]:
    """What a buffer is, where it lies, for how long, who had its place and will have it, and what would free it."""
    yield f"{buffer.title}: {size(buffer.bytes)} by {_at(buffer.op, buffer.line, buffer.module)}"
    place = buffer.where if buffer.where.startswith("result") else f"{buffer.where} at offset {buffer.offset:,}"
    yield f"  lies in    {place}"
    last = buffer.upper - 1
    if buffer.where.startswith("result"):
        yield f"  in use     from point {buffer.lower} to the end: the caller gets it"
    elif 0 <= last < len(made.points):
        end = made.points[last]
        yield f"  in use     from point {buffer.lower} to {last}, where {_at(end.op, end.line, end.module)} uses it last"
    for title, others in (("after", buffer.before), ("before", buffer.after)):
        if others:
            names = ", ".join(made.buffers[i].title for i in others[:4])
            more = f" and {len(others) - 4} more" if len(others) > 4 else ""
            yield f"  {title:10} {names}{more}"
    if buffer.before and not buffer.where.startswith("result"):
        latest = max((made.buffers[i] for i in buffer.before), key=lambda each: (each.upper, each.id))
        yield f"  not before point {latest.upper}: until then {latest.title} has bytes of its place"
    decisions = _about(made, buffer)
    for found in decisions:
        yield f"  {found.outcome}: {found.text} [{found.reason}]"
    yield f"  to free it {_way_out(buffer, decisions)}"


def _about(made: Document, buffer: BufferEntry) -> list[DecisionEntry]:
    """What was decided about a buffer: decisions of its operation that are as large as it is, each kind once."""
    here = (buffer.op, buffer.line, buffer.module)
    found = [
        each
        for each in made.decisions
        if each.because and _same(each.because[0], here) and each.outcome in _TELLING and each.bytes == buffer.bytes
    ]
    return list({(each.outcome, each.reason): each for each in found}.values())


def _same(a: tuple[str, str, str], b: tuple[str, str, str]) -> bool:
    """Whether two operations are one: by line and submodule, as lowering changes names of ops."""
    return a[1] == b[1] and (a[2] == b[2] or not a[2]) and bool(a[1])


def _way_out(buffer: BufferEntry, decisions: Sequence[DecisionEntry]) -> str:
    if buffer.where.startswith("result"):
        return "return less, or give `out=` memory that exists already"
    remedies = [each.remedy for each in decisions if each.remedy]
    if remedies:
        return remedies[0]
    return "use it last earlier: order='peak' looks for such an order, budget=… also splits and recomputes (docs/budget.md)"


def _line(made: Document, what: str, spot: Spot) -> Iterator[str]:
    def holds(line: str) -> bool:
        found = Spot.of(line)
        return found is not None and spot.holds(found)

    buffers = [each for each in made.buffers if holds(each.line)]
    decisions = [each for each in made.decisions if holds(each.line)]
    points = [i for i, each in enumerate(made.points) if holds(each.line)]
    if not (buffers or decisions or points):
        lines = list(dict.fromkeys(each.line for each in made.points if each.line))
        near = sorted(lines, key=lambda line: _distance(line, spot))[:3]
        hint = f"Nearest: {', '.join(near)}." if near else None
        raise OptionError("line", expected="one that operations of the program come from", got=what, hint=hint)
    peak = max((made.points[i].bytes for i in points), default=0)
    yield (f"{what}: {_counted(points, buffers)}" + (f", at most {size(peak)} in use" if points else ""))
    yield from _listed(made, buffers, decisions)


def _distance(line: str, spot: Spot) -> tuple[bool, int]:
    found = Spot.of(line)
    return (True, 0) if found is None else (not spot.is_in(found.file), abs(found.line - spot.line))


def _module(made: Document, what: str) -> Iterator[str]:
    def holds(module: str) -> bool:
        return f"{module}.".startswith(f"{what}.")

    buffers = [each for each in made.buffers if holds(each.module)]
    decisions = [each for each in made.decisions if holds(each.module)]
    points = [i for i, each in enumerate(made.points) if holds(each.module)]
    if not (buffers or decisions or points):
        modules = sorted({each.module for each in made.points if each.module})
        close = get_close_matches(what, modules, n=3, cutoff=0.4)
        hint = f"Near ones: {', '.join(close)}." if close else _outermost(modules)
        expected = "peak, a buffer such as b0, a line such as model.py:12, or a submodule of the model"
        raise OptionError("what to explain", expected=expected, got=repr(what), hint=hint)
    peak = max((made.points[i].bytes for i in points), default=0)
    yield (f"{what}: {_counted(points, buffers)}, at most {size(peak)} in use")
    yield from _listed(made, buffers, decisions)


def _outermost(modules: Sequence[str]) -> str:
    """What the model is made of, in a sentence."""
    names = list(dict.fromkeys(module.partition(".")[0] for module in modules))
    shown = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
    return f"Outermost ones: {shown}." if names else "The program names none."


def _counted(points: Sequence[int], buffers: Sequence[BufferEntry]) -> str:
    together = f"{size(sum(each.bytes for each in buffers))}{' together' * (len(buffers) != 1)}"
    return f"{counted(len(points), 'operation')}, {counted(len(buffers), 'buffer')} of {together}"


def _listed(made: Document, buffers: Sequence[BufferEntry], decisions: Sequence[DecisionEntry]) -> Iterator[str]:
    largest = sorted(buffers, key=lambda each: (-each.bytes, each.id))
    for each in largest[:_SHOWN]:
        yield ""
        yield from _buffer(made, each)
    yield from _rest(largest)
    told = {(each.outcome, each.reason): each for each in decisions if each.outcome not in _TELLING}
    if told:
        yield ""
    for each in told.values():
        count = sum((d.outcome, d.reason) == (each.outcome, each.reason) for d in decisions)
        yield f"{count:,} {each.outcome}: {each.text} [{each.reason}]"


def _rest(buffers: Sequence[BufferEntry]) -> Iterator[str]:
    rest = buffers[_SHOWN:]
    if rest:
        yield ""
        yield f"{counted(len(rest), 'more buffer')} of {size(sum(each.bytes for each in rest))}"


def _at(op: str, line: str, module: str) -> str:
    inside = f" in {module}" if module else ""
    return f"{Source(op, line)}{inside}"
