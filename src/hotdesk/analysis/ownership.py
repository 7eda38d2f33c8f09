"""Who frees each buffer: the value that owns it, where ownership is handed over, and where it must be asked at run time.

An allocation owns its buffer, and so does a call's result. A slot (`analysis.handovers`) *borrows*: its arguments and results
are aliases of buffers that others own. It *owns* where it must:

1. A buffer is handed over where it leaves the scope of its owner: to a result of the op around it, around a loop, into a block
   that the owner does not dominate, or out of the function. A slot with such an operand owns.
2. Operands of an owning slot hand over where their owner is dead afterwards and can be freed on all other paths (`releases`).
   Otherwise the owner keeps the buffer and outlives the slot's values.
3. Memory of somebody else (arguments, globals, the stack) is never owned. A call's result is the caller's, unless it is *lent*:
   the callee says by a flag whether it is; if not, it is memory that the callee got or that is nobody's.
4. If one op hands a buffer over to two slots, the one with fewer candidates gets it, or the first, and outlives the other.

The *candidates* of a memref are the owners that may have to free its memory, and `EXTERNAL` if that may be nobody. A slot whose
operands hand over all of their candidates owns *statically*. Any other owning slot carries a flag at run time. The least solution
is found by repetition: slots only come to own, handovers are only taken back.

Where an owner is ambiguous, slots that it was borrowed through are made to own, if that leaves less to be asked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from hotdesk.analysis.buffer_dominance import Dominance
from hotdesk.analysis.buffer_program import NOT_A_BUFFER, BufferProgram, Kind
from hotdesk.analysis.handovers import Handovers, Key, Slot
from hotdesk.analysis.memory_effects import freed
from hotdesk.analysis.releases import Place, Releases
from hotdesk.errors import BufferizationError
from hotdesk.ir.locations import python_line

EXTERNAL = -1
_ATTEMPTS = 4
_QUIET = frozenset({"memref.alloc", "memref.dim", "memref.rank", "arith.select"})


@dataclass(frozen=True, slots=True)
class Handover:
    """What an operand passes into an owning slot: the owners that hand over to it first (`moved`), those that another operand
    of the same op has first claim to (`claimed`), all `candidates`, and whether ownership is certain."""

    key: Key
    slot: Slot
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
        handovers: what is passed into them, by key.
        places: for each owner that frees its buffer somewhere, where.
        last_uses: for each owner, the last op that uses its buffer.
    """

    def __init__(
        self,
        program: BufferProgram,
        handovers: Handovers,
        releases: Releases,
        owning: Iterable[int] = (),
        lent: frozenset[int] = frozenset(),
    ) -> None:
        self.lent = lent
        self._program, self.slots, self._releases = program, handovers, releases
        self.owning = {slot.number for slot in handovers.slots if slot.returned >= 0} | set(owning)
        self._kept: set[tuple[Key, int]] = set()
        self._claims: set[tuple[Key, Key]] = set()
        self._dominance = Dominance(program)
        while not self._settled():
            pass
        for owner in self._stored():
            self.places.pop(owner, None)

    @cached_property
    def dynamic(self) -> tuple[Slot, ...]:
        """The slots that carry a flag, in order."""
        uncertain = {h.slot.number for h in self.handovers.values() if not h.certain and h.slot.returned < 0}
        return tuple(slot for slot in self.slots.slots if slot.number in uncertain)

    @property
    def asked(self) -> int:
        """How much is left to run time: flags, and three times the pairs of memrefs whose addresses are compared."""
        compared = (
            owner != self._program.root(h.source)
            for h in self.handovers.values()
            for owner in (*h.moved, *(owner for owner, _ in h.claimed))
            if len(h.candidates) > 1
        )
        return len(self.dynamic) + 3 * sum(compared)

    def owner_slot(self, buffer: int) -> Slot | None:
        """The slot of a memref if it owns."""
        slot = self.slots.of_target.get(buffer)
        return slot if slot is not None and slot.number in self.owning else None

    def _settled(self) -> bool:
        self.candidates = self._candidates()
        if self._must_own():
            return False
        self.handovers = {h.key: h for op in sorted(self.slots.keys_at) for h in self._handed_at(op)}
        claims = {(h.key, first) for h in self.handovers.values() for _, first in h.claimed}
        if not claims <= self._claims:
            self._claims |= claims
            return False
        return self._place()

    def _candidates(self) -> list[frozenset[int]]:
        program = self._program
        found: list[set[int]] = []
        targets: dict[int, list[tuple[int, Key | None]]] = {}
        for buffer in program.buffers:
            mine: set[int] = set()
            if (
                buffer.kind is Kind.ALLOCATION
                or self.owner_slot(buffer.number) is not None
                or self._is_called(buffer.number)
            ):
                mine.add(buffer.number)
            if buffer.number in self.lent or (not mine and buffer.kind not in (Kind.VIEW, Kind.CHOICE, Kind.PASSED)):
                mine.add(EXTERNAL)
            found.append(mine)
            for source in self._shown(buffer.number):
                targets.setdefault(source, []).append((buffer.number, None))
        for key, passings in self.slots.passings.items():
            for passing in passings:
                targets.setdefault(passing.source, []).append((passing.target, key))
        for key, first in self._claims:
            self._outlive(key, first, found)
        waiting = [buffer.number for buffer in reversed(program.buffers) if found[buffer.number]]
        while waiting:
            source = waiting.pop()
            for target, key in targets.get(source, ()):
                new = found[source] - found[target]
                if key is not None and self.slots.of_key[key].number in self.owning:
                    new = {c for c in new if c == EXTERNAL or (key, c) in self._kept}
                if new:
                    found[target] |= new
                    waiting.append(target)
        return [frozenset(each) for each in found]

    def _outlive(self, key: Key, first: Key, found: list[set[int]]) -> None:
        """What `key` passes on may be the memory of what the operand `first` of the same op becomes."""
        for passing in self.slots.passings.get(key, ()):
            for other in self.slots.passings.get(first, ()):
                if (
                    passing.edge == other.edge
                    and self._program.buffers[passing.target].block == self._program.buffers[other.target].block
                ):
                    found[passing.target].add(other.target)

    def _is_called(self, buffer: int) -> bool:
        """Whether a memref is a call's result, which the caller owns."""
        producer = self._program.buffers[buffer].producer
        return producer >= 0 and self._program.ops[producer].name in ("func.call", "func.call_indirect")

    def _shown(self, buffer: int) -> tuple[int, ...]:
        """The memrefs whose memory a memref may be by its op: a view's, a choice's, all that an unknown op has."""
        record = self._program.buffers[buffer]
        shown = record.sources
        if (
            record.kind is Kind.UNKNOWN
            and record.producer >= 0
            and (buffer in self.lent or not self._is_called(buffer))
        ):
            shown = self._program.ops[record.producer].operands
        elif (
            record.kind is Kind.UNKNOWN
            and record.producer < 0
            and (parent := self._program.blocks[record.block].parent) >= 0
        ):
            shown = self._program.ops[parent].operands
        return tuple(source for source in shown if source != NOT_A_BUFFER)

    def _must_own(self) -> bool:
        """Makes slots own by rule 1; whether there were any."""
        found = {
            slot.number
            for slot in self.slots.slots
            if slot.number not in self.owning and any(self._leaves(self.slots.source[key], slot) for key in slot.keys)
        }
        self.owning |= found
        return bool(found)

    def _leaves(self, source: int, slot: Slot) -> bool:
        """Whether something leaves the scope of its owner where `source` becomes a target of the slot."""
        owners = [c for c in self.candidates[source] if c != EXTERNAL and (c == source or self._in_scope(c, source))]
        return any(not self._in_scope(c, target) for c in owners for target in slot.targets)

    def _in_scope(self, owner: int, target: int) -> bool:
        """Whether, wherever a target is defined, the owner is, and is still the same one."""
        program = self._program
        above, below = program.buffers[owner], program.buffers[target]
        if above.block == below.block:
            return above.producer < below.producer
        if not self._dominance.dominates(above.block, below.block):
            return False
        inner = below.producer if below.producer >= 0 else program.blocks[below.block].parent
        within = None if inner < 0 else self._dominance.within(inner, above.block)
        return within is None or above.producer < within

    def _handed_at(self, op: int) -> list[Handover]:
        """Who hands over at an op (rules 2 and 4)."""
        found: list[Handover] = []
        taken: list[tuple[int, Key]] = []
        keys = [key for key in self.slots.keys_at[op] if self.slots.of_key[key].number in self.owning]
        for key in sorted(keys, key=lambda key: len(self.candidates[self.slots.source[key]])):
            slot = self.slots.of_key[key]
            source = self.slots.source[key]
            candidates = self.candidates[source]
            moved: list[int] = []
            claimed: list[tuple[int, Key]] = []
            for c in sorted(candidates - {EXTERNAL}):
                if (key, c) in self._kept:
                    continue
                first = next((k for o, k in taken if o == c and self.slots.edges(k) & self.slots.edges(key)), None)
                if first is None:
                    moved.append(c)
                else:
                    claimed.append((c, first))
            taken += ((c, key) for c in moved)
            found.append(Handover(key, slot, source, candidates, tuple(moved), tuple(claimed)))
        return found

    def _place(self) -> bool:
        """Finds where each owner frees its buffer, or takes handovers back."""
        program = self._program
        uses: dict[int, set[int]] = {}
        moves: dict[int, dict[int, frozenset[int]]] = {}
        for buffer, candidates in zip(program.buffers, self.candidates, strict=True):
            touching = [u for u in program.users[buffer.number] if self._touches(u)] if candidates else []
            for c in candidates - {EXTERNAL}:
                uses.setdefault(c, set()).update(touching)
        for handover in self.handovers.values():
            for c in handover.moved:
                edges = self.slots.edges(handover.key)
                here = moves.setdefault(c, {})
                here[handover.key[0]] = here.get(handover.key[0], frozenset()) | edges
        self.places: dict[int, tuple[Place, ...]] = {}
        self.last_uses: dict[int, int] = {}
        refused: set[tuple[Key, int]] = set()
        for owner in sorted(uses):
            mine = moves.get(owner, {})
            found = self._releases.find(owner, sorted(uses[owner]), mine)
            if isinstance(found, range):
                back = {(h.key, owner) for op in mine if op in found for h in self._handed_at(op) if owner in h.moved}
                self._require(owner, found, back)
                refused |= back
            else:
                self.places[owner] = found
                self.last_uses[owner] = max(uses[owner], default=-1)
        self._kept |= refused
        return not refused

    def _stored(self) -> set[int]:
        """Owners of memory that other memory points to, and whoever they hand over to: it may be read from there."""
        stores = (op for op in self._program.ops if op.name == "memref.store" and op.operands[0] != NOT_A_BUFFER)
        found = {c for op in stores for c in self.candidates[op.operands[0]]} - {EXTERNAL}
        before = -1
        while found and before != len(found):
            before = len(found)
            found.update(t for h in self.handovers.values() if found.intersection(h.moved) for t in h.slot.targets)
        return found

    def _touches(self, op: int) -> bool:
        record = self._program.ops[op]
        views = any(v != NOT_A_BUFFER and self._program.buffers[v].kind is Kind.VIEW for v in record.results)
        return not (views or record.name in _QUIET or freed(record.operation))

    def _require(self, owner: int, ops: range, back: set[tuple[Key, int]]) -> None:
        """Raises BufferizationError if nothing can be taken back: memory leaves through an op that nothing is known of."""
        stays = all(self._in_scope(owner, p.target) for key, _ in back for p in self.slots.passings.get(key, ()))
        if back and stays and not any(self.slots.of_key[key].returned >= 0 for key, _ in back):
            return
        op = self._program.ops[ops.start]
        raise BufferizationError(
            f"memory that `{op.name}` passes on",
            expected="an op whose flow a model describes",
            got="an allocation whose owner cannot be told",
            where=python_line(op.operation.location) or None,
            hint="register a model with `flow` for the op around it: `hotdesk.models.register`",
        )


