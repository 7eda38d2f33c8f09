"""Places: which values lie in the same memory, decided one by one so that no write destroys what is still read.

Every contents group begins in a place of its own. Two groups come to lie in one place when an op writes its result over an
operand (a tie), or when control flow passes a value on. A place keeps its occupants, in the order of the text, and may be joined
with another one iff none of them would lose contents that somebody reads (`analysis/in_place/interference.py`): non-interference
of values coalesced out of SSA form, with liveness of parts. So joining is a check of the occupants of the smaller against their
neighbours in the larger one.

A value that control flow takes from one of several places lies in all of them; a write to it is checked in each.

Sources: interference of congruence classes after Budimlić et al., "Fast copy coalescing and live-range identification" (PLDI
2002), and Boissinot et al., "Revisiting out-of-SSA translation for correctness, code quality and efficiency" (CGO 2009).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from hotdesk.analysis.in_place.interference import Conflict
from hotdesk.analysis.in_place.locations import Location, only
from hotdesk.analysis.in_place.occupancy import Occupancy
from hotdesk.analysis.in_place.occupants import Occupant, moved, order_of
from hotdesk.analysis.tensors.extents import WHOLE
from hotdesk.analysis.tensors.program import NOT_A_TENSOR, OpRecord, TensorProgram
from hotdesk.analysis.tensors.readers import Readers
from hotdesk.explain import Reason


class Places(Occupancy):
    """The places of a function while decisions are taken; `staying` are arguments of loops that must each be in one buffer."""

    def __init__(self, function: TensorProgram, readers: Readers, staying: Iterable[int] = ()) -> None:
        super().__init__(function, readers, staying)
        # Values that were merged before their ops were decided, by each of them.
        self._merged: dict[int, list[int]] = {}

    def conflict(self, op: OpRecord, operand: int, value: int, result: int) -> Conflict | None:
        """Why `op` must not write result number `result` over `value`, with which it is called as `operand`; None if it may."""
        group = self._readers.root[op.results[result]]
        reason = self.why_read_only(value)
        if reason is not None:
            return Conflict(reason)
        if operand in op.facts.contiguous and self.place_of(value) is None:
            return Conflict(Reason.PARTIAL_VIEW)
        locations = self.locations(value)
        mine = self._joined.resolved(group, WHOLE)
        if len(mine) == 1 and mine == locations:
            self._take_as(op, group, in_place=True)
            return None
        place = only(mine)
        if place is None:
            return Conflict(Reason.DIFFERENT_LAYOUT)
        self._take_as(op, group, in_place=True)
        found = self._separation.conflict(place, locations) or self._clash(place, locations, value, op)
        if found is not None:
            self._take_as(op, group, in_place=False)
        return found

    def join(self, value: int, target: int) -> None:
        """Puts `target`, a group's root, and everything that lies with it where `value` lies."""
        mine = self.find(self._readers.root[target])
        locations = self.locations(value)
        place = only(locations)
        if place is not None:
            self._unite(mine, place)
        elif all(place != mine for place, _ in locations) and self._joined.resolved(mine, WHOLE) != locations:
            spread = self._begin_at if self.is_moving(mine) else self._spread
            spread(mine, locations)
        self._take_along(self._readers.root[target])

    def begin_in(self, values: Sequence[int], target: int) -> None:
        """Lets `target`, which moves and is not written, lie where `values` lie at first; it may do so for each alone."""
        locations = dict.fromkeys(location for value in values for location in self.locations(value))
        if len(locations) == 1:
            self.join(values[0], target)
        else:
            self._begin_at(self.find(self._readers.root[target]), tuple(locations))

    def _take_along(self, group: int) -> None:
        """What was merged with a group may lie where its op's operand does since the group does: then it is in place."""
        merged = self._merged.get(group, [])
        while merged:
            value = merged.pop()
            tie = self._function.tie_to(value)
            mine = self._joined.resolved(value, WHOLE)
            if tie is not None and len(mine) == 1 and mine == self.locations(tie[0].operands[tie[1]]):
                self._take_as(tie[0], value, in_place=True)

    def may_join(self, value: int, target: int) -> Conflict | None:
        """Why `target` cannot lie where `value` lies, or None if it can; for values that control flow passes on."""
        locations = self.locations(value)
        mine = self._joined.resolved(self._readers.root[target], WHOLE)
        if mine == locations:
            return None
        own = only(mine)
        if own is None or any(place == own for place, _ in locations):
            return Conflict(Reason.DIFFERENT_LAYOUT)
        if (self.must_stay(value) and self.moves(target)) or (self.must_stay(target) and self.moves(value)):
            return Conflict(Reason.LIES_ELSEWHERE)
        writes = any(occupant.written is not None for occupant in self._occupants[own])
        begins = self.is_moving(own) and self.place_of(value) is None  # it is in that part at first only
        if writes and (begins or len(locations) > 1):
            return Conflict(Reason.PARTIAL_VIEW)
        reason = self.why_read_only(value)
        if writes and reason is not None:
            return Conflict(reason)
        owned = self.read_only.get(own)
        if owned is not None:
            return Conflict(owned)
        return self._separation.conflict(own, locations) or self._clash(own, locations, value, None)

    def choose(self, values: Sequence[int], target: int, *, merge: bool = True) -> None:
        """Lets `target` lie wherever one of `values` does; it must have a place of its own that nothing is written to.

        Values that never want their memory at one time share a place, if `merge` allows it.
        """
        mine = self.find(self._readers.root[target])
        for value in values[1:] if merge else ():
            self._merge(values[0], value)
        found: dict[Location, None] = {}
        for value in values:
            found.update(dict.fromkeys(self.locations(value)))
        place = only(tuple(found))
        if place is not None:
            self._unite(mine, place)
            return
        self._spread(mine, tuple(found))

    def _merge(self, a: int, b: int) -> None:
        """Makes one place of those of two values, if nothing is lost and it is known where the memory of both comes from.

        What is made in another shape than the other one, and not of sizes that are numbers, has memory of its own all the same.
        """
        shapes = [self._function.values[self._readers.root[value]].shape for value in (a, b)]
        if shapes[0] != shapes[1] and not all(isinstance(size, int) for shape in shapes for size in shape):
            return
        first, second = self.place_of(a), self.place_of(b)
        if first is None or second is None or first == second or {first, second} & self.read_only.keys():
            return
        occupants = (*self._occupants[first], *self._occupants[second])
        groups = [occupant.group for occupant in occupants if occupant.group != NOT_A_TENSOR]
        if any(group in self.undecided or self._function.values[group].producer < 0 for group in groups):
            return
        if self.may_meet(a, b):
            self._unite(first, second)
            first, second = self._readers.root[a], self._readers.root[b]
            merged, others = self._merged.setdefault(first, [first]), self._merged.get(second, [second])
            if merged is not others:
                merged.extend(others)
                self._merged.update(dict.fromkeys(others, merged))

    def pass_on(self, value: int, target: int, loop: OpRecord) -> None:
        """Says that each iteration of a loop makes memory for a value, unless that lies where `target` does already; the next
        iteration, or what follows, has it then for `target`."""
        kept = {place for place, _ in self.locations(target)}
        for place, _ in self.locations(value):
            if place not in kept:
                self._separation.pass_on(place, 2 * loop.number + 1, 2 * loop.end - 1)

    def copy_into(self, target: int, op: OpRecord) -> None:
        """Says that op, a terminator, copies something over `target`'s place."""
        for place, _ in self.locations(target):
            self._insert(place, Occupant(NOT_A_TENSOR, 2 * op.number, op.block, op.number, WHOLE, WHOLE, passed=True))

    def copy_over(self, value: int, target: int, op: OpRecord, after: int) -> bool:
        """Says that op copies a value over `target`'s place, if nothing is lost by it that `after` or a later op reads."""
        place = self.place_of(target)
        if place is None or place in self.read_only or any(place == other for other, _ in self.locations(value)):
            return False
        copy = Occupant(NOT_A_TENSOR, 2 * op.number, op.block, after, WHOLE, WHOLE, passed=True)
        occupants = self._occupants[place]
        if self._separation.fills(place, op.number) or self._interference.race([copy, *occupants]) is not None:
            return False
        if self._interference.against(copy, occupants) is not None:
            return False
        self._insert(place, copy)
        return True

    def clobber(self, op: OpRecord, operand: int) -> Conflict | None:
        """Lets `op` overwrite the memory of an operand without a result; why it must not, or None if it does."""
        value = op.operands[operand]
        reason = self.why_read_only(value)
        if reason is not None:
            return Conflict(reason)
        place = self.place_of(value)
        if place is None:
            return Conflict(Reason.PARTIAL_VIEW)
        if any(self._uses(op, other, place) for other in range(len(op.operands)) if other != operand):
            return Conflict(Reason.READ_BY_SAME_OP, op.number)
        written = Occupant(NOT_A_TENSOR, 2 * op.number + 1, op.block, op.end, WHOLE, WHOLE)
        raced = self._interference.race([written, *self._occupants[place]])
        if raced is not None:
            return Conflict(Reason.RUNS_IN_PARALLEL, raced)
        found = self._interference.against(written, self._occupants[place])
        if found is not None:
            return Conflict(Reason.READ_LATER, found.read, found)
        self._insert(place, written)
        return None

    def _uses(self, op: OpRecord, operand: int, place: int) -> bool:
        """Whether an op uses, through an operand, what lies in a place."""
        value = op.operands[operand]
        if value == NOT_A_TENSOR or all(place != other for other, _ in self.locations(value)):
            return False
        tied = any(operand == other for other, _ in (*op.facts.ties, *op.facts.views))
        return tied or operand in op.facts.reads or operand in op.facts.clobbers

    def may_meet(self, a: int, b: int) -> bool:
        """Whether what lies with `a` and what lies with `b` could be in one place."""
        first, second = self.place_of(a), self.place_of(b)
        if first is None or second is None:
            return False
        if self._separation.conflict(first, ((second, WHOLE),)) is not None:
            return False
        return self._interference.between(self._occupants[first], self._occupants[second], a, None) is None

    def wanted(self, value: int, op: OpRecord) -> Conflict | None:
        """Why `op` must not take all memory that `value` lies in: it may not be written, or somebody uses it later."""
        reason = self.why_read_only(value)
        if reason is not None:
            return Conflict(reason)
        for place, extent in self.locations(value):
            if extent is not WHOLE:
                return Conflict(Reason.PARTIAL_VIEW)
            occupants = self._occupants[place]
            lost = self._interference.lost(occupants, op)
            if lost is not None:
                return Conflict(Reason.READ_LATER, lost.read, lost)
            for i in range(bisect_left(occupants, 2 * op.number, key=order_of), len(occupants)):
                if occupants[i].written is not None:
                    return Conflict(Reason.ALREADY_OVERWRITTEN, occupants[i].writer)
        return None

    def _clash(self, place: int, locations: Iterable[Location], value: int, op: OpRecord | None) -> Conflict | None:
        """Why the occupants of `place` and those of `locations` do not go together; `value` lies at the latter."""
        own = self._occupants[place]
        for root, extent in locations:
            others = self._occupants[root]
            if extent is WHOLE and len(others) < len(own):
                found = self._interference.between(others, own, value, op)
            else:
                found = self._interference.between([moved(occupant, extent) for occupant in own], others, value, op)
            if found is not None:
                return found
        return None
