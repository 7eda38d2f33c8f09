"""Where the memory of two allocations is allocated and freed if one takes over that of the other (rules 4 and 5 of `sharing`).

In one block, or inside of the ops of one, it is allocated in front of the first of them and freed behind the last. For blocks of
a function that branches join, it is

1. allocated in the lowest block through which every path to either comes, at its end if it has neither. No path leads from one of
   the two back to itself, unless it is that block: then each time there is new memory;
2. freed in the first block behind both in which control certainly arrives, once, when it has come to that one, if it is freed at
   all. Such a block is looked for among the next few.

A path from the block in 1 to one of the two leads through blocks that are numbered between them, so that the range of op numbers
covers all that runs while the memory is held.

Of the regions of an op that ends a block it is not known how often they run: those of `scf.reduce` combine what iterations gave.
Nothing is shared between such a region and what is around it.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from hotdesk.analysis.allocations.hoisting import is_not_negative, runs_in_parallel
from hotdesk.analysis.allocations.memory_slots import MemorySlot
from hotdesk.analysis.allocations.uses import Allocations
from hotdesk.analysis.memrefs.buffer_program import FUNCTION
from hotdesk.explain import Reason
from hotdesk.models.new_memory import why_not_moved

_TRIED = 16


@dataclass(frozen=True, slots=True)
class SlotPlace:
    """Memory is allocated in front of op `first` of a block, and freed behind op `last`, or in front of it if it `opens` a block.

    `last` is -1 if nothing frees it.
    """

    block: int
    first: int
    last: int
    opens: bool = False


class SlotPlaces:
    """The places of a function's slots."""

    def __init__(self, allocations: Allocations) -> None:
        self._allocations = allocations
        self._program, self._dominance = allocations.program, allocations.dominance

    def find(self, slot: MemorySlot, alone: MemorySlot) -> SlotPlace | Reason:
        """Where memory goes that an allocation takes over from those before it, or why there is no such place."""
        if bool(slot.last >= 0) != bool(alone.last >= 0):
            return Reason.FREED_ELSEWHERE
        block = self._around(slot.block, alone.block)
        if block is Reason.DIFFERENT_BLOCK:
            found = self._across(slot, alone)
        else:
            found = block if isinstance(block, Reason) else self._within(slot, alone, block)
        if isinstance(found, Reason):
            return found
        if found.last >= 0 and not found.opens and self._ends_block(found.last):
            return Reason.FREED_ELSEWHERE
        kept = why_not_moved(self._program.ops[slot.users[0].op].operation)
        if found.first != slot.users[0].op and kept is not None:
            return kept
        return found if self._is_sized(slot, found.block, found.first) else Reason.SIZE_DEFINED_BELOW

    def _within(self, slot: MemorySlot, alone: MemorySlot, block: int) -> SlotPlace | Reason:
        firsts = [self._program.within(op, block) for op in (slot.first, alone.first)]
        lasts = [self._program.within(free, block) for each in (slot, alone) for free in _frees(each)]
        known = [first for first in firsts if first is not None]
        ends = [last for last in lasts if last is not None]
        if len(known) < len(firsts) or len(ends) < len(lasts):
            return Reason.FREED_ELSEWHERE
        return SlotPlace(block, min(known), max(ends, default=-1))

    def _across(self, slot: MemorySlot, alone: MemorySlot) -> SlotPlace | Reason:
        """The place of two in blocks of the function."""
        tops = [self._top(each.block) for each in (slot, alone)]
        blocks = [top for top in tops if not isinstance(top, Reason)]
        if len(blocks) < len(tops):
            return next(top for top in tops if isinstance(top, Reason))
        if not all(self._dominance.dominates(self._program.body[0], block) for block in blocks):
            return Reason.DIFFERENT_BLOCK
        common = self._dominance.common(blocks)
        if any(block != common and self._dominance.cycle(block) >= 0 for block in blocks):
            return Reason.DIFFERENT_BLOCK
        firsts = [self._program.within(op, common) for op in (slot.first, alone.first)]
        first = min(self._program.blocks[common].last if op is None else op for op in firsts)
        return SlotPlace(common, first, -1) if slot.last < 0 else self._freed(slot, alone, common, first)

    def _freed(self, slot: MemorySlot, alone: MemorySlot, common: int, first: int) -> SlotPlace | Reason:
        """The place with the block where the memory is freed that is allocated in the block `common`."""
        ends: dict[int, int] = {}
        opened = {self._program.ops[slot.last].block} if slot.opens else set[int]()
        for each in (slot, alone):
            for free in _frees(each):
                block = self._program.ops[free].block
                top = self._top(block)
                end = None if isinstance(top, Reason) else self._program.within(free, top)
                if isinstance(top, Reason) or end is None:
                    return Reason.FREED_ELSEWHERE
                ends[top] = max(end, ends.get(top, -1))
                opened -= {top} if each is alone else set()
        at = bisect_left(self._program.body, max(ends))
        for block in self._program.body[at : at + _TRIED]:
            if self._dominance.comes_once(common, block):
                last = ends.get(block, self._program.blocks[block].first)
                return SlotPlace(common, first, last, opens=block not in ends or block in opened)
        return Reason.DIFFERENT_BLOCK

    def _top(self, block: int) -> int | Reason:
        """The block of the function that a block is, or is inside of (rule 4)."""
        while self._program.blocks[block].parent != FUNCTION:
            above = self._above(block)
            if isinstance(above, Reason):
                return above
            block = above
        return block

    def _around(self, a: int, b: int) -> int | Reason:
        """The lowest block that two blocks are, or are inside of (rule 4)."""
        outer = {b, *(op.block for op in self._program.around(b))}
        place = a
        while place not in outer:
            above = self._above(place)
            if isinstance(above, Reason):
                return above
            place = above
        inner = b
        while inner != place:
            above = self._above(inner)
            if isinstance(above, Reason):
                return above
            inner = above
        return place

    def _above(self, block: int) -> int | Reason:
        """The block with the op that a block is inside of, or why memory of the one cannot serve in the other."""
        parent = self._program.blocks[block].parent
        if parent == FUNCTION:
            return Reason.DIFFERENT_BLOCK
        op = self._program.ops[parent]
        if runs_in_parallel(op):
            return Reason.PARALLEL_ITERATIONS
        return op.block if op.control and not self._ends_block(op.number) else Reason.UNKNOWN_REGION

    def _ends_block(self, op: int) -> bool:
        """Whether an op is the last one of its block, so that nothing can be freed behind it: `scf.reduce` with its regions."""
        return self._program.blocks[self._program.ops[op].block].last == op

    def _is_sized(self, slot: MemorySlot, block: int, first: int) -> bool:
        """Whether the sizes of a slot are known in front of an op of a block, and no negative numbers."""
        owner = self._program.ops[slot.users[0].op]
        if first == owner.number:
            return True
        for size in owner.operation.operands:
            home = self._allocations.block_of(size)
            op = self._allocations.defining(size)
            above = home != block and self._dominance.dominates(home, block)
            if not (above or (home == block and op < first)) or not is_not_negative(size):
                return False
        return True


def _frees(slot: MemorySlot) -> tuple[int, ...]:
    """The deallocations, or of those that are known to be in the slot's block the last one."""
    return slot.users[0].frees if len(slot.users) == 1 else (slot.last,) if slot.last >= 0 else ()
