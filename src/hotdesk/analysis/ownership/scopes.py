"""Where the owner of a buffer is still there, and which slots own because a buffer leaves that scope.

A buffer is transferred where it becomes a value outside the scope of its owner (rule 1 of `analysis.ownership.owners`). Where the
operand is the owner itself, or a view of it, that is known without asking which owners a memref may have; what a slot owns may be
transferred again. So slots are found along a worklist, in time in proportion to what is passed on.
"""

from __future__ import annotations

from collections.abc import Collection

from hotdesk.analysis.memrefs.buffer_program import BufferProgram
from hotdesk.analysis.ownership.candidates import EXTERNAL, OwnerCandidates
from hotdesk.analysis.ownership.slots import OwnershipSlot, OwnershipSlots
from hotdesk.program.dominance import Dominance


class OwnerScopes:
    """The scopes of the owners of one function."""

    def __init__(self, program: BufferProgram, slots: OwnershipSlots, dominance: Dominance) -> None:
        self._program, self._slots, self._dominance = program, slots, dominance
        self._passed: dict[int, list[tuple[int, OwnershipSlot]]] = {}
        for key, slot in slots.of_key.items():
            source = slots.source[key]
            self._passed.setdefault(program.root(source), []).append((source, slot))

    def has(self, owner: int, target: int) -> bool:
        """Whether, wherever a target is defined, the owner is, and is still the same one."""
        program = self._program
        above, below = program.buffers[owner], program.buffers[target]
        if above.block == below.block:
            return above.producer < below.producer
        if not self._dominance.dominates(above.block, below.block):
            return False
        inner = below.producer if below.producer >= 0 else program.blocks[below.block].parent
        within = None if inner < 0 else self._program.within(inner, above.block)
        return within is None or above.producer < within

    def leaves(self, owners: Collection[int], source: int, slot: OwnershipSlot) -> bool:
        """Whether something leaves the scope of one of its owners where `source` becomes a target of the slot.

        It does not if the targets are in the scope of the source: the owners that are there at the source still are.
        """
        if all(self.has(source, target) for target in slot.targets):
            return False
        known = [c for c in owners if c != EXTERNAL and (c == source or self.has(c, source))]
        return any(not self.has(c, target) for c in known for target in slot.targets)

    def owning(self, candidates: OwnerCandidates, given: Collection[int]) -> set[int]:
        """Slots that own, beside those given by number: all that what is passed on as it is, or a view of it, leaves by."""
        found = set(given)
        waiting = [owner for owner in self._passed if candidates.owns_itself(owner)]
        waiting += (target for slot in self._slots.slots if slot.number in found for target in slot.targets)
        while waiting:
            owner = waiting.pop()
            for source, slot in self._passed.get(owner, ()):
                if slot.number not in found and self.leaves((owner,), source, slot):
                    found.add(slot.number)
                    waiting += slot.targets
        return found
