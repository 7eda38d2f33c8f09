"""What programs that are compiled together have in common: arenas, turns to change the model's tensors, and which change."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from hotdesk.errors import OutOfMemoryError
from hotdesk.planning.problem.numbers import ALIGNMENT
from hotdesk.runtime.arguments.outputs import NO_EXTENTS, Extents
from hotdesk.runtime.code.threads import core_count
from hotdesk.runtime.forks import tell_of_forks
from hotdesk.runtime.frames import Frames

if TYPE_CHECKING:
    import numpy.typing as npt

_SMALLER = "`program.report(…)` says where it goes; smaller sizes or `hotdesk.compile(budget=…)` make it less."

Bytes: TypeAlias = "npt.NDArray[np.uint8]"


def aligned(size: int) -> tuple[Bytes, int]:
    """Uninitialised memory and the address in it that is aligned to `ALIGNMENT`. Raises OutOfMemoryError."""
    try:
        memory = np.empty(size + ALIGNMENT, dtype=np.uint8)
    except (MemoryError, ValueError) as error:  # ValueError: more than an array can have
        raise OutOfMemoryError(
            "the arena", expected=f"{size:,} bytes", got="none from the system", hint=_SMALLER
        ) from error
    return memory, -(-memory.ctypes.data // ALIGNMENT) * ALIGNMENT


class Arena:
    """Memory for the buffers of one call at a time, as large as the largest plan that has run in it."""

    __slots__ = ("_memory", "address", "size")

    def __init__(self) -> None:
        self._memory, self.address = aligned(0)
        self.size = 0

    def reserve(self, size: int) -> None:
        """Makes it so large, in a new place if it is smaller: the old one goes first, so both are never held at once."""
        if size > self.size:
            self._memory, self.address = aligned(0)
            self.size = 0
            self._memory, self.address = aligned(size)
            self.size = size


class Turns:
    """Calls that run one by one: `with turns:` waits for the others to end."""

    __slots__ = ("__weakref__", "_lock")

    def __init__(self) -> None:
        self._lock = Lock()
        tell_of_forks(self)

    def forked(self) -> None:
        """In the child of a fork, where whoever had a turn is gone."""
        self._lock = Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: Any) -> None:
        self._lock.release()


class Shared:
    """What programs have in common; one alone has its own.

    Attributes:
        arenas: one for each of the calls that run at once.
        turns: of calls that read or change tensors that any of the programs changes.
        state: where those tensors lie.
    """

    __slots__ = ("arenas", "state", "turns")

    def __init__(self, state: Extents = NO_EXTENTS) -> None:
        self.arenas = Frames(Arena, core_count())
        self.turns = Turns()
        self.state = state
