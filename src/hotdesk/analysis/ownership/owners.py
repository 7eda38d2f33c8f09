"""Who frees each buffer: the value that owns it, where ownership is transferred, and where it must be asked at run time.

An allocation owns its buffer, and so does a call's result. A slot (`analysis.ownership.slots`) *borrows*: its arguments and
results are aliases of buffers that others own. It *owns* where it must:

1. A buffer is transferred where it leaves the scope of its owner: to a result of the op around it, around a loop, into a block
   that the owner does not dominate, or out of the function. A slot with such an operand owns.
2. Operands of an owning slot transfer ownership where their owner is dead afterwards and can be freed on all other paths
   (`releases`). Otherwise the owner keeps the buffer and outlives the slot's values.
3. Memory of somebody else (arguments, globals, the stack) is never owned. A call's result is the caller's, unless it is *lent*:
   the callee says by a flag whether it is; if not, it is memory that the callee got or that is nobody's.
4. If one op transfers a buffer to two slots, the one with fewer candidates gets it, or the first, and outlives the other.
5. What a slot owns is freed by one op (`analysis.ownership.allocators`). Memory that another op frees is not transferred, and its
   owner has to outlive the slot's values.

A slot whose operands transfer all of their candidates (`analysis.ownership.candidates`) owns *statically*. Any other owning slot
carries a flag at run time. The least solution is found by repetition: slots only come to own, transfers are only taken back.
Where an owner stays ambiguous, slots that it was borrowed through are made to own, if less is asked at run time then (`solve`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from hotdesk.analysis.memrefs.asynchronous import Started, using
from hotdesk.analysis.memrefs.buffer_program import NOT_A_BUFFER, BufferOp, BufferProgram
from hotdesk.analysis.ownership.candidates import EXTERNAL, ONLY_EXTERNAL
from hotdesk.analysis.ownership.problem import OwnershipProblem
from hotdesk.analysis.ownership.releases import ReleasePoint
from hotdesk.analysis.ownership.slots import Key, OwnershipSlot, OwnershipSlots
from hotdesk.analysis.ownership.unreleased import not_released
from hotdesk.graphs import reached

Uses = dict[int, list[int]]
"""By owner, the ops that use its buffer, in order."""
Late = dict[int, set[Started]]
"""By owner, the ops that may use its buffer on and on."""


def uses_of_owners(problem: OwnershipProblem, owners: Sequence[frozenset[int]]) -> tuple[Uses, Late]:
    """Which ops use the memory of each owner, and which of those that run on beside the program have it in use to an unknown end.

    Memrefs with the same candidates are looked at together, and where these are several, only the last use in each block counts:
    no other one tells where the buffer is still wanted. `owners` has for each memref those that its memory may belong to.
    """
    program = problem.program
    found: dict[int, set[int]] = {}
    together: dict[int, tuple[frozenset[int], set[int]]] = {}
    late: Late = {}
    for buffer, candidates in enumerate(owners):
        if not candidates or candidates is ONLY_EXTERNAL:
            continue
        touching = [user for user in program.users[buffer] if problem.touches(user, buffer)]
        if problem.started:
            beside = [problem.started[op] for op in using(program, buffer)]
            touching += (op.done for op in beside if op.done >= 0)
            for owner in candidates - ONLY_EXTERNAL if any(op.done < 0 for op in beside) else ():
                late.setdefault(owner, set()).update(op for op in beside if op.done < 0)
        together.setdefault(id(candidates), (candidates, set()))[1].update(touching)
    for candidates, touching in together.values():
        last = touching
        if len(candidates) > 1:
            last = {program.ops[user].block: user for user in sorted(touching)}.values()
        for owner in candidates:
            if owner != EXTERNAL:
                found.setdefault(owner, set()).update(last)
    return {owner: sorted(ops) for owner, ops in found.items()}, late


class OwnershipTransfer(NamedTuple):
    """What an operand passes into an owning slot: the owners that transfer ownership to it first (`moved`), those that another
    operand of the same op has first claim to (`claimed`), all `candidates`, and whether ownership is certain."""

    key: Key
    slot: OwnershipSlot
    source: int
    candidates: frozenset[int]
    moved: tuple[int, ...]
    claimed: tuple[tuple[int, Key], ...]

    @property
    def certain(self) -> bool:
        return EXTERNAL not in self.candidates and len(self.moved) == len(self.candidates)


class Ownership:
    """The solution for a function.

    Attributes:
        slots: what is passed on together.
        candidates: for each memref, the owners that its memory may belong to.
        owning: the slots that own, by number.
        transfers: what is passed into them, by key.
        places: for each owner that frees its buffer somewhere, where.
        uses: for each owner, the ops that use its buffer, in order.
        last_uses: for each owner that frees its buffer, the last of them.
        unfinished: asynchronous ops that may still use memory which is freed or transferred, by number.
    """

    def __init__(self, problem: OwnershipProblem, owning: Iterable[int] = ()) -> None:
        self._program, self.slots, self._releases = problem.program, problem.slots, problem.releases
        self.lent, self._scopes, self._problem = problem.lent, problem.scopes, problem
        self._found, self._allocators = problem.candidates, problem.allocators
        returned = {slot.number for slot in self.slots.slots if slot.returned >= 0}
        self.owning = self._scopes.owning(self._found, returned | set(owning))
        self._kept: set[tuple[Key, int]] = set()
        self._claims: set[tuple[Key, Key]] = set()
        while not self._settled():
            pass
        for owner in self._stored():
            self.places.pop(owner, None)
        self.unfinished = self._hold()

    @cached_property
    def dynamic(self) -> tuple[OwnershipSlot, ...]:
        """The slots that carry a flag, in order."""
        uncertain = {h.slot.number for h in self.transfers.values() if not h.certain and h.slot.returned < 0}
        return tuple(slot for slot in self.slots.slots if slot.number in uncertain)

    def freed(self, op: BufferOp) -> frozenset[int]:
        """The numbers of the operands whose memory an op frees."""
        return self._problem.freed(op)

    def freed_by(self, owner: int) -> str:
        """The name of the op that frees what an owner has."""
        return self._allocators.of(owner)

    @property
    def asked(self) -> int:
        """How much is left to run time: flags, and three times the pairs of memrefs whose addresses are compared."""
        return len(self.dynamic) + 3 * sum(self.compared(transfer) for transfer in self.transfers.values())

    def compared(self, transfer: OwnershipTransfer) -> int:
        """How many owners an operand is compared with by address: not with one that another operand certainly takes."""
        if len(transfer.candidates) < 2:
            return 0
        open_claims = (owner for owner, first in transfer.claimed if len(self.transfers[first].candidates) > 1)
        owners = (*transfer.moved, *open_claims)
        return sum(owner != self._program.root(transfer.source) for owner in owners)

    def _settled(self) -> bool:
        self.candidates = self._candidates()
        if self._must_own() or self._keep_apart():
            return False
        self._refuse_unknown()
        self.transfers = {h.key: h for op in sorted(self.slots.keys_at) for h in self._transfers_at(op)}
        claims = {(h.key, first) for h in self.transfers.values() for _, first in h.claimed}
        if not claims <= self._claims:
            self._claims |= claims
            return False
        return self._place()

    def _candidates(self) -> list[frozenset[int]]:
        return self._found.find(self.owning, self._kept, self._claims)

    def _refuse_unknown(self) -> None:
        """Raises BufferizationError if memory leaves the scope of its owner by an op of which nothing is known."""
        unknown = self._found.unknown
        for buffer in unknown.all:
            owners = self.candidates[buffer.number] - {EXTERNAL, buffer.number}
            gone = {owner for owner in owners if not self._scopes.has(owner, buffer.number)}
            for number, source in unknown.passed_on(buffer) if gone else ():
                if not gone.isdisjoint(self.candidates[source]):
                    raise not_released(self._program, self._program.ops[number], True)

    def _must_own(self) -> bool:
        """Makes slots own by rule 1; whether there were any."""
        found = {
            slot.number
            for slot in self.slots.slots
            if slot.number not in self.owning and any(self._leaves(key, slot) for key in slot.keys)
        }
        self.owning |= found
        return bool(found)

    def _leaves(self, key: Key, slot: OwnershipSlot) -> bool:
        source = self.slots.source[key]
        return self._scopes.leaves(self.candidates[source], source, slot)

    def _keep_apart(self) -> bool:
        """Keeps back what another op frees than the rest of a slot (rule 5); whether there was any."""
        found = self._allocators.mixed(self.owning, self.candidates, self._kept)
        for key, owner in found:
            if not all(self._scopes.has(owner, target) for target in self.slots.of_key[key].targets):
                raise self._allocators.refused(key, owner)
        self._kept |= found
        return bool(found)

    def _transfers_at(self, op: int) -> list[OwnershipTransfer]:
        """What is transferred at an op (rules 2 and 4)."""
        found: list[OwnershipTransfer] = []
        taken: list[tuple[int, Key]] = []
        keys = [key for key in self.slots.keys_at[op] if self.slots.of_key[key].number in self.owning]
        for key in sorted(keys, key=lambda key: len(self.candidates[self.slots.source[key]])):
            slot = self.slots.of_key[key]
            source = self.slots.source[key]
            candidates = self.candidates[source]
            moved: list[int] = []
            claimed: list[tuple[int, Key]] = []
            for c in sorted(candidates):
                if c == EXTERNAL or (key, c) in self._kept:
                    continue
                first = next((k for o, k in taken if o == c and self.slots.edges(k) & self.slots.edges(key)), None)
                if first is None:
                    moved.append(c)
                else:
                    claimed.append((c, first))
            taken += ((c, key) for c in moved)
            found.append(OwnershipTransfer(key, slot, source, candidates, tuple(moved), tuple(claimed)))
        return found

    def _place(self) -> bool:
        """Finds where each owner frees its buffer, or takes transfers back."""
        self.uses, self._late = uses_of_owners(self._problem, self.candidates)
        moves: dict[int, dict[int, frozenset[int]]] = {}
        for transfer in self.transfers.values():
            for c in transfer.moved:
                edges = self.slots.edges(transfer.key)
                here = moves.setdefault(c, {})
                here[transfer.key[0]] = here.get(transfer.key[0], frozenset()) | edges
        self.places: dict[int, tuple[ReleasePoint, ...]] = {}
        self._moves = moves
        self.last_uses: dict[int, int] = {}
        refused: set[tuple[Key, int]] = set()
        for owner, uses in sorted(self.uses.items()):
            mine = moves.get(owner, {})
            found = self._releases.find(owner, uses, mine)
            if isinstance(found, range):
                back = {
                    (h.key, owner) for op in mine if op in found for h in self._transfers_at(op) if owner in h.moved
                }
                self._require(owner, found, back)
                refused |= back
            else:
                self.places[owner] = found
                self.last_uses[owner] = uses[-1] if uses else -1
        self._kept |= refused
        return not refused

    def _hold(self) -> tuple[int, ...]:
        """Has what asynchronous ops use freed where they are done; those of which that is not known."""
        found: set[int] = set()
        for owner, ops in self._late.items():
            if owner in self.places:
                late = self._problem.late_ends.find(owner, ops, self._moves.get(owner, {}), self.places[owner])
                if isinstance(late, int):
                    found.add(late)
                else:
                    self.places[owner] = late
        return tuple(sorted(found))

    def _stored(self) -> set[int]:
        """Owners of memory that other memory points to, and whoever they transfer ownership to: it may be read from there."""
        stored = {c for _, memref in self._program.stored for c in self.candidates[memref]} - {EXTERNAL}
        targets: dict[int, list[int]] = {}
        for transfer in self.transfers.values() if stored else ():
            for owner in transfer.moved:
                targets.setdefault(owner, []).extend(transfer.slot.targets)
        return {*reached(stored, lambda owner: targets.get(owner, ()))}

    def _require(self, owner: int, ops: range, back: set[tuple[Key, int]]) -> None:
        """Raises BufferizationError if nothing can be taken back: memory leaves through an op that nothing is known of."""
        stays = all(self._scopes.has(owner, p.target) for key, _ in back for p in self.slots.passings.get(key, ()))
        if back and stays and not any(self.slots.of_key[key].returned >= 0 for key, _ in back):
            return
        op = self._program.ops[ops.start]
        passed = any(owner in self.candidates[v] for v in op.operands if v != NOT_A_BUFFER)
        raise not_released(self._program, op, passed)


_ATTEMPTS = 4


def solve(program: BufferProgram, slots: OwnershipSlots, lent: frozenset[int] = frozenset()) -> Ownership:
    """The ownership of a function's buffers, given its slots; `lent` are results of calls that come with a flag.

    Raises:
        BufferizationError: memory is passed on by an op of which nothing is known, or passed on as memory of another allocator.
    """
    problem = OwnershipProblem(program, slots, lent)
    best = Ownership(problem)
    for _ in range(_ATTEMPTS):
        behind = _borrowed_behind(problem, best) if best.asked else set[int]()
        if not behind:
            return best
        other = Ownership(problem, best.owning | behind)
        if other.asked >= best.asked:
            return best
        best = other
    return best


def _borrowed_behind(problem: OwnershipProblem, solution: Ownership) -> set[int]:
    """The borrowing slots through which an operand came whose owner is not certain."""
    found: set[int] = set()

    def behind(value: int) -> Iterator[int]:
        yield from (source for source in problem.program.buffers[value].sources if source != NOT_A_BUFFER)
        slot = problem.slots.of_target.get(value)
        if slot is not None and slot.number not in solution.owning:
            found.add(slot.number)
            yield from (problem.slots.source[key] for key in slot.keys)

    reached((each.source for each in solution.transfers.values() if len(each.candidates) != 1), behind)
    return found
