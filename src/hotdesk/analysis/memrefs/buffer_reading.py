"""Reads a function on memrefs once into the records of `analysis.memrefs.buffer_program`.

What is no memref may hide one (`analysis.memrefs.hidden_memory`). Ops that use it use the memref.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.buffer_program import (
    FUNCTION,
    NOT_A_BUFFER,
    Buffer,
    BufferBlock,
    BufferOp,
    BufferProgram,
    Kind,
)
from hotdesk.analysis.memrefs.hidden_memory import HiddenMemory
from hotdesk.analysis.memrefs.memref_views import view_source
from hotdesk.analysis.memrefs.region_graph import RegionEdge, flow_of, region_edges
from hotdesk.analysis.memrefs.terminators import branched
from hotdesk.ir.types import is_buffer
from hotdesk.ir.walking import in_order, nested_ops
from hotdesk.models.asynchronous import runs_on
from hotdesk.models.flow import Flow
from hotdesk.models.new_memory import allocated

_STORING = {"memref.store": 1, "affine.store": 1, "linalg.yield": None}
"""Ops that write elements, which may be memrefs, and how many of their operands, from the first on, are such."""


def read_buffers(function: ir.Operation, scalars: bool = False) -> BufferProgram:
    """Reads a function. With `scalars`, an op that uses a scalar uses the memrefs that the scalar is computed from."""
    arrived: dict[ir.Value, tuple[int, ...]] = {}
    while True:
        reader = _Reader(function, HiddenMemory(scalars, arrived))
        program = reader.run()
        if reader.hidden.arrived == arrived:
            return program
        arrived = reader.hidden.arrived  # a pointer that a branch passes back to a block read before


class _Reader:
    def __init__(self, function: ir.Operation, hidden: HiddenMemory) -> None:
        self._function = function
        self.hidden = hidden
        self._ops: list[BufferOp | None] = []
        self._blocks: list[BufferBlock | None] = []
        self._buffers: list[Buffer] = []
        self._users: list[list[int]] = []
        self._numbers: dict[ir.Value, int] = {}
        self._asynchronous: list[int] = []
        self._handed_on: list[tuple[int, int]] = []
        self._stored: list[tuple[int, int]] = []
        self._edges: dict[tuple[int, str, tuple[bool, ...]], tuple[Flow | None, tuple[RegionEdge, ...]]] = {}

    def run(self) -> BufferProgram:
        self._region(self._function.regions[0], FUNCTION, 0, Kind.ARGUMENT)
        return BufferProgram(
            self._function,
            tuple(cast("list[BufferOp]", self._ops)),
            tuple(cast("list[BufferBlock]", self._blocks)),
            tuple(self._buffers),
            tuple(map(tuple, self._users)),
            self._numbers,
            frozenset(self._asynchronous),
            tuple(self._handed_on),
            tuple(self._stored),
        )

    def _add(self, value: ir.Value, kind: Kind, producer: int, index: int, block: int, sources: tuple[int, ...]) -> int:
        number = len(self._buffers)
        self._buffers.append(Buffer(number, value, kind, producer, index, block, sources))
        self._users.append([])
        self._numbers[value] = number
        return number

    def _region(self, region: ir.Region, parent: int, number: int, entry: Kind) -> tuple[int, ...]:
        blocks = in_order(region)
        found: list[int] = []
        kind = entry
        for block in blocks:
            place = len(self._blocks)
            found.append(place)
            self._blocks.append(None)
            arguments = [
                self._add(a, kind, -1, i, place, ()) if is_buffer(a.type) else NOT_A_BUFFER
                for i, a in enumerate(block.arguments)
            ]
            kind = Kind.PASSED
            first, last = len(self._ops), -1
            for view in block.operations:
                last = self._operation(view.operation, place)
            if self.hidden and last >= 0:
                end = cast(BufferOp, self._ops[last])
                self._handed_on += self.hidden.handed_on(end)
                self.hidden.pass_on(end.operation)
            self._blocks[place] = BufferBlock(place, parent, number, first, len(self._ops), tuple(arguments), last)
        if len(found) > 1:
            self._link(blocks, found)
        return tuple(found)

    def _operation(self, operation: ir.Operation, block: int) -> int:
        number, name = len(self._ops), operation.name
        numbers, users = self._numbers, self._users
        operands = tuple([numbers.get(v, NOT_A_BUFFER) for v in operation.operands])
        payload = self._payload(operation) if name.startswith("linalg.") else None
        for buffer in (*operands, *self.hidden.of(operation), *(payload or ())) if payload or self.hidden else operands:
            if buffer != NOT_A_BUFFER and number not in users[buffer][-1:]:
                users[buffer].append(number)
        if name in _STORING:
            self._stored += ((number, buffer) for buffer in operands[: _STORING[name]] if buffer != NOT_A_BUFFER)
        self._ops.append(None)
        before = len(self._buffers)
        regions: tuple[tuple[int, ...], ...] = ()
        edges: tuple[RegionEdge, ...] = ()
        flow = None
        if payload is None and len(operation.regions):
            flow = flow_of(operation)
            kind = Kind.UNKNOWN if flow is None else Kind.PASSED
            regions = tuple([self._region(r, number, i, kind) for i, r in enumerate(operation.regions)])
            edges = self._graph(operation, flow, regions)
        results = tuple(
            [
                self._result(operation, name, v, i, (number, block), operands, flow is not None)
                if is_buffer(v.type)
                else NOT_A_BUFFER
                for i, v in enumerate(operation.results)
            ]
        )
        if runs_on(operation):
            self._asynchronous.append(number)
        control = flow is not None
        op = BufferOp(number, operation, name, block, len(self._ops), operands, results, regions, edges, control)
        self._ops[number] = op
        if NOT_A_BUFFER in results:
            self.hidden.note(op, self._ops[number + 1 :], (*operands, *(payload or ())), before)
        return number

    def _graph(
        self, op: ir.Operation, flow: Flow | None, regions: tuple[tuple[int, ...], ...]
    ) -> tuple[RegionEdge, ...]:
        """The graph of an op with regions; that of ops with one flow is made once."""
        key = id(flow), op.name, tuple([bool(blocks) for blocks in regions])
        if key not in self._edges:
            self._edges[key] = flow, region_edges(op.name, flow, key[2])
        return self._edges[key][1]

    def _payload(self, operation: ir.Operation) -> list[int] | None:
        """The memrefs that the payload of a linalg op uses; None if it makes memrefs itself."""
        used: list[int] = []
        stored: list[int] = []
        for op in nested_ops(operation):
            if any(is_buffer(value.type) for value in op.results):
                return None
            used += (self._numbers[value] for value in op.operands if value in self._numbers)
            used += self.hidden.of(op)
            if op.name in _STORING:
                values = list(op.operands)[: _STORING[op.name]]
                stored += (self._numbers[value] for value in values if value in self._numbers)
        self._stored += ((len(self._ops), memref) for memref in stored)
        return used

    def _result(
        self, op: ir.Operation, name: str, value: ir.Value, index: int, place: tuple[int, int],
        operands: tuple[int, ...], passed: bool,
    ) -> int:  # fmt: skip
        kind, sources = Kind.UNKNOWN, ()
        source = view_source(name, index)
        if source is not None and operands[source] != NOT_A_BUFFER:
            kind, sources = Kind.VIEW, (operands[source],)
        elif name == "arith.select":
            kind, sources = Kind.CHOICE, operands[1:]
        elif name == "memref.get_global":
            kind = Kind.GLOBAL
        elif name == "memref.alloca":
            kind = Kind.STACK
        elif index in allocated(op):
            kind, sources = Kind.ALLOCATION, operands[:1] if name == "memref.realloc" else ()
        elif passed:
            kind = Kind.PASSED
        else:
            sources = tuple(self.hidden.of(op))
        return self._add(value, kind, place[0], index, place[1], sources)

    def _link(self, blocks: Sequence[ir.Block], numbers: Sequence[int]) -> None:
        """Notes where the blocks of a region branch; without a model of a terminator nothing is known of what arrives."""
        places = dict(zip(blocks, numbers, strict=True))
        for block, number in zip(blocks, numbers, strict=True):
            record = cast(BufferBlock, self._blocks[number])
            successors = [places[s] for s in block.successors] if record.last >= 0 else []
            if not successors:
                continue
            end = cast(BufferOp, self._ops[record.last]).operation
            passed = branched(end)
            branches: list[tuple[int, tuple[tuple[int, int], ...]]] = []
            for position, successor in enumerate(successors):
                if passed is None:
                    for argument in cast(BufferBlock, self._blocks[successor]).arguments:
                        self._forget(argument, self.hidden.of(end))
                handed = [(operand, argument) for operand, to, argument in passed or () if to == position]
                branches.append((successor, tuple(handed)))
            self._blocks[number] = record._replace(branches=tuple(branches))

    def _forget(self, buffer: int, hidden: Sequence[int]) -> None:
        if buffer != NOT_A_BUFFER:
            known = self._buffers[buffer]
            self._buffers[buffer] = known._replace(kind=Kind.UNKNOWN, sources=(*known.sources, *hidden))
