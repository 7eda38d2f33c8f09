"""The ownership problem of a function: what solving it rests on and does not change, read once."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from hotdesk.analysis.memrefs.asynchronous import started
from hotdesk.analysis.memrefs.buffer_program import NOT_A_BUFFER, BufferOp, BufferProgram, Kind
from hotdesk.analysis.ownership.allocators import Allocators
from hotdesk.analysis.ownership.candidates import EXTERNAL, OwnerCandidates
from hotdesk.analysis.ownership.releases import LateEnds, Releases
from hotdesk.analysis.ownership.slots import OwnershipSlot, OwnershipSlots
from hotdesk.graphs import reached
from hotdesk.models.memref import QUIET, view_source
from hotdesk.models.new_memory import freed, never_frees
from hotdesk.program.dominance import Dominance


class OwnerScopes:
    """Where the owner of a buffer is still there, and which slots own because a buffer leaves that scope.

    A buffer is transferred where it becomes a value outside the scope of its owner (rule 1 of `analysis.ownership.owners`). Where
    the operand is the owner itself, or a view of it, that is known without asking which owners a memref may have; what a slot
    owns may be transferred again. So slots are what is reached from there, in time in proportion to what is passed on.
    """

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
        first = [owner for owner in self._passed if candidates.owns_itself(owner)]
        first += (target for slot in self._slots.slots if slot.number in found for target in slot.targets)

        def owned_by_slots(owner: int) -> Iterator[int]:
            for source, slot in self._passed.get(owner, ()):
                if slot.number not in found and self.leaves((owner,), source, slot):
                    found.add(slot.number)
                    yield from slot.targets

        reached(first, owned_by_slots)
        return found


_NOTHING: frozenset[int] = frozenset()


class OwnershipProblem:
    """A function, and what of it does not change while its ownership is solved; `lent` are results that come with a flag."""

    def __init__(self, program: BufferProgram, slots: OwnershipSlots, lent: frozenset[int] = frozenset()) -> None:
        self.program, self.slots, self.lent = program, slots, lent
        dominance = Dominance(program)
        self.scopes, self.releases = OwnerScopes(program, self.slots, dominance), Releases(program, dominance)
        self.candidates, self.allocators = OwnerCandidates(program, self.slots, lent), Allocators(program, self.slots)
        self.started, self.late_ends = started(program), LateEnds(program)
        self._never_frees: dict[str, bool] = {}  # by name
        self._freed: dict[int, frozenset[int]] = {}
        self._touching: dict[int, bool] = {}

    def freed(self, op: BufferOp) -> frozenset[int]:
        """The numbers of the operands whose memory an op frees."""
        never = self._never_frees.get(op.name)
        if never is None:
            never = self._never_frees[op.name] = never_frees(op.name)
        if never:
            return _NOTHING
        found = self._freed.get(op.number)
        if found is None:
            found = self._freed[op.number] = freed(op.operation)
        return found

    def touches(self, number: int, buffer: int) -> bool:
        """Whether an op uses the memory of a memref, and does more than free it or show it differently."""
        op = self.program.ops[number]
        found = self._touching.get(number)
        if found is None:
            found = self._touching[number] = not (op.name in QUIET or self.freed(op))
        return found and not self._only_shows(op, buffer)

    def _only_shows(self, op: BufferOp, buffer: int) -> bool:
        """Whether an op makes views of a memref and does nothing else with it: not what it asks for the sizes of a view."""
        shown = [
            view_source(op.name, i)
            for i, value in enumerate(op.results)
            if value != NOT_A_BUFFER and self.program.buffers[value].kind is Kind.VIEW
        ]
        return (
            bool(shown) and buffer in op.operands and all(i in shown for i, v in enumerate(op.operands) if v == buffer)
        )
