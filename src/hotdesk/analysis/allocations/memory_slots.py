"""Slots: memory that several allocations may share, with the op numbers during which each holds it."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Any

from hotdesk.analysis.allocations.ranges import LiveRange, Unbounded, live_range
from hotdesk.analysis.allocations.types import alignment_of, is_contiguous
from hotdesk.analysis.allocations.uses import Allocation, Allocations, bytes_of_element
from hotdesk.analysis.memrefs.buffer_program import FUNCTION
from hotdesk.explain import Reason
from hotdesk.ir.types import same_space, shape_of
from hotdesk.models.new_memory import ALLOC, why_not_replaced
from hotdesk.sizes.size import Size

_BETWEEN = 64
"""Blocks that are looked at to know whether memory is held in all of them."""


@dataclass(frozen=True, slots=True)
class MemorySlot:
    """Memory and who uses it.

    Attributes:
        users: in the order of their live ranges; the first one has the most bytes.
        block: the block around all of them.
        first: the op of the block that is, or has inside, the first of their allocations.
        last: the op that is, or has inside, the last of their deallocations, in this block or behind; -1 if there are none.
        bytes: the size.
        upper: the end of the last live range.
        held: the ops from which to which the memory is allocated, half open.
        opens: whether it is freed in front of `last`, which then is the first op of a block.
    """

    users: tuple[Allocation, ...]
    block: int
    first: int
    last: int
    bytes: Size
    upper: int
    held: tuple[int, int]
    opens: bool = False


def shareable(allocations: Allocations, allocation: Allocation) -> LiveRange | Unbounded:
    """When an allocation is in use; or why it shares with nobody: rules 3 and 5 of `sharing`, and its live range."""
    kind = allocations.value(allocation).type
    reason = why_not_replaced(allocations.op(allocation).operation)
    if reason is None and not bytes_of_element(kind):
        reason = Reason.UNSIZED_ELEMENT
    if reason is None and not is_contiguous(kind):
        reason = Reason.DIFFERENT_LAYOUT
    if reason is not None:
        return Unbounded(reason, allocation.op)
    if allocation.frees and not allocation.is_freed_simply:
        return Unbounded(Reason.FREED_ELSEWHERE, allocation.frees[0])
    return live_range(allocations, allocation)


def why_unlike(allocations: Allocations, slot: MemorySlot, alone: MemorySlot) -> Reason | None:
    """Why memory of one allocation is not what another one asks for, whatever its size: rule 3 of `sharing`."""
    users = (slot.users[0], alone.users[0])
    values, ops = [allocations.value(user) for user in users], [allocations.op(user) for user in users]
    kinds: list[Any] = [value.type for value in values]
    if not same_space(kinds[0].memory_space, kinds[1].memory_space):
        return Reason.OTHER_MEMORY_SPACE
    if ops[0].name != ops[1].name:
        return Reason.FREED_BY_ANOTHER_OP
    if ops[0].name == ALLOC:
        return None
    shapes = [allocations.sizes.shape(value) for value in values]
    alike = kinds[0] == kinds[1] and shapes[0] == shapes[1]
    static = not any(None in shape_of(kind) for kind in kinds) and kinds[0].element_type == kinds[1].element_type
    if not alike and not static:
        return Reason.OTHER_TYPE
    aligned = alignment_of(allocations, users[0]) >= alignment_of(allocations, users[1])
    return None if aligned else Reason.ALIGNMENT_ASSUMED


def single_slot(allocations: Allocations, allocation: Allocation, live: LiveRange) -> MemorySlot:
    """An allocation as it is: held until it is freed, or as long as it is touched if nothing frees it yet."""
    last = allocation.frees[-1] if allocation.frees else -1
    held = (allocation.op, max(last + 1, live.upper))
    home = allocations.program.ops[allocation.op].block
    return MemorySlot((allocation,), home, allocation.op, last, allocations.bytes(allocation), live.upper, held)


def held_across(allocations: Allocations, allocation: Allocation) -> tuple[int, int] | None:
    """The ops, half open, whenever one of which runs an allocation is held that is used in several blocks of the function.

    None if that is not known: if control does not come once and certainly from where it is allocated to where it is freed, or
    touched last; or if blocks that others lead to are numbered between the two, or too many to tell.
    """
    program, dominance = allocations.program, allocations.dominance
    last = allocation.frees[-1] if allocation.frees else allocation.users[-1]
    home, end = program.ops[allocation.op].block, program.ops[last].block
    if len(allocation.frees) > 1 or any(program.blocks[block].parent != FUNCTION for block in (home, end)):
        return None
    if not dominance.comes_once(home, end):
        return None
    body = allocations.program.region_of(home)
    between = body[bisect_left(body, home) : bisect_left(body, end) + 1]
    if len(between) > _BETWEEN or not all(dominance.dominates(home, block) for block in between):
        return None
    return allocation.op, last + 1


def may_be_held_across(allocations: Allocations, allocation: Allocation) -> tuple[int, int]:
    """The ops, half open, while which one that is used in several blocks of the function may be held."""
    program, dominance = allocations.program, allocations.dominance
    tops = [dominance.top(program.ops[op].block) for op in (allocation.op, allocation.users[-1])]
    if any(dominance.cycle(top) >= 0 for top in tops):
        return 0, len(program.ops)
    return allocation.op, program.ops[allocation.users[-1]].end


def is_held_to_the_end(allocations: Allocations, allocation: Allocation) -> bool:
    """Whether it is made once, on all paths, and nobody frees or keeps it before the function returns it."""
    program, origins = allocations.program, allocations.origins
    home = program.blocks[program.ops[allocation.op].block]
    alone = home.parent == FUNCTION and len(allocations.program.region_of(home.number)) == 1
    passed_on = alone and home.last in allocation.users and not allocation.frees and not allocation.keepers
    is_sized = bool(bytes_of_element(allocations.value(allocation).type))
    return passed_on and is_sized and all(set(origins.of[alias]) == {allocation.buffer} for alias in allocation.aliases)


def may_be_held(allocations: Allocations, allocation: Allocation) -> tuple[int, int]:
    """The ops during which an allocation may be held of which no more is known, half open."""
    everything = (0, len(allocations.program.ops))
    entry = allocations.program.ops[-1].block if allocations.program.ops else 0
    top = allocations.program.within(allocation.op, entry)
    ends = [allocations.program.within(user, entry) for user in allocation.users]
    if top is None or None in ends or allocation.keepers or not allocation.frees:
        return everything
    return top, max(allocations.program.ops[end].end for end in (top, *ends) if end is not None)
