"""XLA's buffer assignment: what `--xla_dump_to` writes as `…-buffer-assignment.txt`, with `…-live-range.txt` beside it.

Only the temporary memory is what XLA plans: parameters, constants and results have allocations of their own. A value is in use
from the instruction that makes it up to and with the last one that reads it; where XLA computes that one's result in place, up to
it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hotdesk.errors import TraceError
from hotdesk.planning import Buffer
from hotdesk.traces.trace import Trace

_ALLOCATION = re.compile(r"^allocation \d+: size (\d+),(.*)$", re.MULTILINE)
_VALUE = re.compile(r"^ value: <\d+ (\S+?)(?: @\d+)?> \(size=(\d+),offset=(\d+)\)", re.MULTILINE)
_RANGE = re.compile(r"^\s*(\S+?)(\{[\d,]*\}):(\d+)-(\d+)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _AssignedValue:
    name: str
    size: int
    offset: int


def read(text: str, ranges: str, name: str) -> Trace:
    """The temporary buffers of an assignment.

    Raises:
        TraceError: the live ranges are missing, or the text ends within a line or has no allocations.
        ValueError: a number is too long, or a live range ends before it begins.
    """
    _require_whole(text, name)
    if not ranges:
        hint = "XLA writes it beside the buffer assignment; keep both in one folder."
        raise TraceError(name, expected="a file …-live-range.txt beside it", got="none", hint=hint)
    known = _ranges(ranges)
    buffers: list[Buffer] = []
    taken = left_out = 0
    for size, values in _temporary(text):
        ranged = [(each, known[each.name]) for each in values if each.name in known]
        left_out += len(values) - len(ranged)
        taken += size
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


def _temporary(text: str) -> Iterator[tuple[int, list[_AssignedValue]]]:
    """The allocations of temporary memory: bytes, and the values that lie in each."""
    found = list(_ALLOCATION.finditer(text))
    for number, head in enumerate(found):
        if "preallocated-temp" not in head[2]:
            continue
        end = found[number + 1].start() if number + 1 < len(found) else len(text)
        values = [_AssignedValue(v[1], int(v[2]), int(v[3])) for v in _VALUE.finditer(text, head.end(), end)]
        yield int(head[1]), values


def _ranges(text: str) -> dict[str, tuple[int, int]]:
    """The first and the last instruction that a value is in use at, by its name as the assignment spells it."""
    return {
        name if index == "{}" else f"{name}{index}": (int(lower), int(upper))
        for name, index, lower, upper in _RANGE.findall(text)
    }
