"""Which op frees what an owner has: that of the op that allocated it, of a call's result `memref.dealloc`.

A slot has one such op for all that it owns: `memref.dealloc` if any memory that is transferred to it is freed so, else the first
of the names. A caller frees what it gets by `memref.dealloc`, so what another op frees is copied before it is returned.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hotdesk.analysis.memrefs.buffer_program import BufferProgram, Kind
from hotdesk.analysis.ownership.candidates import OwnerCandidates
from hotdesk.analysis.ownership.slots import Key, OwnershipSlot, OwnershipSlots
from hotdesk.errors import BufferizationError
from hotdesk.ir.locations import python_line
from hotdesk.models.new_memory import DEALLOC, always_deallocated, freeing_op


def returned_elsewhere(program: BufferProgram, slots: OwnershipSlots) -> list[Key]:
    """The operands of returns that may be memory which another op frees than the caller would."""
    own = _freed_otherwise(program)
    if not own:
        return []
    found = OwnerCandidates(program, slots, frozenset()).find((), (), ())
    returned = (key for slot in slots.slots if slot.returned >= 0 for key in slot.keys)
    return [key for key in returned if not found[slots.source[key]].isdisjoint(own)]


def _freed_otherwise(program: BufferProgram) -> dict[int, str]:
    """The allocations that another op frees than `memref.dealloc`, with its name."""
    makers = {b.number: program.ops[b.producer] for b in program.buffers if b.kind is Kind.ALLOCATION}
    always = {name for name in {op.name for op in makers.values()} if always_deallocated(name)}
    named = ((number, freeing_op(op.operation)) for number, op in makers.items() if op.name not in always)
    return {number: name for number, name in named if name != DEALLOC}


class Allocators:
    """The ops that free what the owners of a function have, by name."""

    def __init__(self, program: BufferProgram, slots: OwnershipSlots) -> None:
        self._program, self._slots = program, slots
        self._own = _freed_otherwise(program)
        self._passed: dict[int, str] = {}

    def of(self, owner: int) -> str:
        """The op that frees what an owner has."""
        return self._own.get(owner) or self._passed.get(owner, DEALLOC)

    def mixed(
        self,
        owning: Collection[int],
        candidates: Sequence[frozenset[int]],
        kept: Collection[tuple[Key, int]],
    ) -> set[tuple[Key, int]]:
        """What would be transferred to a slot that frees by another op, given who transfers what so far."""
        if not self._own:
            return set()
        transferred = [
            (slot, key, owner)
            for slot in self._slots.slots
            if slot.number in owning
            for key in slot.keys
            for owner in candidates[self._slots.source[key]]
            if owner >= 0 and (key, owner) not in kept
        ]
        names: dict[int, frozenset[str]] = {}
        while self._spread(transferred, names):
            pass
        self._passed = {
            target: DEALLOC if DEALLOC in found else min(found, default=DEALLOC) for target, found in names.items()
        }
        return {
            (key, owner)
            for slot, key, owner in transferred
            if self.of(owner) != (self.of(slot.targets[0]) if slot.targets else DEALLOC)
        }

    def _spread(self, transferred: Sequence[tuple[OwnershipSlot, Key, int]], names: dict[int, frozenset[str]]) -> bool:
        """Gives the targets of slots the names of the ops that free what is transferred to them; whether there were more."""
        more = False
        for slot, _, owner in transferred:
            found = names.get(owner, frozenset()) if owner in self._slots.of_target else frozenset({self.of(owner)})
            for target in slot.targets:
                before = names.setdefault(target, frozenset())
                names[target] = before | found
                more |= names[target] != before
        return more

    def refused(self, key: Key, owner: int) -> BufferizationError:
        """The error that memory of two allocators becomes one value, and neither owner outlives it."""
        op = self._program.ops[key[0]]
        return BufferizationError(
            f"memory that `{op.name}` passes on",
            expected="memory that one op frees, whichever way control takes",
            got=f"some that `{self.of(owner)}` frees, beside some that another op frees",
            where=python_line(op.operation.location),
            hint="copy one of them into memory of the other's allocator",
        )
