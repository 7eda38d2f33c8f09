"""Collects faults while a program runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

from hotdesk.explain import Source
from hotdesk.runtime.checking.report import Fault, FaultKind

if TYPE_CHECKING:
    from hotdesk.runtime.checking.blocks import Block

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
        block: Block | None = None,
        *,
        other: Block | None = None,
        used: Source | None = None,
        part: tuple[int, int] | None = None,
        loop: Source | None = None,
    ) -> None:
        """Notes a fault. Raises StopError when there are so many that more would tell nothing."""
        buffer = block.record() if block is not None else None
        key = (kind, id(at), f"{buffer.allocated.location} {buffer.name}" if buffer is not None else "")
        if key in self._found:
            self._found[key] = replace(self._found[key], times=self._found[key].times + 1)
            return
        rival = other.record() if other is not None else None
        self._found[key] = Fault(kind, at, message, buffer, rival, used, part, loop=loop)
        if len(self._found) >= _MOST:
            raise StopError

    def stop(self, kind: FaultKind, at: Source, message: str, block: Block | None = None) -> NoReturn:
        """Notes a fault that leaves the rest of the program without a meaning."""
        self.add(kind, at, message, block)
        raise StopError
