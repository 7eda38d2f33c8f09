"""XLA's buffer assignment: what `--xla_dump_to` writes as `…-buffer-assignment.txt`, with `…-live-range.txt` beside it.

Only the temporary memory is what XLA plans: parameters, constants and results have allocations of their own. A value is in use
from the instruction that makes it up to and with the last one that reads it; where XLA computes that one's result in place, up to
it.

A file that is cut between lines is told by what is left: an allocation is as large as its values reach, and each value with a
live range has a place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from hotdesk.errors import TraceError
from hotdesk.planning import Buffer
from hotdesk.traces.trace import Trace

_ALLOCATION = re.compile(r"^allocation \d+: size (\d+),(.*)$", re.MULTILINE)
_VALUE = re.compile(r"^ value: <\d+ (\S+?)(?:\{\})?(?: \(phi\))?(?: @\d+)?> \(size=(\d+),offset=(\d+)\)", re.MULTILINE)
_RANGE = re.compile(r"^\s*(\S+?)(\{[\d,]*\}):(\d+)-(\d+)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _AssignedValue:
    name: str
    size: int
    offset: int


@dataclass(frozen=True, slots=True)
class _Allocation:
    size: int
    is_temporary: bool
    values: tuple[_AssignedValue, ...]


def read(text: str, ranges: str, name: str) -> Trace:
    """The temporary buffers of an assignment.

    Raises:
        TraceError: the live ranges are missing, or the text has no allocations, ends within a line, or lacks values.
        ValueError: a number is too long, or a live range ends before it begins.
    """
    _require_whole(text, name)
    if not ranges:
        hint = "XLA writes it beside the buffer assignment; keep both in one folder."
        raise TraceError(name, expected="a file …-live-range.txt beside it", got="none", hint=hint)
    known, allocations = _ranges(ranges), list(_allocations(text))
    _require_all(allocations, known, name)
    buffers: list[Buffer] = []
    taken = left_out = 0
    for allocation in allocations:
        if not allocation.is_temporary:
            continue
        ranged = [(each, known[each.name]) for each in allocation.values if each.name in known]
        left_out += len(allocation.values) - len(ranged)
        taken += allocation.size
        starts = {(each.offset, lower) for each, (lower, _) in ranged}
        for each, (lower, upper) in ranged:
            in_place = (each.offset, upper) in starts and upper > lower
            buffers.append(Buffer(each.name, lower, upper if in_place else upper + 1, each.size))
    return Trace("XLA's buffer assignment", tuple(buffers), taken, left_out)


def _require_whole(text: str, name: str) -> None:
    last = text.rstrip().rpartition("\n")[2]
    if not _ALLOCATION.search(text):
        raise TraceError(name, expected="XLA's buffer assignment", got="one without allocations")
    if last.startswith((" value:", "allocation ")) and not (_VALUE.match(last) or _ALLOCATION.match(last)):
        raise TraceError(name, expected="XLA's buffer assignment", got=f"one that ends within a line: {last[-60:]!r}")


def _require_all(allocations: Sequence[_Allocation], ranges: Iterable[str], name: str) -> None:
    """Raises TraceError where values are missing: the file ends too early, or the live ranges are of another program."""
    known = {each.name for allocation in allocations for each in allocation.values}
    missing = [each for each in ranges if each not in known]
    short = any(max((v.offset + v.size for v in each.values), default=0) < each.size for each in allocations)
    if missing or short:
        what = f"none for '{missing[0]}'" if missing else "an allocation that is larger than what lies in it"
        hint = "The file ends too early, or the live ranges beside it are of another program."
        raise TraceError(name, expected="a place for every value that has a live range", got=what, hint=hint)


def _allocations(text: str) -> Iterator[_Allocation]:
    found = list(_ALLOCATION.finditer(text))
    for number, head in enumerate(found):
        end = found[number + 1].start() if number + 1 < len(found) else len(text)
        values = [_AssignedValue(v[1], int(v[2]), int(v[3])) for v in _VALUE.finditer(text, head.end(), end)]
        yield _Allocation(int(head[1]), "preallocated-temp" in head[2], tuple(values))


def _ranges(text: str) -> dict[str, tuple[int, int]]:
    """The first and the last instruction that a value is in use at, by its name as the assignment spells it."""
    return {
        name if index == "{}" else f"{name}{index}": (int(lower), int(upper))
        for name, index, lower, upper in _RANGE.findall(text)
    }
