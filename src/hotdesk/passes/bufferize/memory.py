"""The memory of places while a function is rewritten: one `memref.alloc` for each, where everything that lies there can see it.

It stands in front of the op that writes the place first; if others in the place are elsewhere, in front of the op, or at the end
of the block, that comes before all of them, where its sizes are known. A place that moves round a loop has one for each
op that writes it anew.
"""

from __future__ import annotations

from collections.abc import Sequence

from hotdesk._bindings import ir
from hotdesk.analysis.inplace import InPlaceAnalysis
from hotdesk.analysis.program import FunctionRecord, OpRecord
from hotdesk.ir.building import alloc, create


class Memory:
    """The memrefs of places."""

    def __init__(self, record: FunctionRecord, analysis: InPlaceAnalysis) -> None:
        self._record = record
        self._places = analysis.places
        self._control = analysis.readers.control
        self._known: dict[int, tuple[ir.Value, int, int]] = {}
        self._fronts: dict[int, ir.Operation] = {}
        self._allocated: dict[int, ir.Value] = {}
        self._moving = {analysis.places.find(value) for value in analysis.places.moving}

    def replace(self, op: OpRecord, new: ir.Operation) -> None:
        """Says which op on buffers stands for one."""
        self._fronts[op.number] = new

    def keep(self, place: int | None, memref: ir.Value, block: int, order: int, *, allocated: bool = False) -> None:
        """Says which memref, known from `order` in `block` on, a place has; `allocated` if it was allocated for it."""
        if place is None:
            return
        if allocated:
            self._allocated[place] = memref
        if allocated or place not in self._known or not self._control.dominates(*self._known[place][1:], block, order):
            self._known[place] = (memref, block, order)

    def moves(self, place: int) -> bool:
        """Whether a place is one buffer now and another one later."""
        return place in self._moving

    def allocated(self, place: int | None) -> ir.Value | None:
        """The one alloc that everything in a place is in, if it has one."""
        return None if place is None or not self._places.stay(place) else self._allocated.get(place)

    def of(self, place: int | None, op: OpRecord) -> ir.Value | None:
        """The memref that a place has at an op already."""
        if place is None or place not in self._known or place in self._moving:
            return None
        memref, block, order = self._known[place]
        return memref if self._control.dominates(block, order, op.block, 2 * op.number) else None

    def new(self, place: int | None, kind: ir.Type, sizes: Sequence[ir.Value], op: OpRecord) -> ir.Value:
        """The memref of a place in which an op writes a value of that type."""
        known = self.of(place, op)
        if known is not None:
            return (
                known if known.type == kind else create("memref.cast", [known], [kind], before=op.operation).results[0]
            )
        anchor = op
        if place is not None and place not in self._moving:
            anchor = self._anchor(place, op)
            if not all(self._is_known(size, anchor) for size in sizes):
                anchor = op
                place = None if op.block != 0 else place
        new = alloc(kind, list(sizes), self._fronts.get(anchor.number, anchor.operation))
        self.keep(place, new, anchor.block, 2 * anchor.number, allocated=True)
        return new

    def _anchor(self, place: int, op: OpRecord) -> OpRecord:
        """The op in front of which a place is allocated that `op` writes."""
        block = op.block
        for other in {occupant.block for occupant in self._places.occupants(place)}:
            block = self._control.common(block, other)
        target = self._record.blocks[block]
        here = op
        while (found := self._record.blocks[here.block]) != target:
            if (found.parent, found.region) == (target.parent, target.region):
                return self._record.ops[target.end - 1]
            here = self._record.ops[found.parent]
        return here

    def _is_known(self, size: ir.Value, op: OpRecord) -> bool:
        """Whether a size is known in front of an op that is not inside of what defines it."""
        defined = self._record.scalars.get(size)
        return defined is not None and defined < op.number
