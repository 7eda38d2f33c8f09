"""Allocating, freeing, reading and writing, with every fault noted.

A read or write

1. of a buffer that is freed is a *use after free*; it goes on with what was there;
2. that leaves the view or the buffer is *out of bounds*, and ends the run;
3. of memory that nobody has written gives a value that is `Unwritten`;
4. of bytes that another buffer of the arena has written since is an *overlap*;
5. to a buffer that may not be written is a *write to read-only memory*, and is left out;
6. of what another iteration of a parallel loop touches may be a *race* (`races`).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from hotdesk.checker.arenas import claim, find_overlap, outermost, settle
from hotdesk.checker.buffers import CheckedBuffer, MemRef, complete
from hotdesk.checker.findings import Findings
from hotdesk.checker.races import Team, Touch
from hotdesk.checker.report import FaultKind, Traffic
from hotdesk.checker.values import Array, Unwritten, Value, plain, xp
from hotdesk.errors import ExecutionError
from hotdesk.explain import Source
from hotdesk.planning.problem.numbers import ALIGNMENT

_GUARD = 1 << 12  # bytes between the addresses of two buffers


class AddressSpace:
    """All memory of one run."""

    def __init__(self, findings: Findings, poison: int) -> None:
        """`poison` is the byte that memory is filled with as long as nobody has written it."""
        self._findings = findings
        self._poison = poison
        self._address = 1 << 20
        self._count = 0
        self._live: dict[int, CheckedBuffer] = {}
        self._teams: list[Team] = []
        self._allocations = self._bytes = self._live_bytes = self._peak = 0
        self._clock = 0

    def allocate(self, size: int, kind: str, name: str, at: Source, alignment: int = 1) -> CheckedBuffer:
        """A buffer of `size` bytes that nobody has written. Raises ExecutionError if this machine has no such memory."""
        try:
            data, written = np.full(size, self._poison, np.uint8), np.zeros(size, np.uint8)
        except (MemoryError, ValueError) as error:
            raise ExecutionError(
                f"`{at.op}` of {name}", expected="as many bytes as this machine has", got=f"{size:,} bytes",
                where=at.location, hint="check the program with smaller sizes",
            ) from error  # fmt: skip
        buffer = self._enter(data, written, kind, name, at, max(alignment, 1))
        self._live[buffer.number] = buffer
        self._allocations += 1
        self._bytes += size
        self._live_bytes += size
        self._peak = max(self._peak, self._live_bytes)
        return buffer

    @property
    def traffic(self) -> Traffic:
        """What was allocated so far."""
        return Traffic(self._allocations, self._bytes, self._peak)

    def hold(
        self, data: Array, kind: str, name: str, at: Source,
        written: bool = True, writable: bool = True, alignment: int = 0,
    ) -> CheckedBuffer:  # fmt: skip
        """A buffer that is not the program's to free. `data` are its bytes, not copied; unless `written`, nobody wrote them."""
        shadow = None if written else np.zeros(len(data), np.uint8)
        buffer = self._enter(data, shadow, kind, name, at, alignment or ALIGNMENT)
        buffer.writable = writable
        return buffer

    def carve(self, view: MemRef, name: str, at: Source) -> CheckedBuffer:
        """The bytes of a view as a buffer of its own, in the arena that the buffer of the view is."""
        low, high = view.extent
        data = np.full(high - low, self._poison, np.uint8)
        buffer = self._enter(data, np.zeros(high - low, np.uint8), view.buffer.kind, name, at, 1)
        buffer.whole, buffer.address = view.buffer, view.buffer.address + low
        assert view.buffer.carved is not None
        settle(buffer, view.buffer.carved, low)
        return buffer

    def _enter(
        self, data: Array, written: Array | None, kind: str, name: str, at: Source, alignment: int
    ) -> CheckedBuffer:
        self._count += 1
        step = 2 * max(alignment, ALIGNMENT)
        address = -(-self._address // step) * step + alignment  # aligned to nothing more than was asked for
        self._address = address + len(data) + _GUARD
        return CheckedBuffer(self._count, data, written, kind, name, at, address)

    def live(self) -> tuple[CheckedBuffer, ...]:
        """The buffers that the program has allocated and not freed."""
        return tuple(self._live.values())

    def free(self, view: MemRef, at: Source) -> None:
        """What `memref.dealloc` does."""
        view = outermost(view)
        buffer = view.buffer
        self._touch(MemRef.of(buffer, [buffer.size], np.dtype(np.uint8)), ..., Touch.WRITE, at)
        if buffer.kind != "heap":
            message = f"memory of a {buffer.kind} is not the program's to free"
            self._findings.add(FaultKind.INVALID_FREE, at, message, buffer)
        elif buffer.freed is not None:
            self._findings.add(FaultKind.DOUBLE_FREE, at, f"{buffer.name} was freed before", buffer)
        elif view.first_byte != 0:
            message = f"a view that begins {view.first_byte} bytes into its allocation is freed"
            self._findings.add(FaultKind.INVALID_FREE, at, message, buffer)
        else:
            self.bury(buffer, at)

    def bury(self, buffer: CheckedBuffer, at: Source) -> None:
        """The buffer is no more. What was in it stays there for whoever uses it wrongly."""
        buffer.freed = at
        if self._live.pop(buffer.number, None) is not None:
            self._live_bytes -= buffer.size

    # Threads

    @contextmanager
    def team(self, at: Source) -> Generator[Team]:
        """While a parallel loop runs."""
        self._teams.append(Team(at, self._count + 1, self._findings))
        try:
            yield self._teams[-1]
        finally:
            self._teams.pop()

    def _touch(self, view: MemRef, place: Any, access: Touch, at: Source) -> None:
        for team in self._teams:
            team.touch(view, place, access, at)

    # Elements

    def load(self, view: MemRef, position: Sequence[Any], at: Source, access: Touch = Touch.READ) -> Value:
        """One element; or an array of them, if the indices are arrays."""
        view, place = self._element(view, position, at)
        self._alive(view, at, "read")
        self._touch(view, place, access, at)
        view.buffer.read_at = self._clock
        value = view.array[place] if view.conversion is None else view.conversion(view.array[place])
        if view.buffer.home is not None:
            find_overlap(view, place, self._findings, at)
        if view.buffer.written is None:
            return value
        missing = view.shadow[place] != complete(view.dtype)
        found = missing.any() if isinstance(missing, np.ndarray) else missing
        return Unwritten(_settled(value), missing, at, view.buffer) if found else value

    def store(
        self, view: MemRef, position: Sequence[Any], value: Value, at: Source, access: Touch = Touch.WRITE
    ) -> None:
        """Writes one element."""
        view, place = self._element(view, position, at)
        if self._may_write(view, at):
            self._touch(view, place, access, at)
            self._put(view, place, value)

    def _element(self, view: MemRef, position: Sequence[Any], at: Source) -> tuple[MemRef, tuple[Any, ...]]:
        """A view inside its buffer, and the place of an element in it."""
        for number, (index, size) in enumerate(zip(position, view.sizes, strict=True)):
            first: Any = index
            if isinstance(index, np.ndarray):
                first = xp.asarray(index)[(index < 0) | (index >= size)]
                inside = not first.size
            else:
                inside = 0 <= index < size
            if not inside:
                message = f"index {int(np.ravel(first)[0])} in dimension {number}, which has {size} elements"
                self._findings.stop(FaultKind.OUT_OF_BOUNDS, at, message, view.buffer)
        if view.inside:
            return view, tuple(position)
        steps: Any = sum(index * stride for index, stride in zip(position, view.strides, strict=True))
        if np.ndim(steps) != 0:
            self._bounds(view, at)
        single = view.at(view.offset + int(steps), (), ())
        self._bounds(single, at)
        return single, ()

    # Whole views

    def read(self, view: MemRef, at: Source) -> Value:
        """The elements of a view, where they lie: whoever keeps them must copy."""
        self._bounds(view, at)
        self._alive(view, at, "read")
        self._touch(view, ..., Touch.READ, at)
        view.buffer.read_at = self._clock
        values = view.array if view.conversion is None else view.conversion(view.array)
        if view.buffer.home is not None:
            find_overlap(view, ..., self._findings, at)
        if view.buffer.written is None:
            return values
        missing = view.shadow != complete(view.dtype)
        return Unwritten(_settled(values), missing, at, view.buffer) if missing.any() else values

    def write(self, view: MemRef, value: Value, at: Source) -> None:
        """Writes all elements of a view; `value` is broadcast to its sizes."""
        self._bounds(view, at)
        if self._may_write(view, at):
            self._touch(view, ..., Touch.WRITE, at)
            self._put(view, ..., value)

    def forget(self, view: MemRef) -> None:
        """What a view holds is not defined any more."""
        view.shadow[...] = np.zeros_like(complete(view.dtype))

    def _put(self, view: MemRef, place: Any, value: Value) -> None:
        buffer = view.buffer
        self._clock += 1
        buffer.written_at = self._clock
        view.array[place] = plain(value)
        if type(value) is Unwritten:
            ones = complete(view.dtype)
            view.shadow[place] = np.where(value.where, np.zeros_like(ones), ones)
        elif buffer.written is not None:
            if place is ... and view.covers():
                buffer.written = None
            else:
                view.shadow[place] = complete(view.dtype)
        if buffer.home is not None:
            claim(view, place)

    def _alive(self, view: MemRef, at: Source, what: str) -> None:
        if view.buffer.freed is not None or (view.buffer.whole is not None and view.buffer.death() is not None):
            left = "freed" if view.buffer.kind != "stack" else "left"
            message = f"{what}s {view.buffer.name} after it was {left}"
            self._findings.add(FaultKind.USE_AFTER_FREE, at, message, view.buffer, part=_part(view))

    def _may_write(self, view: MemRef, at: Source) -> bool:
        self._alive(view, at, "write")
        if not view.buffer.writable:
            message = f"writes {view.buffer.name}, which may only be read"
            self._findings.add(FaultKind.READ_ONLY, at, message, view.buffer, part=_part(view))
        return view.buffer.writable

    def _bounds(self, view: MemRef, at: Source) -> None:
        if not view.inside:
            low, high = view.extent
            message = f"bytes {low} to {high} of {view.buffer.name}, which has {view.buffer.size}"
            self._findings.stop(FaultKind.OUT_OF_BOUNDS, at, message, view.buffer)


def _part(view: MemRef) -> tuple[int, int]:
    low, high = view.extent
    return low, high - low


def _settled(values: Any) -> Any:
    """Truth values from memory that may hold any byte."""
    if values.dtype != np.bool_:
        return values
    return xp.asarray(values).view(np.uint8) != 0 if np.ndim(values) else np.bool_(False)
