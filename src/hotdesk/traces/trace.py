"""What a trace says: buffers with sizes and live ranges, and what the tool's own allocator took."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from hotdesk.planning import Buffer
from hotdesk.planning.problem.numbers import shown, whole


@dataclass(frozen=True, slots=True)
class Event:
    """Memory that is taken (`bytes` above 0) or given back (below 0) at an address."""

    address: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace.

    Attributes:
        tool: what made it, such as `PyTorch's profiler`.
        buffers: their live ranges are in numbers of events, or of the tool's operations.
        taken: the bytes that the tool's allocator had for them, where the trace says so.
        left_out: allocations whose bytes or live range the trace does not say, such as frees of older memory.

    Raises ValueError where what is taken is no number of bytes.
    """

    tool: str
    buffers: tuple[Buffer, ...]
    taken: int | None = None
    left_out: int = 0

    def __post_init__(self) -> None:
        if self.taken is not None and whole("the trace", "bytes taken", self.taken) < 0:
            raise ValueError(f"the trace: expected 0 bytes taken or more, got {shown(self.taken)}")

    @property
    def live(self) -> tuple[tuple[int, int], ...]:
        """The bytes in use from each moment on at which they change, in order."""
        changes: dict[int, int] = {}
        for each in self.buffers:
            changes[each.lower] = changes.get(each.lower, 0) + each.size
            changes[each.upper] = changes.get(each.upper, 0) - each.size
        held, found = 0, list[tuple[int, int]]()
        for moment in sorted(changes):
            held += changes[moment]
            found.append((moment, held))
        return tuple(found)

    @property
    def peak(self) -> int:
        """The most bytes in use at once."""
        return max((held for _, held in self.live), default=0)

    @property
    def total(self) -> int:
        """The bytes of all buffers together."""
        return sum(each.size for each in self.buffers)


def arguments_of(event: object) -> Mapping[str, Any]:
    """The arguments of an event in JSON; none of what is no event."""
    found: Any = cast("Mapping[str, Any]", event).get("args") if isinstance(event, Mapping) else None
    return cast("Mapping[str, Any]", found) if isinstance(found, Mapping) else {}


def buffers_of(events: Iterable[Event]) -> tuple[tuple[Buffer, ...], int]:
    """The buffers of a sequence of events, and how many events could not be matched.

    The live range of a buffer is from its event to that which gives it back, or to the end. Memory that was there before the
    trace began, and is given back in it, is no buffer of it; neither is one of no bytes.
    """
    open_at: dict[int, tuple[int, int]] = {}
    found: list[tuple[int, int, int]] = []
    unmatched = count = 0
    for event in events:
        if event.bytes > 0:
            again = open_at.pop(event.address, None)
            if again is not None:  # its end was not recorded
                found.append((again[0], count, again[1]))
                unmatched += 1
            open_at[event.address] = (count, event.bytes)
        elif event.bytes < 0:
            start = open_at.pop(event.address, None)
            unmatched += start is None
            if start is not None:
                found.append((start[0], count, start[1]))
        count += 1
    found += [(lower, count, size) for lower, size in open_at.values()]
    return tuple(Buffer(f"a{lower}", lower, upper, size) for lower, upper, size in sorted(found)), unmatched
