"""Collects faults while a program runs."""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

from hotdesk.checker.buffers import CheckedBuffer
from hotdesk.checker.report import Fault, FaultKind
from hotdesk.explain import Source

_MOST = 100


class StopError(Exception):
    """A fault after which the program has no meaning any more."""


class Findings:
    """Faults in the order in which they happened. An op that repeats a kind of fault, in a loop say, is told once."""

    def __init__(self) -> None:
        self._found: dict[tuple[FaultKind, int, str], Fault] = {}

    @property
    def faults(self) -> tuple[Fault, ...]:
        return tuple(self._found.values())

    def add(
        self,
        kind: FaultKind,
        at: Source,
        message: str,
        buffer: CheckedBuffer | None = None,
        *,
        other: CheckedBuffer | None = None,
        used: Source | None = None,
        part: tuple[int, int] | None = None,
        loop: Source | None = None,
    ) -> None:
        """Notes a fault. Raises StopError when there are so many that more would tell nothing."""
        record = buffer.record() if buffer is not None else None
        key = (kind, id(at), f"{record.allocated.location} {record.name}" if record is not None else "")
        if key in self._found:
            self._found[key] = replace(self._found[key], times=self._found[key].times + 1)
            return
        rival = other.record() if other is not None else None
        self._found[key] = Fault(kind, at, message, record, rival, used, part, loop=loop)
        if len(self._found) >= _MOST:
            raise StopError

    def stop(self, kind: FaultKind, at: Source, message: str, buffer: CheckedBuffer | None = None) -> NoReturn:
        """Notes a fault that leaves the rest of the program without a meaning."""
        self.add(kind, at, message, buffer)
        raise StopError
