"""Arenas: who wrote each byte last, and whether that is who reads it now.

A block that was carved out of an arena lies in that, and in whatever the arena was carved out of: in each of them it has bytes of
which it is the owner once it has written them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hotdesk.explain import Source
from hotdesk.runtime.checking.blocks import Arena, Block, View
from hotdesk.runtime.checking.elements import Array
from hotdesk.runtime.checking.findings import Findings
from hotdesk.runtime.checking.report import FaultKind


def settle(block: Block, arena: Arena, offset: int) -> None:
    """Puts a block where a plan wants it. What it already holds is its own."""
    block.home = (arena, offset)
    arena.tenants[block.number] = block
    if block.written is None:
        arena.owner[offset : offset + block.size] = block.number


def homes(view: View) -> Iterator[tuple[View, Arena, int]]:
    """Where a view lies by plan: in the arena of its block, in that which this arena was carved out of, and so on outwards."""
    while view.block.home is not None:
        arena, offset = view.block.home
        yield view, arena, offset
        if view.block.whole is None:
            return
        view = _moved(view, view.block.whole, offset)


def outermost(view: View) -> View:
    """The same elements as a view of the allocation that everything around it was carved out of."""
    for part, _, offset in homes(view):
        whole = part.block.whole
        view = part if whole is None else _moved(part, whole, offset)
    return view


def grounded(view: View) -> View:
    """The same elements as a view of what all lies in that may share bytes with them: the arena of a plan, if there is one."""
    for part, arena, offset in homes(view):
        whole = part.block.whole
        view = _moved(part, arena.ground if whole is None else whole, offset)
    return view


def _moved(view: View, block: Block, offset: int) -> View:
    return View(block, offset + view.start, view.offset, view.sizes, view.strides, view.dtype)


def claim(view: View, place: Any) -> None:
    """The block of the view has written the elements at `place`."""
    for part, arena, offset in homes(view):
        part.bytewise(arena.owner, offset)[place] = part.block.number


def find_overlap(view: View, place: Any, findings: Findings, at: Source) -> None:
    """Notes an overlap if another block has written what this one wants to read."""
    written = None if view.block.written is None else view.bytewise(view.block.shadowed())[place] != 0
    for part, arena, offset in homes(view):
        owners = part.bytewise(arena.owner, offset)[place]
        foreign = owners != part.block.number
        if foreign.any() and written is not None:
            foreign &= written
        if foreign.any():
            _tell(view.block, part.block, arena, owners[foreign], findings, at)


def _tell(block: Block, resident: Block, arena: Arena, owners: Array, findings: Findings, at: Source) -> None:
    """`resident` is the block itself, or the arena within the arena that it lies in."""
    other = arena.tenants.get(int(owners.flat[0]))
    by = other.name if other is not None else "another buffer"
    whose = "" if resident is block else f" of {resident.name}"
    message = f"{owners.size} bytes{whose} that are wanted here were overwritten by {by}, in {arena.name}"
    findings.add(FaultKind.OVERLAP, at, message, block, other=other)