def solve(program: BufferProgram, lent: frozenset[int] = frozenset()) -> Ownership:
    """The ownership of a function's buffers; `lent` are results of calls that come with a flag.

    Raises:
        BufferizationError: memory is passed on by an op of which nothing is known.
    """
    slots, releases = Handovers(program), Releases(program)
    best = Ownership(program, slots, releases, (), lent)
    for _ in range(_ATTEMPTS):
        behind = _borrowed_behind(program, slots, best) if best.asked else set[int]()
        if not behind:
            return best
        other = Ownership(program, slots, releases, best.owning | behind, lent)
        if other.asked >= best.asked:
            return best
        best = other
    return best


def _borrowed_behind(program: BufferProgram, slots: Handovers, solution: Ownership) -> set[int]:
    """The borrowing slots through which an operand came whose owner is not certain."""
    found: set[int] = set()
    seen: set[int] = set()
    waiting = [h.source for h in solution.handovers.values() if len(h.candidates) != 1]
    while waiting:
        value = waiting.pop()
        if value in seen:
            continue
        seen.add(value)
        waiting += (source for source in program.buffers[value].sources if source != NOT_A_BUFFER)
        slot = slots.of_target.get(value)
        if slot is not None and slot.number not in solution.owning:
            found.add(slot.number)
            waiting += (slots.source[key] for key in slot.keys)
    return found
