"""The memory of places while a function is rewritten: one `memref.alloc` for each, where everything that lies there can see it.

It stands in front of the op that writes the place first; if others in the place are elsewhere, in front of the op, or at the end
of the block, that comes before all of them, where its sizes are known. A place that moves round a loop has one for each
op that writes it anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from hotdesk._bindings import ir
from hotdesk.analysis.in_place.inplace import InPlaceAnalysis
from hotdesk.analysis.in_place.occupants import Occupant
from hotdesk.analysis.tensors.program import NOT_A_TENSOR, OpRecord
from hotdesk.ir.building import alloc, cast_to, reshaped
from hotdesk.ir.types import memref_of, shape_of
from hotdesk.models.memref import viewed
from hotdesk.passes.bufferize.early_sizes import EarlySizes
from hotdesk.sizes.size import Size


@dataclass(frozen=True, slots=True)
class _Known:
    """A memref, the shape of the value in it, and where it is known from."""

    memref: ir.Value
    shape: tuple[Size, ...]
    block: int
    order: int


class PlaceMemory:
    """The memrefs of places."""

    def __init__(self, analysis: InPlaceAnalysis, early: EarlySizes) -> None:
        self._record = analysis.function
        self._early = early
        self._places = analysis.places
        self._dominance = analysis.readers.dominance
        self._known: dict[int, _Known] = {}
        self._apart: set[int] = set()
        self._parted: set[int] = set()
        self._fronts: dict[int, ir.Operation] = {}
        self._allocated: dict[int, ir.Value] = {}

    def replace(self, op: OpRecord, new: ir.Operation) -> None:
        """Says which op on buffers stands for one."""
        self._fronts[op.number] = new

    def replaced(self) -> list[ir.Operation]:
        """The ops on buffers that stand for others."""
        return list(self._fronts.values())

    def keep(
        self, place: int | None, memref: ir.Value, value: int, block: int, order: int, *, allocated: bool = False
    ) -> None:
        """Says which memref, known from `order` in `block` on and of a value's shape, a place has.

        `allocated` says that it was allocated for it.
        """
        if place is None:
            return
        if allocated and self._allocated.setdefault(place, memref) != memref:
            self._apart.add(place)
        known = self._known.get(place)
        if allocated or known is None or not self._dominance.is_defined(known.block, known.order, block, order):
            self._known[place] = _Known(memref, self._record.values[value].shape, block, order)

    def holds(self, place: int | None, memref: ir.Value) -> None:
        """Says which memref an op made for something in a place; it may be other memory than the place's."""
        own = None if place is None else self._allocated.get(place)
        if place is not None and (own is None or viewed(memref) != viewed(own)):
            self._apart.add(place)

    def is_one(self, place: int) -> bool:
        """Whether all that lies in a place is in one buffer: neither a branch nor an iteration brings another one."""
        return self._places.stay(place) and place not in self._parted

    def allocated(self, place: int | None) -> ir.Value | None:
        """The one alloc that everything in a place is in, if it has one."""
        if place is None or place in self._apart or not self._places.stay(place):
            return None
        return self._allocated.get(place)

    def has(self, place: int | None, op: OpRecord) -> bool:
        """Whether a place has memory already, at an op."""
        return self._known_at(place, op) is not None

    def of(self, place: int | None, value: int, kind: ir.Type, sizes: Sequence[ir.Value], op: OpRecord) -> ir.Value:
        """The memory of a place, at an op, for a value of that memref type: what the place has already, or new memory.

        A value of another shape sees what the place has through a cast, if both are row-major and static; else it has memory of
        its own.
        """
        known = self._known_at(place, op)
        if known is None:
            return self._allocate(place, value, kind, sizes, op)
        memref = known.memref
        if known.shape == self._record.values[value].shape:
            return cast_to(memref, kind, op.operation)
        if _is_static_row_major(memref.type) and _is_static_row_major(kind):
            return reshaped(memref, kind, op.operation)
        self._apart.add(cast(int, place))
        self._parted.add(cast(int, place))
        return cast_to(alloc(memref_of(kind), list(sizes), op.operation), kind, op.operation)

    def _known_at(self, place: int | None, op: OpRecord) -> _Known | None:
        known = None if place is None or self._places.is_moving(place) else self._known.get(place)
        if known is None or not self._dominance.is_defined(known.block, known.order, op.block, 2 * op.number):
            return None
        return known

    def _allocate(
        self, place: int | None, value: int, kind: ir.Type, sizes: Sequence[ir.Value], op: OpRecord
    ) -> ir.Value:
        anchor = op
        if place is not None and not self._places.is_moving(place):
            anchor = self._anchor(place, value, op)
            if anchor is not op and not all(self._is_known(size, anchor) for size in sizes):
                if self._early.are_known(value):
                    sizes = self._early.sizes(value, self._front(anchor))
                else:
                    anchor = op
                    if op.block != 0:
                        self._apart.add(place)
                        place = None
        front = self._front(anchor)
        new = cast_to(alloc(memref_of(kind), list(sizes), front), kind, front)
        self.keep(place, new, value, anchor.block, 2 * anchor.number, allocated=True)
        return new

    def _front(self, op: OpRecord) -> ir.Operation:
        """The op on buffers in front of which something for an op is."""
        return self._fronts.get(op.number, op.operation)

    def _anchor(self, place: int, value: int, op: OpRecord) -> OpRecord:
        """The op in front of which a place is allocated that `op` writes with a value."""
        block = op.block
        for other in {o.block for o in self._places.occupants(place) if self._wants(o, value)}:
            block = self._dominance.common((block, other))
        target = self._record.blocks[block]
        here = op
        while (found := self._record.blocks[here.block]) != target:
            if (found.parent, found.region) == (target.parent, target.region):
                return self._record.ops[target.end - 1]
            here = self._record.ops[found.parent]
        return here

    def _wants(self, occupant: Occupant, value: int) -> bool:
        """Whether an occupant needs memory that is made for a value.

        What lies in one of several places is led to the memory that it has; what is of other sizes has its own, as `of` says.
        """
        if occupant.group == NOT_A_TENSOR:
            return True
        if len(self._places.locations(occupant.group)) > 1:
            return False
        shapes = [self._record.values[each].shape for each in (occupant.group, value)]
        return shapes[0] == shapes[1] or all(isinstance(size, int) for shape in shapes for size in shape)

    def _is_known(self, size: ir.Value, op: OpRecord) -> bool:
        """Whether a size is known in front of an op that is not inside of what defines it."""
        defined = self._record.scalars.get(size)
        return defined is not None and defined < op.number


def _is_static_row_major(kind: ir.Type) -> bool:
    return kind == memref_of(kind) and None not in shape_of(kind)
