"""Arenas: who wrote each byte last, and whether that is who reads it now.

A buffer that was carved out of an arena lies in that, and in whatever the arena was carved out of: in each of them it has bytes
of which it is the owner once it has written them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hotdesk.checker.buffers import CheckedArena, CheckedBuffer, MemRef
from hotdesk.checker.findings import Findings
from hotdesk.checker.report import FaultKind
from hotdesk.checker.values import Array
from hotdesk.explain import Source


def settle(buffer: CheckedBuffer, arena: CheckedArena, offset: int) -> None:
    """Puts a buffer where a plan wants it. What it already holds is its own."""
    buffer.home = (arena, offset)
    arena.tenants[buffer.number] = buffer
    if buffer.written is None:
        arena.owner[offset : offset + buffer.size] = buffer.number


def homes(view: MemRef) -> Iterator[tuple[MemRef, CheckedArena, int]]:
    """Where a view lies by plan: in the arena of its buffer, in that which this arena was carved out of, and so on outwards."""
    while view.buffer.home is not None:
        arena, offset = view.buffer.home
        yield view, arena, offset
        if view.buffer.whole is None:
            return
        view = _moved(view, view.buffer.whole, offset)


def outermost(view: MemRef) -> MemRef:
    """The same elements as a view of the allocation that everything around it was carved out of."""
    for part, _, offset in homes(view):
        whole = part.buffer.whole
        view = part if whole is None else _moved(part, whole, offset)
    return view


def grounded(view: MemRef) -> MemRef:
    """The same elements as a view of what all lies in that may share bytes with them: the arena of a plan, if there is one."""
    for part, arena, offset in homes(view):
        whole = part.buffer.whole
        view = _moved(part, arena.ground if whole is None else whole, offset)
    return view


def _moved(view: MemRef, buffer: CheckedBuffer, offset: int) -> MemRef:
    return MemRef(buffer, offset + view.start, view.offset, view.sizes, view.strides, view.dtype)


def claim(view: MemRef, place: Any) -> None:
    """The buffer of the view has written the elements at `place`."""
    for part, arena, offset in homes(view):
        part.bytewise(arena.owner, offset)[place] = part.buffer.number


def find_overlap(view: MemRef, place: Any, findings: Findings, at: Source) -> None:
    """Notes an overlap if another buffer has written what this one wants to read."""
    written = None if view.buffer.written is None else view.bytewise(view.buffer.shadowed())[place] != 0
    for part, arena, offset in homes(view):
        owners = part.bytewise(arena.owner, offset)[place]
        foreign = owners != part.buffer.number
        if foreign.any() and written is not None:
            foreign &= written
        if foreign.any():
            _tell(view.buffer, part.buffer, arena, owners[foreign], findings, at)


def _tell(
    buffer: CheckedBuffer, resident: CheckedBuffer, arena: CheckedArena, owners: Array, findings: Findings, at: Source
) -> None:
    """`resident` is the buffer itself, or the arena within the arena that it lies in."""
    other = arena.tenants.get(int(owners.flat[0]))
    by = other.name if other is not None else "another buffer"
    whose = "" if resident is buffer else f" of {resident.name}"
    message = f"{owners.size} bytes{whose} that are wanted here were overwritten by {by}, in {arena.name}"
    findings.add(FaultKind.OVERLAP, at, message, buffer, other=other)
