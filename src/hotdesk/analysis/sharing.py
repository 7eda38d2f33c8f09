"""Which allocations of a function may take over the memory of one that is dead by then.

Allocations are looked at in the order of their live ranges (`analysis.allocation_ranges`). One, the *taker*, goes to memory of
those before it, the *desk*, iff

1. the live range of all that use the desk ends before the taker's begins. In the order of the text a branch ends before the other
   one begins, and a loop's body is used anew in each iteration, so this holds for branches and in loops;
2. the desk has as many bytes, or more: numbers, or expressions of which that is proven, such as a minimum of which one part is
   a number, or symbols whose range is declared (`ir.declared_bounds`; sizes are not negative, other index values may be);
3. both are contiguous, in the same memory space, with elements of a known size. The memory of both is ordinary, by
   `analysis.new_memory`, and they come from one allocator: `memref.alloc`, or another op. If it is another one, they are of one
   type with equal sizes, or static and of one element type, since no other memory can be asked of it; and the desk is as well
   aligned;
4. the block around both has the desk's sizes, and between that block and each of the two is no loop whose iterations run at the
   same time, and no region of which nothing is known;
5. each is freed as a whole by the op that frees such memory inside that block, or neither is freed at all;
6. the peak does not rise (`analysis.peak`), though the desk is held from the first of them to the last, with what is between.
   The peak is the one of the worst path. While a function is called, or a buffer may be held of which it is not known for how
   long, no more is held than before.

The desk is the smallest one that fits, among those the one that was freed last. Where the first user of a desk is inside an op,
the desk goes in front of that op.
"""

from __future__ import annotations

import heapq
import sys
from bisect import bisect_left, insort
from typing import cast

from hotdesk._bindings import ir
from hotdesk.analysis.allocation_ranges import LiveRange, Unbounded
from hotdesk.analysis.allocation_types import may_allocate
from hotdesk.analysis.allocation_uses import Allocation, Allocations
from hotdesk.analysis.buffer_program import FUNCTION
from hotdesk.analysis.desks import Desk, is_held_to_the_end, may_be_held, shareable, single_desk, why_unlike
from hotdesk.analysis.hoisting import is_not_negative, runs_in_parallel
from hotdesk.analysis.new_memory import why_not_moved
from hotdesk.analysis.peak import Change, Profile
from hotdesk.analysis.size_bounds import is_at_least, upper_bound
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.declared_bounds import declared_bounds
from hotdesk.ir.sizes import Size

_TRIED = 8


