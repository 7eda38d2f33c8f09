"""What the checker finds, as frozen records, and as text."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from hotdesk.checker.values import Array
from hotdesk.explain import Source


class FaultKind(Enum):
    """What a program did wrong. The value is how it is printed."""

    USE_AFTER_FREE = "use after free"
    DOUBLE_FREE = "double free"
    INVALID_FREE = "invalid free"
    LEAK = "leak"
    OUT_OF_BOUNDS = "out of bounds"
    UNWRITTEN = "read of memory nobody wrote"
    OVERLAP = "overlap"
    RACE = "race"
    READ_ONLY = "write to read-only memory"
    OWNERSHIP = "wrong owner"
    MISPLACED = "misplaced result"
    SHAPE = "wrong shape"
    ALIGNMENT = "wrong alignment"
    ASSERTION = "failed assertion"
    ARITHMETIC = "undefined arithmetic"


@dataclass(frozen=True, slots=True)
class BufferRecord:
    """A buffer as a fault names it: `kind` is heap, stack, argument, result or global; `freed` is None while it lives."""

    name: str
    kind: str
    bytes: int
    allocated: Source
    freed: Source | None = None

    def __str__(self) -> str:
        return f"{self.name}, {self.bytes} byte{'' if self.bytes == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing a program did wrong.

    Attributes:
        kind: what.
        at: the op that did it.
        message: how, in a sentence.
        buffer: whose memory it was.
        other: for an overlap, the buffer that has taken the bytes; for a misplaced result, the one that it is in.
        used: the op that computed with what was read, where that is another one.
        bytes: first byte and number of bytes within `buffer`, where the fault is about a part of it.
        times: how often the op did it.
        loop: for a race, the op whose iterations may run at one time.
    """

    kind: FaultKind
    at: Source
    message: str
    buffer: BufferRecord | None = None
    other: BufferRecord | None = None
    used: Source | None = None
    bytes: tuple[int, int] | None = None
    times: int = 1
    loop: Source | None = None

    def __str__(self) -> str:
        where = f"{self.at.location}: " if self.at.location else ""
        lines = [f"{where}{self.kind.value}: {self.message}"]
        lines += [
            f"    {source.location}: {text}" if source.location else f"    {text}" for source, text in self.notes()
        ]
        return "\n".join(lines)

    def notes(self) -> tuple[tuple[Source, str], ...]:
        """Places that belong to the fault, each with what happened there."""
        found: list[tuple[Source, str]] = []
        if self.used is not None:
            found.append((self.used, f"used by {self.used.op}"))
        for buffer in (self.buffer, self.other):
            if buffer is not None:
                found.append((buffer.allocated, f"{buffer} ({buffer.kind}), comes from {buffer.allocated.op}"))
            if buffer is not None and buffer.freed is not None:
                left = f"on the stack until the end of {buffer.freed.op}"
                found.append((buffer.freed, left if buffer.kind == "stack" else f"freed by {buffer.freed.op}"))
        if self.loop is not None:
            found.append((self.loop, f"iterations of {self.loop.op} may run at one time"))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Traffic:
    """What a run took: how many buffers it allocated, of how many bytes, and the most that were live at once.

    Stack memory counts; arguments, results that are the caller's, and globals do not.
    """

    allocations: int = 0
    bytes: int = 0
    peak: int = 0


@dataclass(frozen=True, slots=True)
class Result:
    """A result: its values, and which of them were written. A scalar is an array of rank 0."""

    values: Array
    written: Array


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What the checker has found in one run.

    Attributes:
        faults: in the order in which they happened, each op and kind once.
        results: what the run made; empty if it could not go on.
        stopped: whether a fault ended the run, so that nothing is known of what comes behind it, leaks included.
        traffic: what the run took.
    """

    faults: tuple[Fault, ...]
    results: tuple[Result, ...]
    stopped: bool
    traffic: Traffic

    @property
    def clean(self) -> bool:
        return not self.faults

    def __str__(self) -> str:
        if self.clean:
            taken = f"{self.traffic.allocations} allocations, {self.traffic.bytes} bytes, at most {self.traffic.peak} at once"
            return f"no faults ({taken})"
        lines = [str(fault) for fault in self.faults]
        if self.stopped:
            lines.append("The run ended at the last fault; what comes behind it was not checked.")
        return "\n".join(lines)
