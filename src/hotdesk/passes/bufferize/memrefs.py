"""Which memref holds each tensor while a function is rewritten, and of which type.

A *place* (`analysis.in_place.places`) becomes one `memref.alloc` (`memory`). Memory that may be an argument's of any layout is
seen in a dynamic layout, wherever control flow hands it to.
"""

from __future__ import annotations

from collections.abc import Sequence

from hotdesk._bindings import ir
from hotdesk.analysis.in_place.inplace import InPlaceAnalysis
from hotdesk.analysis.tensors.extents import WHOLE
from hotdesk.analysis.tensors.program import OpRecord
from hotdesk.graphs import reached
from hotdesk.ir.building import create, dynamic_dims
from hotdesk.ir.laid_out import can_cast
from hotdesk.ir.types import dynamic_layout, is_row_major, memref_of, memref_with, shape_of
from hotdesk.ir.walking import defining_op, made_by
from hotdesk.models.bufferization import ALLOC_TENSOR
from hotdesk.models.control_flow import CHOICE
from hotdesk.models.tensor import EMPTY
from hotdesk.passes.bufferize.early_sizes import EarlySizes
from hotdesk.passes.bufferize.materializing import copied_as
from hotdesk.passes.bufferize.memory import PlaceMemory
from hotdesk.passes.bufferize.passed_layouts import keep_layouts


class Memrefs:
    """The memrefs of tensors.

    Attributes:
        memory: the memrefs of places.
        current: the op that is rewritten.
    """

    def __init__(self, analysis: InPlaceAnalysis) -> None:
        self._record = record = analysis.function
        self._buffers: dict[ir.Value, ir.Value] = {}
        self.memory = PlaceMemory(analysis, EarlySizes(record, self._buffers.__getitem__))
        self.current: OpRecord = record.ops[0]
        self._analysis = analysis
        self._places = analysis.places
        self._readers = analysis.readers
        self._numbers = {value.value: value.number for value in record.values}
        self._in_any_layout: set[ir.Value] = set()  # tensors that control flow passes on
        self._passed_on: set[ir.Value] = set()  # their memrefs
        self._choices: list[ir.Operation] = []
        self._strided: set[int] = set()  # places that may be in an argument of any layout

    def keep_arguments(self) -> None:
        """Takes over the memrefs of the function's arguments, which are assigned already."""
        for number in self._record.arguments:
            if number >= 0:
                place, memref = self._places.find(number), self._buffers[self._record.values[number].value]
                self.memory.keep(place, memref, number, 0, 0)
                if memref.type != memref_of(memref.type):
                    self._strided.add(place)
        self._spread_layouts()

    def _spread_layouts(self) -> None:
        """Follows memory of any layout to the places that control flow hands it to."""
        targets: dict[int, list[int]] = {}
        for edge, conflict in self._analysis.copies.items() if self._strided else ():
            for place, _ in self._places.locations(edge.source) if conflict is None else ():
                targets.setdefault(place, []).extend(to for to, _ in self._places.locations(edge.target))
        self._strided.update(reached(self._strided, lambda place: targets.get(place, ())))

    def assign(self, value: ir.Value, memref: ir.Value) -> None:
        """Says which memref holds a tensor."""
        self._buffers[value] = memref
        if value in self._in_any_layout:
            self._passed_on.add(memref)
            choice = made_by(memref, CHOICE)
            if choice is not None:
                self._choices.append(choice)
        number = self._numbers.get(value)
        if number is not None and self._is_made(number):
            self.memory.holds(self._places.place_of(number), memref)

    def keep_layouts(self) -> None:
        """Says in the types of what control flow passes on which layout that has, where it is known; once all is rewritten."""
        if self._passed_on:
            keep_layouts([*self.memory.replaced(), *self._choices], self._passed_on)

    def _is_made(self, number: int) -> bool:
        """Whether a tensor is made by an op neither of operands nor from them: in memory of its place, or of the op's own."""
        made = self._record.values[number]
        if made.producer < 0:
            return False
        op = self._record.ops[made.producer]
        led = {result for _, result in (*op.facts.ties, *op.facts.views, *op.facts.choices)}
        return op.flow is None and made.position not in led

    def of(self, value: ir.Value) -> ir.Value:
        """The memref that holds a tensor; memory for one without contents is made where it is first asked for."""
        if value not in self._buffers:
            number = self._numbers[value]
            sizes = self.sizes(value)
            if self.memory.has(self._places.place_of(number), self.current):
                return self.written(number, sizes, self.current)
            made = self._record.ops[self._record.values[number].producer]
            self._buffers[value] = self.written(number, sizes, made)
        return self._buffers[value]

    def written(self, value: int, sizes: Sequence[ir.Value], op: OpRecord) -> ir.Value:
        """The memory that a value without contents of its own, or a new result, is written into at an op."""
        place = self._places.place_of(value)
        plain = self.plain_type(value)
        kind = dynamic_layout(plain) if place in self._strided else plain
        return self.memory.of(place, value, kind, sizes, op)

    def sizes(self, value: ir.Value) -> list[ir.Value]:
        """The dynamic sizes of a tensor; of one without contents, as it was made."""
        producer = defining_op(value)
        dynamic = sum(size is None for size in shape_of(value.type))
        if not dynamic:
            return []
        if producer is not None and self.is_undefined(value):
            return list(producer.operands)[:dynamic]
        return dynamic_dims(self.of(value), self.current.operation)

    def is_undefined(self, value: ir.Value) -> bool:
        """Whether a tensor has no contents."""
        producer = defining_op(value)
        if producer is None:
            return False
        if producer.name == ALLOC_TENSOR:
            return self._readers.root[self._numbers[value]] in self._readers.undefined
        return producer.name == EMPTY

    def number(self, value: ir.Value) -> int:
        """The number of a tensor."""
        return self._numbers[value]

    def plain_type(self, value: int) -> ir.MemRefType:
        """The memref type of a value that is alone in its memory."""
        return memref_of(self._record.values[value].value.type, self._record.space(value))

    def passed_type(self, value: ir.Value) -> ir.Type:
        """The memref type of a value that control flow passes on: one for whatever it may come from."""
        plain = self.plain_type(self._numbers[value])
        locations = self._places.locations(self._numbers[value])
        if all(extent is WHOLE and place not in self._strided for place, extent in locations):
            return plain
        self._in_any_layout.add(value)
        return dynamic_layout(plain)


def seen_as(memref: ir.Value, kind: ir.Type, op: ir.Operation) -> ir.Value:
    """A memref as one of that type, in front of `op`: a copy of it, if it is a part of a buffer and the type is a whole one's, or
    if its elements lie elsewhere than the type says."""
    if memref.type == kind:
        return memref
    if kind == memref_of(kind) and not is_row_major(memref.type):
        return copied_as(memref, kind, op)
    if not can_cast(memref.type, kind):
        return copied_as(memref, kind, op)
    return create("memref.cast", [memref], [kind], before=op).results[0]


def copied(memref: ir.Value, op: ir.Operation) -> ir.Value:
    """A new row-major buffer with a memref's contents, in front of `op`."""
    return copied_as(memref, memref_with(shape_of(memref.type), memref.type), op)
