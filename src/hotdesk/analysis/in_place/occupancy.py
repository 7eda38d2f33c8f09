"""Occupancy: which contents lie in which places, while places are joined and spread."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator

from hotdesk.analysis.in_place.buffer_swaps import BufferSwaps
from hotdesk.analysis.in_place.interference import Interference
from hotdesk.analysis.in_place.locations import JoinedPlaces, Locations, only
from hotdesk.analysis.in_place.occupants import (
    Occupant,
    first_occupant,
    inserted,
    moved,
    needs_contents,
    order_of,
    writers_of,
)
from hotdesk.analysis.in_place.separation import Separation
from hotdesk.analysis.in_place.sources import Sources
from hotdesk.analysis.tensors.extents import WHOLE
from hotdesk.analysis.tensors.program import NOT_A_TENSOR, OpRecord, TensorProgram
from hotdesk.analysis.tensors.readers import Readers
from hotdesk.explain import Reason
from hotdesk.program.records import FlowEdge


class Occupancy:
    """The places of a function while decisions are taken.

    Attributes:
        read_only: why a place must not be written.
        undecided: values that come round a loop, of which it is not decided yet what they lie with (`come_round`).
        swaps: which of those that move give their memory to others.
    """

    def __init__(self, function: TensorProgram, readers: Readers, staying: Iterable[int] = ()) -> None:
        self._function = function
        self._readers = readers
        self._interference = Interference(function, readers)
        self._joined = JoinedPlaces(len(function.values))
        self._occupants: dict[int, list[Occupant]] = {}
        self._separation = Separation(self._interference, self._occupants)
        self.read_only: dict[int, Reason] = {}
        self.undecided: set[int] = set()
        self._given = {number for number in function.arguments if number != NOT_A_TENSOR}
        self._given.update(op.results[result] for op in function.ops for result in op.facts.lent)
        self._moving: set[int] = set()
        self._staying = {readers.root[value] for value in staying}
        self._sources = Sources(function, readers)
        joined = self._joined  # and not self: reference counts free all of it then
        self.swaps = BufferSwaps(lambda value: joined.find(readers.root[value]))
        writers = writers_of(function)
        for value in function.values:
            if readers.root[value.number] == value.number:
                self._occupants[value.number] = [
                    first_occupant(function, readers, value.number, writers.get(value.number))
                ]
        self._own(function)
        for edge in function.shown:
            self._show(edge)
        for number, result in function.insertions.items():
            self._insert(self.find(result), inserted(readers, function.ops[number]))

    def _show(self, edge: FlowEdge) -> None:
        """What a parallel loop makes of an operand: first a copy of it, in which it may lie that the loop shows."""
        op = self._function.ops[edge.op]
        result = op.results[dict(op.facts.ties)[edge.operand]]
        copy = Occupant(NOT_A_TENSOR, 2 * op.number, op.block, op.number + 1, WHOLE, WHOLE, filled=result)
        self._insert(self.find(result), copy)
        if self._readers.root[edge.target] == edge.target:
            self._unite(edge.target, result)

    def _own(self, function: TensorProgram) -> None:
        kinds = {"weight": Reason.NOT_WRITABLE_WEIGHT, "prepared": Reason.NOT_WRITABLE_WEIGHT}
        for number, kind in zip(function.arguments, function.argument_kinds, strict=True):
            if number != NOT_A_TENSOR and number not in function.writable_arguments:
                self.read_only[number] = kinds.get(kind, Reason.NOT_WRITABLE_INPUT)
        for op in function.ops:
            # Constants are made of nothing; other ops show memory that is there already.
            reason = Reason.NOT_WRITABLE_MEMORY if op.operands else Reason.NOT_WRITABLE_CONSTANT
            for result in op.facts.constants:
                self.read_only[op.results[result]] = reason

    def _take_as(self, op: OpRecord, group: int, *, in_place: bool) -> None:
        """Says of the occupants that a result is whether its op writes in place: then an insertion writes its part alone."""
        part = op.facts.part
        for place, _ in self._joined.resolved(group, WHOLE):
            for occupant in self._occupants[place]:
                if occupant.filled == group:
                    occupant.written = None if in_place else WHOLE
                if occupant.group != group:
                    continue
                occupant.copied = not in_place and needs_contents(
                    self._readers, op, self._function.values[group].position
                )
                if part is None or part.source is None:
                    continue
                source = op.operands[part.source]
                whole = in_place and self._readers.extent[source] is WHOLE
                occupant.written = self._readers.part(op) if in_place else WHOLE
                occupant.source = self._readers.root[source] if whole else None

    # Where values lie

    def find(self, place: int) -> int:
        """The place that a place is part of by now."""
        return self._joined.find(place)

    def locations(self, value: int) -> Locations:
        """The places a value may lie in, each with the part of it."""
        return self._joined.resolved(self._readers.root[value], self._readers.extent[value])

    def place_of(self, value: int) -> int | None:
        """The one place that a value takes entirely, or None."""
        return only(self.locations(value))

    def stay(self, place: int) -> bool:
        """Whether all that lies in a place is in one buffer, from beginning to end."""
        return not self.is_moving(place) and self._sources.are_one(self.find(place))

    def is_brought(self, place: int, begin: int) -> bool:
        """Whether an op brings along memory for what lies in a place, such as a call, or makes some for a copy there.

        The copies are those from `begin` on, in order.
        """
        return self._sources.is_brought(self.find(place), begin)

    def is_made_in(self, value: int) -> bool:
        """Whether anything is made where a value lies, not written over an operand."""
        return any(self._sources.is_made(place) for place, _ in self.locations(value))

    def is_moving(self, place: int) -> bool:
        """Whether a place stands for one buffer now and another one later."""
        return self.find(place) in self._moving

    def must_stay(self, value: int) -> bool:
        """Whether a value lies with the argument of a loop that must be in one buffer in every iteration."""
        return any(place in self._staying for place, _ in self.locations(value))

    def is_given(self, place: int) -> bool:
        """Whether a place is memory that the function is given: an argument of it lies there, or what is lent to it."""
        return self.find(place) in self._given

    def moves(self, value: int) -> bool:
        """Whether a value may lie in a buffer that is one now and another one later."""
        root = self._readers.root[value]  # what it was spread over may stay, and it moves all the same
        return self.is_moving(root) or any(place in self._moving for place, _ in self.locations(value))

    def why_read_only(self, value: int) -> Reason | None:
        """Why a value's memory must not be written, or None if it may."""
        return next((self.read_only[place] for place, _ in self.locations(value) if place in self.read_only), None)

    def is_written(self, value: int) -> bool:
        """Whether anything is written, or copied, into memory that a value lies in."""
        return any(o.written is not None for place, _ in self.locations(value) for o in self._occupants[place])

    def is_written_later(self, value: int) -> bool:
        """Whether anything is written into memory that a value lies in, there or where loops lead it to."""
        return any(map(self.is_written, (value, *self.swaps.led_to(value))))

    def occupants(self, place: int) -> tuple[Occupant, ...]:
        return tuple(self._occupants.get(self.find(place), ()))

    def arguments_in(self, place: int, block: int) -> Iterator[int]:
        """The arguments of a block that lie in a place."""
        occupants, begin = self._occupants.get(self.find(place), ()), 2 * self._function.blocks[block].first
        first, end = (bisect(occupants, begin, key=order_of) for bisect in (bisect_left, bisect_right))
        for i in range(first, end):
            group = occupants[i].group
            value = None if group == NOT_A_TENSOR else self._function.values[group]
            if value is not None and value.producer < 0 and value.block == block:
                yield group

    def first_in(self, place: int) -> int:
        """When the first of what lies in a place is defined, in order."""
        return self._occupants[self.find(place)][0].order

    # Changing

    def move(self, values: Iterable[int]) -> None:
        """Says that arguments of loops are in one buffer now and in another one later, and not because of a copy."""
        self._moving.update(self.find(self._readers.root[value]) for value in values)

    def scatter(self, values: Iterable[int]) -> None:
        """Says that some branches bring arguments of blocks in new memory."""
        for value in values:
            self._sources.part(self.find(self._readers.root[value]))

    def make(self, value: int) -> None:
        """Says that memory is needed for a value where it is defined: it is not written over an operand."""
        found = self._function.values[value]
        for place, _ in self.locations(value):
            self._sources.make(place, found.block, found.order)

    def make_at(self, value: int, op: OpRecord) -> None:
        """Says that an op copies something to a value's place."""
        for place, _ in self.locations(value):
            self._sources.make(place, op.block, 2 * op.number)

    def know(self, value: int, op: OpRecord) -> None:
        """Says that an op makes memory of a value's own, in which its place is from then on."""
        for place, _ in self.locations(value):
            self._sources.know(place, op.block, 2 * op.number)

    def come_round(self, value: int, begin: int) -> None:
        """Says that a value comes round a loop that begins at `begin`, in order: it may be copied there in every iteration.

        Until the loop is settled, nothing that was there before lies with it.
        """
        self.undecided.add(value)
        self._separation.come_round(self.find(self._readers.root[value]), begin)

    def settle(self, begin: int) -> None:
        """Says that what comes round the loop that begins at `begin` is decided from now on."""
        self._separation.settle(begin)

    def _unite(self, a: int, b: int) -> None:
        """Makes one place of two; `a`'s memory is `b`'s."""
        a, b = self.find(a), self.find(b)
        if a == b:
            return
        reason = self.read_only.get(a) or self.read_only.get(b)
        if len(self._occupants[a]) > len(self._occupants[b]):
            a, b = b, a
        for marked in (self._given, self._moving, self._staying):
            if a in marked:
                marked.add(b)
        self._joined.unite(a, b)
        self._separation.unite(a, b)
        self._sources.unite(a, b)
        self.swaps.unite(a, b)
        for occupant in self._occupants.pop(a):
            self._insert(b, occupant)
        if reason is not None:
            self.read_only[b] = reason

    def _spread(self, place: int, locations: Locations) -> None:
        """Lets what lies in a place lie in all of these."""
        self._joined.spread(place, locations)
        self._separation.spread(place, locations)
        self._sources.spread(place, (root for root, _ in locations))
        for occupant in self._occupants.pop(place):
            for root, extent in locations:
                self._insert(root, moved(occupant, extent))

    def _begin_at(self, place: int, locations: Locations) -> None:
        """Lets what lies in a place that moves lie in all of these at first, and later in memory that is none of theirs."""
        later = self._joined.add()
        self._occupants[later] = []
        self._moving.add(later)
        self._spread(place, ((later, WHOLE), *locations))

    def _insert(self, place: int, occupant: Occupant) -> None:
        self._separation.occupy(place, occupant)
        self._interference.insert(self._occupants[place], occupant)
