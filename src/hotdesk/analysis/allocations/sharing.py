"""Which allocations of a function may take over the memory of one that is dead by then.

Allocations are looked at in the order of their live ranges (`analysis.allocations.ranges`). One, the *taker*, goes to memory of
those before it, the *slot*, iff

1. the live range of all that use the slot ends before the taker's begins. In the order of the text a branch ends before the other
   one begins, and a loop's body is used anew in each iteration, so this holds for branches and in loops
   (`live-at-the-same-time`, `nothing-to-share`, `used-across-blocks`, `kept-by-unknown`, `leaves-scope`,
   `kept-between-iterations`);
2. the slot has as many bytes, or more: numbers, or expressions of which that is proven, such as a minimum of which one part is
   a number, or symbols whose range is declared (`ir.argument_sizes`; sizes are not negative, other index values may be)
   (`too-small`, `size-not-proven`);
3. both are contiguous, in the same memory space, with elements of a known size. The memory of both is ordinary, by
   `models.new_memory`, and they come from one allocator: `memref.alloc`, or another op. If it is another one, they
   are of one type with equal sizes, or static and of one element type, since no other memory can be asked of it; and the slot is
   as well aligned (`different-layout`, `other-memory-space`, `unsized-element`, `other-type`, `freed-by-another-op`,
   `alignment-assumed`, `not-ordinary-memory`, `does-more-than-allocate`, `asynchronous`, `not-known-to-move`);
4. the block around both has the slot's sizes, and between that block and each of the two is no loop whose iterations run at the
   same time, and no region of which nothing is known. Blocks that branches join have a place by
   `analysis.allocations.slot_places` (`different-block`, `size-defined-below`, `parallel-iterations`, `unknown-region`);
5. each is freed as a whole by the op that frees such memory inside that block, or neither is freed at all (`freed-elsewhere`);
6. the peak does not rise (`analysis.order.peak`), though the slot is held from the first of them to the last, with what is
   between. The peak is the one of the worst path. While a function is called, or a buffer may be held of which it is not known
   for how long, no more is held than before (`raises-peak`).

The slot is the smallest one that fits, among those the one that was freed last. Where the first user of a slot is inside an op,
the slot goes in front of that op; where two are in blocks that follow a third one, to the end of that block.
"""

from __future__ import annotations

import heapq
import sys
from bisect import bisect_left, insort
from collections.abc import Mapping, Sequence

from hotdesk._bindings import ir
from hotdesk.analysis.allocations.freeing_calls import FreeingCalls
from hotdesk.analysis.allocations.memory_slots import (
    MemorySlot,
    held_across,
    is_held_to_the_end,
    may_be_held,
    may_be_held_across,
    shareable,
    single_slot,
    why_unlike,
)
from hotdesk.analysis.allocations.ranges import LiveRange, Unbounded
from hotdesk.analysis.allocations.slot_places import SlotPlaces
from hotdesk.analysis.allocations.types import may_allocate
from hotdesk.analysis.allocations.uses import Allocation, Allocations
from hotdesk.analysis.order.peak import Change, MemoryProfile
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.argument_sizes import declared_bounds
from hotdesk.sizes.proofs import SizeProver
from hotdesk.sizes.size import Size, spelled

_TRIED = 8

KEPT_APART = (
    Reason.DIFFERENT_BLOCK,
    Reason.SIZE_DEFINED_BELOW,
    Reason.ALIGNMENT_ASSUMED,
    Reason.DIFFERENT_LAYOUT,
    Reason.FREED_BY_ANOTHER_OP,
    Reason.FREED_ELSEWHERE,
    Reason.OTHER_MEMORY_SPACE,
    Reason.OTHER_TYPE,
    Reason.UNSIZED_ELEMENT,
    Reason.KEPT_BETWEEN_ITERATIONS,
    Reason.KEPT_BY_UNKNOWN,
    Reason.LEAVES_SCOPE,
    Reason.PARALLEL_ITERATIONS,
    Reason.UNKNOWN_REGION,
    Reason.ASYNCHRONOUS,
    Reason.DOES_MORE_THAN_ALLOCATE,
    Reason.NOT_KNOWN_TO_MOVE,
    Reason.NOT_ORDINARY_MEMORY,
)
"""Why an allocation is not in memory that others have as well, whatever their sizes."""