class Sharing:
    """The desks of one function, and a decision for each allocation; the IR must not change meanwhile."""

    def __init__(self, function: ir.Operation) -> None:
        self.allocations = Allocations(function)
        self._ranges = declared_bounds(function)
        self.decisions: list[Decision] = []
        self.desks: list[Desk] = []
        self._program, self._dominance = self.allocations.program, self.allocations.dominance
        found: list[tuple[Desk, LiveRange]] = []
        returned: list[Change] = []
        vague = [(op.number, op.end) for op in self._program.ops if may_allocate(op)]
        for allocation in self.allocations.on_heap:
            live = shareable(self.allocations, allocation)
            if isinstance(live, Unbounded):
                self._say(allocation, Outcome.ALLOCATED, live.reason, live.op)
            if isinstance(live, LiveRange) and live.lower < live.upper:
                found.append((single_desk(self.allocations, allocation, live), live))
            elif is_held_to_the_end(self.allocations, allocation):
                returned.append(Change(allocation.op, len(self._program.ops), self.allocations.bytes(allocation)))
            else:
                vague.append(may_be_held(self.allocations, allocation))
        found.sort(key=lambda pair: (pair[1].lower, pair[0].first))
        held = [*returned, *(Change(*desk.held, desk.bytes) for desk, _ in found)]
        self._profile = Profile(len(self._program.ops) + 1, held, vague, self._is_signed)
        self._busy: list[tuple[int, int]] = []
        self._free: list[tuple[int, int, int]] = []
        self._symbolic: dict[Size, list[int]] = {}
        self._fits: dict[tuple[object, ...], bool] = {}
        for desk, live in found:
            self._release(live.lower)
            self._seat(desk, live)

    def _is_signed(self, symbol: object) -> bool:
        return self.allocations.sizes.may_be_negative(symbol)

    def _release(self, until: int) -> None:
        """Desks whose last user is done become free."""
        while self._busy and self._busy[0][0] <= until:
            _, number = heapq.heappop(self._busy)
            size = self.desks[number].bytes
            if isinstance(size, int):
                insort(self._free, (size, -self.desks[number].held[1], number))
            else:
                self._symbolic.setdefault(size, []).append(number)

    def _seat(self, taken: Desk, live: LiveRange) -> None:
        taker, refusal = taken.users[0], (Reason.LIVE_AT_THE_SAME_TIME, taken.users[0].op)
        for rank, number in enumerate(self._candidates(taken)):
            joined = self._join(self.desks[number], taken, live)
            first = self.desks[number].users[0].op
            if isinstance(joined, Desk):
                self.desks[number] = joined
                self._remove(number)
                heapq.heappush(self._busy, (live.upper, number))
                self._say(taker, Outcome.SHARED, Reason.LIVE_RANGE_ENDED, first)
                return
            refusal = (joined, first) if rank == 0 else refusal
        self.desks.append(taken)
        heapq.heappush(self._busy, (live.upper, len(self.desks) - 1))
        self._say(taker, Outcome.ALLOCATED, *refusal)

    def _candidates(self, alone: Desk) -> list[int]:
        """Some free desks that are large enough (rule 2), the best ones first."""
        kind = self._type(alone)
        size, most = alone.bytes, upper_bound(alone.bytes, self._ranges)
        equal = sorted(self._symbolic.get(size, ())[-_TRIED:], key=lambda n: self._type(self.desks[n]) != kind)
        numbers: list[int] = []
        if most is not None:
            at = bisect_left(self._free, (most, -sys.maxsize, -1))
            numbers = [number for _, _, number in self._free[at : at + _TRIED]]
            numbers.sort(key=lambda n: (self.desks[n].bytes, self._type(self.desks[n]) != kind))
        others = [other for other in list(self._symbolic)[-_TRIED:] if other != size]
        last = [self._symbolic[other][-1] for other in others]
        return [*equal, *numbers, *(number for number in last if self._fits_in(alone, self.desks[number]))]

    def _fits_in(self, alone: Desk, desk: Desk) -> bool:
        """Whether a desk is large enough. Each dimension of either is a size, and so not negative."""
        sizes = self.allocations.sizes
        dims = frozenset(size for each in (alone, desk) for size in sizes.shape(self.allocations.value(each.users[0])))
        question = (alone.bytes, desk.bytes, dims)
        if question not in self._fits:
            self._fits[question] = is_at_least(
                desk.bytes, alone.bytes, lambda symbol: symbol not in dims and self._is_signed(symbol), self._ranges
            )
        return self._fits[question]

    def _type(self, desk: Desk) -> ir.Type:
        return self.allocations.value(desk.users[0]).type

    def _remove(self, number: int) -> None:
        size = self.desks[number].bytes
        if not isinstance(size, int):
            self._symbolic[size].remove(number)
            if not self._symbolic[size]:
                del self._symbolic[size]
            return
        at = bisect_left(self._free, (size, -sys.maxsize, -1))
        while self._free[at][2] != number:
            at += 1
        del self._free[at]

    def _join(self, desk: Desk, alone: Desk, live: LiveRange) -> Desk | Reason:
        """A desk with one more user, or why it may not have it (rules 3 to 6)."""
        unlike = why_unlike(self.allocations, desk, alone)
        if unlike is not None:
            return unlike
        if bool(desk.last >= 0) != bool(alone.last >= 0):
            return Reason.FREED_ELSEWHERE
        block = self._around(desk.block, alone.block)
        if isinstance(block, Reason):
            return block
        firsts = [self._dominance.within(op, block) for op in (desk.first, alone.first)]
        lasts = [self._dominance.within(free, block) for each in (desk, alone) for free in _frees(each)]
        if None in firsts or None in lasts:
            return Reason.FREED_ELSEWHERE
        first = min(cast("list[int]", firsts))
        kept = why_not_moved(self._program.ops[desk.users[0].op].operation)
        if first != desk.users[0].op and kept is not None:
            return kept
        if not self._is_sized(desk, block, first):
            return Reason.SIZE_DEFINED_BELOW
        last = max(cast("list[int]", lasts), default=-1)
        end = live.upper if last < 0 else self._program.ops[last].end
        joined = Desk(
            (*desk.users, *alone.users), block, first, last, desk.bytes, live.upper, (first, max(end, live.upper))
        )
        changes = (
            Change(*alone.held, alone.bytes, -1),
            Change(joined.held[0], desk.held[0], desk.bytes),
            Change(desk.held[1], joined.held[1], desk.bytes),
        )
        return joined if self._profile.accept(changes) else Reason.RAISES_PEAK

    def _around(self, a: int, b: int) -> int | Reason:
        """The lowest block that two blocks are, or are inside of (rule 4)."""
        outer = self._outwards(b)
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

    def _outwards(self, block: int) -> set[int]:
        found = {block}
        while (parent := self._program.blocks[block].parent) != FUNCTION:
            block = self._program.ops[parent].block
            found.add(block)
        return found

    def _above(self, block: int) -> int | Reason:
        """The block with the op that a block is inside of, or why memory of the one cannot serve in the other."""
        parent = self._program.blocks[block].parent
        if parent == FUNCTION:
            return Reason.DIFFERENT_BLOCK
        op = self._program.ops[parent]
        if runs_in_parallel(op):
            return Reason.PARALLEL_ITERATIONS
        return op.block if op.control else Reason.UNKNOWN_REGION

    def _is_sized(self, desk: Desk, block: int, first: int) -> bool:
        """Whether the sizes of a desk are known in front of an op of a block, and no negative numbers."""
        owner = self._program.ops[desk.users[0].op]
        if first == owner.number:
            return True
        for size in owner.operation.operands:
            home = self.allocations.block_of(size)
            op = self.allocations.defining(size)
            above = home != block and self._dominance.dominates(home, block)
            if not (above or (home == block and op < first)) or not is_not_negative(size):
                return False
        return True

    def _say(self, allocation: Allocation, outcome: Outcome, reason: Reason, because: int) -> None:
        sources = tuple(map(self.allocations.source, dict.fromkeys((allocation.op, because))))
        self.decisions.append(Decision("allocation", outcome, reason, sources, self.allocations.bytes(allocation)))


def _frees(desk: Desk) -> tuple[int, ...]:
    """The deallocations, or of those that are known to be in the desk's block the last one."""
    return desk.users[0].frees if len(desk.users) == 1 else (desk.last,) if desk.last >= 0 else ()
