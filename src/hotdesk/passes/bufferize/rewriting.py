"""The rewrite of one function from tensors to buffers, as the in-place analysis decided; what models see of it.

A *place* (`analysis.places`) becomes one `memref.alloc`, in front of the op that writes it first, or, when control flow passes it
out of a region, in front of the op with that region. Every other memref is a view of a place or comes through control flow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.analysis.extents import WHOLE, within
from hotdesk.analysis.inplace import InPlaceAnalysis
from hotdesk.analysis.passing import FlowDecision
from hotdesk.analysis.program import BlockRecord, FlowEdge, FunctionRecord, OpRecord
from hotdesk.errors import BufferizationError
from hotdesk.explain import Outcome, Reason
from hotdesk.ir.building import alloc, create, dynamic_dims, elementwise_copy
from hotdesk.ir.locations import python_line
from hotdesk.ir.types import dynamic_layout, is_row_major, is_tensor, memref_of, shape_of
from hotdesk.ir.walking import defining_op, entry_block, nested_ops
from hotdesk.models.facts import Facts
from hotdesk.models.registry import model_of
from hotdesk.passes.bufferize.conventions import USUAL, Conventions
from hotdesk.passes.bufferize.deciding import Deciding
from hotdesk.passes.bufferize.memory import Memory

_SAME_BUFFER = ("memref.expand_shape", "memref.collapse_shape", "memref.cast")


@dataclass(slots=True)
class _Passing:
    """What a terminator passes on for an operand: the memref, and where it is copied to."""

    edge: FlowEdge
    memref: ir.Value
    copied: bool
    destination: ir.Value | None = None


class Rewriting:
    """Rewrites a function; implements what models see of it (`models.model.Buffers`).

    Attributes:
        deciding: what was decided, in order.
        conventions: what is done at the edges of the function.
    """

    def __init__(
        self,
        function: ir.Operation,
        record: FunctionRecord,
        analysis: InPlaceAnalysis,
        conventions: Conventions = USUAL,
    ) -> None:
        self._function = function
        self.conventions = conventions
        self._strided: set[int] = set()  # places that may be in an argument of any layout
        self._record = record
        self.analysis = analysis
        self._places = analysis.places
        self._readers = analysis.readers
        self._numbers = {value.value: value.number for value in record.values}
        self._regions: dict[int, list[BlockRecord]] = {}
        for block in record.blocks:
            self._regions.setdefault(block.parent, []).append(block)
        self._edges: dict[tuple[int, int], list[FlowDecision]] = {}
        for edge, flow in analysis.flows.items():
            self._edges.setdefault((edge.op, edge.operand), []).append(flow)
        self._buffers: dict[ir.Value, ir.Value] = {}
        self._memory = Memory(record, analysis)
        self._entered: dict[int, ir.Value] = {}  # the memref that a loop's argument has, unless it moves
        self._leaving: dict[int, dict[int, ir.Value]] = {}
        self._erase: list[ir.Operation] = []
        self._replaced: list[tuple[ir.Block, int, int]] = []
        self._current: OpRecord = record.ops[0]
        self.deciding = Deciding(record, analysis)

    def run(self) -> list[ir.Value]:
        """Rewrites every op but the return; returns the memrefs of what it returns, in order."""
        block = entry_block(self._function)
        self.rebuild_arguments(block)
        for number in self._record.arguments:
            if number >= 0:
                place, memref = self._places.find(number), self._buffers[self._record.values[number].value]
                self._memory.keep(place, memref, number, 0, 0)
                if memref.type != memref_of(memref.type):
                    self._strided.add(place)
        self._spread_layouts()
        for other in list(self._function.regions[0].blocks)[1:]:
            self.rebuild_arguments(other)
        returned: list[ir.Value] = []
        for record in self._record.ops:
            self._current = record
            if record.name == "func.return":
                returned = [self.buffer(v) if is_tensor(v.type) else v for v in record.operation.operands]
                continue
            if self._rewrite(record):
                self._erase.append(record.operation)
        return returned

    def _spread_layouts(self) -> None:
        """Follows memory of any layout to the places that control flow hands it to."""
        passed = [flow.edge for flow in self.analysis.flows.values() if not flow.copied] if self._strided else []
        while True:
            reached = {
                place
                for edge in passed
                if any(place in self._strided for place, _ in self._places.locations(edge.source))
                for place, _ in self._places.locations(edge.target)
            }
            if reached <= self._strided:
                return
            self._strided |= reached

    def finish(self) -> None:
        """Drops the old ops and arguments; the return is gone already."""
        for op in reversed(self._erase):
            op.erase()
        for block, first, count in self._replaced:
            for _ in range(count):
                block.erase_argument(first)
        for op in () if self._leaves_tensors() else nested_ops(self._function):
            self._refuse_tensors(op)

    def _leaves_tensors(self) -> bool:
        return self.conventions.partial or not self.conventions.functions

    def _rewrite(self, record: OpRecord) -> bool:
        """Rewrites an op; whether the old one is to be erased."""
        op = record.operation
        model = model_of(record.name)
        if model is None or model.bufferize is None:
            self._refuse_tensors(op)
            return False
        if record.flow is not None:
            # The blocks move to the new op, so that the old one can no longer be told from one without tensors.
            model.bufferize(op, self)
            return True
        passes_on = any((record.number, i) in self._edges for i in range(len(record.operands)))
        if not passes_on and not any(is_tensor(v.type) for v in (*op.operands, *op.results, *self._captured(record))):
            return False
        model.bufferize(op, self)
        return True

    def _captured(self, record: OpRecord) -> list[ir.Value]:
        return (
            [self._record.values[number].value for number in record.captured] if len(record.operation.regions) else []
        )

    def holding_argument(self, value: int) -> int | None:
        """The number of the argument in whose memory a value lies entirely, in the same form; None if there is none."""
        place = self._places.place_of(value)
        if place is None or not self._places.stay(place):
            return None
        for number, argument in enumerate(self._record.arguments):
            if argument >= 0 and self._places.find(argument) == place:
                alike = self._record.values[argument].value.type == self._record.values[value].value.type
                return number if alike else None
        return None

    def is_written(self, value: int) -> bool:
        """Whether anything is written into the memory that a value lies in."""
        return self._places.is_written(value)

    def covered_allocation(self, value: int, buffer: ir.Value, taken: set[ir.Value]) -> tuple[ir.Value | None, Reason]:
        """The allocation that a result covers entirely, or why there is none."""
        place = self._places.place_of(value)
        buffer = self._memory.allocated(place) or buffer
        if buffer in taken:
            return None, Reason.RETURNED_TWICE
        op = defining_op(buffer)
        while op is not None and op.name in _SAME_BUFFER and buffer not in taken:
            buffer = op.operands[0]
            op = defining_op(buffer)
        if buffer in taken:
            return None, Reason.RETURNED_TWICE
        if op is None:
            given = buffer.owner == entry_block(self._function)
            return None, Reason.RETURNED_INPUT if given else Reason.RETURNED_VIEW
        if op.name == "memref.subview":
            return None, Reason.PARTIAL_VIEW_RETURNED
        if op.name == "memref.reinterpret_cast":
            return None, Reason.RETURNED_TWICE
        if op.name == "memref.get_global":
            return None, Reason.NOT_WRITABLE_CONSTANT
        if op.name != "memref.alloc" or op.block != entry_block(self._function):
            return None, Reason.RETURNED_VIEW
        return buffer, Reason.RESULT_SLOT

    # What models see

    @property
    def facts(self) -> Facts:
        return self._current.facts

    @property
    def captures(self) -> bool:
        return bool(self._current.captured)

    def buffer(self, value: ir.Value) -> ir.Value:
        if value not in self._buffers:
            number = self._numbers[value]
            sizes = self._sizes(value)
            if self._memory.has(self._places.place_of(number), self._current):
                return self._in_place_of(number, sizes, self._current)
            made = self._record.ops[cast(int, self._record.values[number].producer)]
            self._buffers[value] = self._in_place_of(number, sizes, made)
        return self._buffers[value]

    def destination(self, op: ir.Operation, operand: int) -> ir.Value:
        value = op.operands[operand]
        record = self._current
        decision = self.analysis.by_operand[(record.number, operand)]
        if decision.in_place and not decision.fresh:
            self.deciding.of_tie(record, operand, Outcome.IN_PLACE)
            return self.buffer(value)
        sizes = self._sizes(value)
        result = dict(record.facts.ties).get(operand)
        kind = memref_of(value.type)
        new = alloc(kind, sizes, op) if result is None else self._in_place_of(record.results[result], sizes, record)
        contents = operand in record.facts.reads or operand not in record.facts.overwrites
        if not decision.in_place and contents and not self._is_undefined(value):
            elementwise_copy([self.buffer(value)], new, None, len(shape_of(new.type)), op)
            self.deciding.of_tie(record, operand, Outcome.COPIED)
        else:
            self.deciding.allocations[new] = self.deciding.of_tie(record, operand, Outcome.ALLOCATED)
        return new

    def result(self, op: ir.Operation, number: int, sizes: Sequence[ir.Value]) -> ir.Value:
        value = self._record.values[self._current.results[number]]
        new = self._in_place_of(value.number, sizes, self._current)
        self.deciding.allocations[new] = self.deciding.of_new(self._current, number)
        return new

    def contents(self, op: ir.Operation, operand: int) -> ir.Value | None:
        edge = next(e for e in self._record.shown if (e.op, e.operand) == (self._current.number, operand))
        seen_before = self._readers.root[edge.target] != edge.target
        return self.buffer(op.operands[operand]) if seen_before else None

    def inserted_into(self, op: ir.Operation) -> ir.Value:
        return self._buffers[self._record.values[self._record.insertions[self._current.number]].value]

    def drop_arguments(self, block: ir.Block, first: int) -> None:
        self._replaced.append((block, first, len(block.arguments) - first))

    def replaced_by(self, new: ir.Operation) -> None:
        self._memory.replace(self._current, new)

    def assign(self, value: ir.Value, memref: ir.Value) -> None:
        self._buffers[value] = memref

    def contiguous(self, memref: ir.Value, op: ir.Operation, operand: int) -> ir.Value:
        new = alloc(_plain(memref), dynamic_dims(memref, op), op)
        elementwise_copy([memref], new, None, len(shape_of(new.type)), op)
        self.deciding.of_layout(self._current, operand)
        return new

    def lies_there(self, op: ir.Operation) -> bool:
        part = self._current.facts.part
        assert part is not None
        assert part.source is not None
        source = self._current.operands[part.source]
        container = self._record.insertions.get(self._current.number)
        container = self._current.results[0] if container is None else container
        here = tuple((p, within(e, self._readers.part(self._current))) for p, e in self._places.locations(container))
        if len(here) != 1 or self._places.locations(source) != here:
            return False
        return not self._memory.moves(here[0][0]) or self._sees_destination(op, part.source, part.container)

    def _sees_destination(self, op: ir.Operation, source: int, container: int) -> bool:
        """Whether what an op inserts is a view of the memref in which it is inserted."""
        if self._current.number in self._record.insertions:
            return _viewed(self.buffer(op.operands[source])) == _viewed(self.inserted_into(op))
        fresh = self.analysis.by_operand[self._current.number, container].fresh
        return not fresh and _viewed(self.buffer(op.operands[source])) == _viewed(self.buffer(op.operands[container]))

    def passed_type(self, value: ir.Value) -> ir.Type:
        plain = memref_of(value.type)
        locations = self._places.locations(self._numbers[value])
        if all(extent is WHOLE and place not in self._strided for place, extent in locations):
            return plain
        return dynamic_layout(plain)

    def seen_as(self, memref: ir.Value, kind: ir.Type, op: ir.Operation) -> ir.Value:
        if memref.type == kind:
            return memref
        if kind == memref_of(kind) and not is_row_major(memref.type):  # a part of memory is no whole buffer
            new = alloc(kind, dynamic_dims(memref, op), op)
            elementwise_copy([memref], new, None, len(shape_of(kind)), op)
            return new
        return create("memref.cast", [memref], [kind], before=op).results[0]

    def rebuild_arguments(self, block: ir.Block) -> None:
        arguments = list(block.arguments)
        entry = block == entry_block(self._function)
        if entry and not self.conventions.functions:
            self._read_arguments(block)
            return
        for argument in arguments:
            if not is_tensor(argument.type):
                argument.replace_all_uses_with(block.add_argument(argument.type, argument.location))
                continue
            kind = self._argument_type(argument) if entry else self.passed_type(argument)
            self._buffers[argument] = block.add_argument(kind, argument.location)
        self._replaced.append((block, 0, len(arguments)))

    def _argument_type(self, argument: ir.Value) -> ir.Type:
        plain = memref_of(argument.type)
        return dynamic_layout(plain) if self.conventions.strided_arguments else plain

    def _read_arguments(self, block: ir.Block) -> None:
        """Sees the memory of arguments that stay tensors."""
        first = next(iter(block.operations)).operation
        read_only = {"read_only": ir.UnitAttr.get()}
        for argument in block.arguments:
            if is_tensor(argument.type):
                kind = self._argument_type(argument)
                made = create("bufferization.to_buffer", [argument], [kind], read_only, before=first)
                self._buffers[argument] = made.results[0]

    # Control flow

    def copy_into(self, memref: ir.Value, op: ir.Operation, operand: int, before: ir.Operation | None = None) -> None:
        source = self.buffer(op.operands[operand])
        elementwise_copy([source], memref, None, len(shape_of(memref.type)), op if before is None else before)
        self.deciding.of_insertion(self._current, operand)

    def entering(self, op: ir.Operation, operand: int) -> ir.Value:
        flows = [
            f for f in self._edges[self._current.number, operand] if self._record.values[f.edge.target].producer is None
        ]
        (flow,) = flows
        target = self._record.values[flow.edge.target]
        value = op.operands[operand]
        kind = self.passed_type(target.value)
        place = self._places.place_of(target.number)
        if flow.copied:
            memref = alloc(memref_of(value.type), self._sizes(value), op)
            if not self._is_undefined(value):
                elementwise_copy([self.buffer(value)], memref, None, len(shape_of(memref.type)), op)
            self.deciding.of_flow(self._current, flow)
            self._memory.keep(
                place, memref, target.number, self._current.block, 2 * self._current.number, allocated=True
            )
        else:
            memref = self.buffer(value)
        memref = self.seen_as(memref, kind, op)
        if target.number not in self._places.moving:
            self._entered[target.number] = memref
        self._memory.keep(place, memref, target.number, self._current.block, 2 * self._current.number)
        return memref

    def leaving(self, op: ir.Operation, operand: int) -> ir.Value:
        number = self._current.number
        if number not in self._leaving:
            self._leaving[number] = self._pass_on(op)
        return self._leaving[number][operand]

    def _pass_on(self, op: ir.Operation) -> dict[int, ir.Value]:
        """Copies what must be copied, each before its place is overwritten, and says which memref each operand passes on."""
        number = self._current.number
        passing: dict[int, _Passing] = {}
        for operand, value in enumerate(op.operands):
            for flow in self._edges.get((number, operand), []):
                if operand not in passing or flow.copied:
                    passing[operand] = _Passing(flow.edge, self.buffer(value), flow.copied)
                if flow.copied:
                    self.deciding.of_flow(self._current, flow)
        waiting = [each for each in passing.values() if each.copied]
        while waiting:
            ready = next((each for each in waiting if not self._overwrites_another(each, waiting)), None)
            if ready is None:  # they go round in a circle
                staged = waiting[0]
                other = next(each for each in waiting if each is not staged and self._meets(staged, each))
                new = alloc(_plain(other.memref), dynamic_dims(other.memref, op), op)
                elementwise_copy([other.memref], new, None, len(shape_of(new.type)), op)
                other.memref, other.edge = new, FlowEdge(other.edge.op, other.edge.operand, -1, other.edge.target)
                continue
            waiting.remove(ready)
            destination = self._arrival(ready, op)
            elementwise_copy([ready.memref], destination, None, len(shape_of(destination.type)), op)
        found: dict[int, ir.Value] = {}
        for operand, value in enumerate(op.operands):
            if operand in passing:
                each = passing[operand]
                kind = self.passed_type(self._record.values[each.edge.target].value)
                memref = each.destination if each.destination is not None else each.memref
                found[operand] = self.seen_as(memref, kind, op)
            elif is_tensor(value.type):
                found[operand] = self.buffer(value)
        return found

    def _arrival(self, passing: _Passing, op: ir.Operation) -> ir.Value:
        """Where something is copied: the memref of a loop's argument, or a new one for the argument of another block."""
        passing.destination = self._entered.get(passing.edge.target)
        if passing.destination is None:
            passing.destination = alloc(_plain(passing.memref), dynamic_dims(passing.memref, op), op)
        return passing.destination

    def _overwrites_another(self, each: _Passing, waiting: Sequence[_Passing]) -> bool:
        return any(other is not each and self._meets(each, other) for other in waiting)

    def _meets(self, each: _Passing, other: _Passing) -> bool:
        """Whether copying one overwrites what is still to be copied for the other."""
        if other.edge.source < 0 or each.edge.target not in self._entered:
            return False
        target = {place for place, _ in self._places.locations(each.edge.target)}
        return any(place in target for place, _ in self._places.locations(other.edge.source))

    # Memory

    def _in_place_of(self, value: int, sizes: Sequence[ir.Value], op: OpRecord) -> ir.Value:
        """The memory that a value without contents of its own, or a new result, is written into."""
        place = self._places.place_of(value)
        plain = memref_of(self._record.values[value].value.type)
        kind = dynamic_layout(plain) if place in self._strided else plain
        return self._memory.of(place, value, kind, sizes, op)

    def _sizes(self, value: ir.Value) -> list[ir.Value]:
        """The dynamic sizes of a tensor without contents, as it was made."""
        producer = defining_op(value)
        dynamic = sum(size is None for size in shape_of(value.type))
        if not dynamic:
            return []
        if producer is not None and self._is_undefined(value):
            return list(producer.operands)[:dynamic]
        return dynamic_dims(self.buffer(value), self._current.operation)

    def _is_undefined(self, value: ir.Value) -> bool:
        producer = defining_op(value)
        if producer is None:
            return False
        if producer.name == "bufferization.alloc_tensor":
            return self._readers.root[self._numbers[value]] in self._readers.undefined
        return producer.name == "tensor.empty"

    def _refuse_tensors(self, op: ir.Operation) -> None:
        if any(is_tensor(v.type) for v in (*op.operands, *op.results)):
            raise BufferizationError(
                f"op `{op.name}` still has tensors after bufferization",
                expected="buffers only",
                got=str(next(v.type for v in (*op.operands, *op.results) if is_tensor(v.type))),
                where=python_line(op.location) or None,
            )


def _viewed(memref: ir.Value) -> ir.Value:
    """The memref that one is a view of."""
    op = defining_op(memref)
    while op is not None and op.name in (*_SAME_BUFFER, "memref.subview"):
        memref = op.operands[0]
        op = defining_op(memref)
    return memref


def _plain(memref: ir.Value) -> ir.Type:
    element = cast(Any, memref.type).element_type
    dynamic = ir.ShapedType.get_dynamic_size()
    return ir.MemRefType.get([dynamic if s is None else s for s in shape_of(memref.type)], element)
