"""Races: what iterations of `scf.parallel` and `scf.forall`, which may run at once, do to the same byte.

For each byte that an iteration touches a running loop keeps which iteration wrote it, which read it, and which changed it
atomically: 0 for none, −1 for several. It is a race if

1. one writes what another one reads, writes or changes atomically;
2. one reads what another one changes atomically.

Memory that an iteration has allocated is its own. So is what it carves out of an arena, as long as the arena is.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np

from hotdesk.checker.arenas import outermost
from hotdesk.checker.buffers import CheckedBuffer, MemRef
from hotdesk.checker.findings import Findings
from hotdesk.checker.report import FaultKind
from hotdesk.checker.values import Array, xp
from hotdesk.explain import Source

_SEVERAL = -1


class Touch(Enum):
    """How bytes are touched. The value is the sentence's verb."""

    READ = "reads"
    WRITE = "writes"
    ATOMIC = "changes"


_DISTURBS = {
    Touch.READ: (Touch.WRITE, Touch.ATOMIC),
    Touch.WRITE: (Touch.WRITE, Touch.READ, Touch.ATOMIC),
    Touch.ATOMIC: (Touch.WRITE, Touch.READ),
}
"""Which accesses of another iteration an access must not meet."""


class Team:
    """One parallel loop while it runs; `iteration` counts from 1."""

    __slots__ = ("_at", "_findings", "_first", "_marks", "iteration")

    def __init__(self, at: Source, first: int, findings: Findings) -> None:
        """Blocks from number `first` on are allocated by the iterations."""
        self._at = at
        self._first = first
        self._findings = findings
        self._marks: dict[tuple[int, Touch], Array] = {}
        self.iteration = 0

    def touch(self, view: MemRef, place: Any, access: Touch, at: Source) -> None:
        """The iteration that runs touches elements of a view."""
        view = outermost(view)
        buffer = view.buffer
        if buffer.number >= self._first and buffer.kind != "global":
            return
        for other in _DISTURBS[access]:
            marks = self._marks.get((buffer.number, other))
            if marks is None:
                continue
            found = view.bytewise(marks)[place]
            if ((found != 0) & (found != self.iteration)).any():
                self._tell(buffer, access, other, at)
                break
        own = self._marks.setdefault((buffer.number, access), np.zeros(0, np.int32))
        if not own.size:
            own = self._marks[buffer.number, access] = np.zeros(buffer.size, np.int32)
        marks = view.bytewise(own)
        before = xp.asarray(marks[place])
        marks[place] = np.where(
            (before == 0) | (before == self.iteration), np.int32(self.iteration), np.int32(_SEVERAL)
        )

    def _tell(self, buffer: CheckedBuffer, access: Touch, other: Touch, at: Source) -> None:
        message = f"{access.value} bytes of {buffer.name} that another iteration of {self._at.op} {other.value}"
        self._findings.add(FaultKind.RACE, at, message, buffer, loop=self._at)