class Sharing:
    """The slots of one function, and a decision for each allocation; the IR must not change meanwhile.

    Args:
        allocations: those of the function, if they are known already.
        overwritten: takers, and the one whose memory each takes over while one op touches both, by buffer. Then nobody else
            shares, and `refused` says which of them do not, and why.
    """

    def __init__(
        self,
        function: ir.Operation,
        freeing: FreeingCalls | None = None,
        allocations: Allocations | None = None,
        overwritten: Mapping[int, int] | None = None,
    ) -> None:
        self.allocations = allocations or Allocations(function, freeing)
        self.refused: dict[int, Reason] = {}
        self._bounds = declared_bounds(function)
        self._prover = SizeProver(self._bounds, self._is_signed)
        self.decisions: list[Decision] = []
        self.slots: list[MemorySlot] = []
        self._program, self._places = self.allocations.program, SlotPlaces(self.allocations)
        found: list[tuple[MemorySlot, LiveRange]] = []
        known: list[Change] = []
        vague = [(op.number, op.end) for op in self._program.ops if may_allocate(op)]
        for allocation in self.allocations.on_heap:
            live = shareable(self.allocations, allocation)
            if isinstance(live, Unbounded):
                self._say(allocation, Outcome.ALLOCATED, live.reason, live.op)
            if isinstance(live, LiveRange) and live.spread:
                across = held_across(self.allocations, allocation)
                if across is None:
                    vague.append(may_be_held_across(self.allocations, allocation))
                else:
                    known.append(Change(*across, self.allocations.bytes(allocation)))
                self._say(allocation, Outcome.ALLOCATED, Reason.USED_ACROSS_BLOCKS, allocation.op)
            elif isinstance(live, LiveRange) and live.lower < live.upper:
                found.append((single_slot(self.allocations, allocation, live), live))
            elif is_held_to_the_end(self.allocations, allocation):
                known.append(Change(allocation.op, len(self._program.ops), self.allocations.bytes(allocation)))
            else:
                vague.append(may_be_held(self.allocations, allocation))
        found.sort(key=lambda pair: (pair[1].lower, pair[0].first))
        held = [*known, *(Change(*slot.held, slot.bytes) for slot, _ in found)]
        self._profile = MemoryProfile(
            len(self._program.ops) + 1, held, vague, SizeProver(may_be_negative=self._is_signed)
        )
        self._busy: list[tuple[int, int]] = []
        self._free: list[tuple[int, int, int]] = []
        self._symbolic: dict[Size, list[int]] = {}
        self._fits: dict[tuple[object, ...], bool] = {}
        self._of_size: dict[Size, int] = {}  # the last slot of each size
        self._largest = -1  # of the slots whose size is a number
        if overwritten is not None:
            self._join_overwritten(found, overwritten)
            return
        for slot, live in found:
            self._release(live.lower)
            self._assign(slot, live)

    def _join_overwritten(self, found: Sequence[tuple[MemorySlot, LiveRange]], overwritten: Mapping[int, int]) -> None:
        """Gives takers, the last one first, and whoever takes over from them, the memory that they take over, if it is enough."""
        slots = {slot.users[0].buffer: slot for slot, _ in found}
        for single, live in reversed(found):
            taker = single.users[0].buffer
            if taker not in overwritten:
                continue
            alone, slot = slots[taker], slots.get(overwritten[taker])
            if slot is None or len(slot.users) > 1:
                self.refused[taker] = Reason.ALREADY_OVERWRITTEN
                continue
            joined = self._join_if_it_fits(slot, alone, LiveRange(live.block, live.lower, alone.upper))
            if isinstance(joined, MemorySlot):
                slots[overwritten[taker]] = joined
                del slots[taker]
            else:
                self.refused[taker] = joined
        self.slots = list(slots.values())

    def _join_if_it_fits(self, slot: MemorySlot, alone: MemorySlot, live: LiveRange) -> MemorySlot | Reason:
        if not self._fits_in(alone, slot):
            return Reason.TOO_SMALL if self._fits_in(slot, alone) else Reason.SIZE_NOT_PROVEN
        return self._join(slot, alone, live)

    def _is_signed(self, symbol: object) -> bool:
        return self.allocations.sizes.may_be_negative(symbol)

    def _release(self, until: int) -> None:
        """Slots whose last user is done become free."""
        while self._busy and self._busy[0][0] <= until:
            _, number = heapq.heappop(self._busy)
            size = self.slots[number].bytes
            if isinstance(size, int):
                insort(self._free, (size, -self.slots[number].held[1], number))
            else:
                self._symbolic.setdefault(size, []).append(number)

    def _assign(self, taken: MemorySlot, live: LiveRange) -> None:
        taker = taken.users[0]
        refusal: tuple[Reason, int, str] | None = None
        for number in self._candidates(taken):
            joined = self._join(self.slots[number], taken, live)
            first = self.slots[number].users[0].op
            if isinstance(joined, MemorySlot):
                self.slots[number] = joined
                self._remove(number)
                heapq.heappush(self._busy, (live.upper, number))
                self._say(taker, Outcome.SHARED, Reason.LIVE_RANGE_ENDED, first)
                return
            refusal = refusal or (joined, first, "")
        self._say(taker, Outcome.ALLOCATED, *(refusal or self._why_none_fits(taken)))
        self._add(taken, live)

    def _add(self, slot: MemorySlot, live: LiveRange) -> None:
        number = len(self.slots)
        self.slots.append(slot)
        heapq.heappush(self._busy, (live.upper, number))
        self._of_size[slot.bytes] = number
        if isinstance(slot.bytes, int) and (self._largest < 0 or slot.bytes > self.slots[self._largest].bytes):
            self._largest = number

    def _why_none_fits(self, alone: MemorySlot) -> tuple[Reason, int, str]:
        """Why no free slot is large enough: those that are, are in use; or none is, or is known to be."""
        if not self.slots:
            return Reason.NOTHING_TO_SHARE, alone.users[0].op, ""
        recent = range(len(self.slots) - 1, max(-1, len(self.slots) - 1 - _TRIED), -1)
        others = [self._of_size.get(alone.bytes, -1), self._largest, *recent]
        others = [number for number in dict.fromkeys(others) if number >= 0]
        in_use = next((number for number in others if self._fits_in(alone, self.slots[number])), None)
        if in_use is not None:
            return Reason.LIVE_AT_THE_SAME_TIME, self.slots[in_use].users[0].op, ""
        free = self._free[-1][2] if self._free else next(iter(self._symbolic.values()), [-1])[-1]
        other = self.slots[free if free >= 0 else others[0]]
        smaller = self._fits_in(other, alone)
        source = self.allocations.source(other.users[0].op)
        needed, had = spelled(alone.bytes), spelled(other.bytes)
        sizes = f"It needs {needed} bytes; `{source.op}` ({source.location}) has {had}."
        return Reason.TOO_SMALL if smaller else Reason.SIZE_NOT_PROVEN, other.users[0].op, sizes

    def _candidates(self, alone: MemorySlot) -> list[int]:
        """Some free slots that are large enough (rule 2), the best ones first."""
        kind = self._type(alone)
        size, most = alone.bytes, self._prover.greatest(alone.bytes)
        equal = sorted(self._symbolic.get(size, ())[-_TRIED:], key=lambda n: self._type(self.slots[n]) != kind)
        numbers: list[int] = []
        if most is not None:
            at = bisect_left(self._free, (most, -sys.maxsize, -1))
            numbers = [number for _, _, number in self._free[at : at + _TRIED]]
            numbers.sort(key=lambda n: (self.slots[n].bytes, self._type(self.slots[n]) != kind))
        others = [other for other in list(self._symbolic)[-_TRIED:] if other != size]
        last = [self._symbolic[other][-1] for other in others]
        return [*equal, *numbers, *(number for number in last if self._fits_in(alone, self.slots[number]))]

    def _fits_in(self, alone: MemorySlot, slot: MemorySlot) -> bool:
        """Whether a slot is large enough. Each dimension of either is a size, and so not negative."""
        sizes = self.allocations.sizes
        dims = frozenset(size for each in (alone, slot) for size in sizes.shape(self.allocations.value(each.users[0])))
        question = (alone.bytes, slot.bytes, dims)
        if question not in self._fits:
            prover = SizeProver(self._bounds, lambda symbol: symbol not in dims and self._is_signed(symbol))
            self._fits[question] = prover.is_never_less(slot.bytes, alone.bytes)
        return self._fits[question]

    def _type(self, slot: MemorySlot) -> ir.Type:
        return self.allocations.value(slot.users[0]).type

    def _remove(self, number: int) -> None:
        size = self.slots[number].bytes
        if not isinstance(size, int):
            self._symbolic[size].remove(number)
            if not self._symbolic[size]:
                del self._symbolic[size]
            return
        at = bisect_left(self._free, (size, -sys.maxsize, -1))
        while self._free[at][2] != number:
            at += 1
        del self._free[at]

    def _join(self, slot: MemorySlot, alone: MemorySlot, live: LiveRange) -> MemorySlot | Reason:
        """A slot with one more user, or why it may not have it (rules 3 to 6)."""
        unlike = why_unlike(self.allocations, slot, alone)
        if unlike is not None:
            return unlike
        place = self._places.find(slot, alone)
        if isinstance(place, Reason):
            return place
        end = live.upper if place.last < 0 else place.last if place.opens else self._program.ops[place.last].end
        held = (place.first, max(end, live.upper))
        users = (*slot.users, *alone.users)
        joined = MemorySlot(users, place.block, place.first, place.last, slot.bytes, live.upper, held, place.opens)
        changes = (
            Change(*alone.held, alone.bytes, -1),
            Change(joined.held[0], slot.held[0], slot.bytes),
            Change(slot.held[1], joined.held[1], slot.bytes),
        )
        return joined if self._profile.accept(changes) else Reason.RAISES_PEAK

    def _say(self, allocation: Allocation, outcome: Outcome, reason: Reason, because: int, hint: str = "") -> None:
        sources = tuple(map(self.allocations.source, dict.fromkeys((allocation.op, because))))
        size = self.allocations.bytes(allocation)
        self.decisions.append(Decision("allocation", outcome, reason, sources, size, hint=hint))
