"""Reads a function on memrefs once into the records of `analysis.memrefs.buffer_program`.

What is no memref may hide one: a pointer read from it, or a tensor made of it. Ops that use those use the memref.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.analysis.allocations.new_memory import allocated
from hotdesk.analysis.memrefs.asynchronous import is_asynchronous
from hotdesk.analysis.memrefs.buffer_program import (
    FUNCTION,
    NOT_A_BUFFER,
    Buffer,
    BufferBlock,
    BufferOp,
    BufferProgram,
    Kind,
)
from hotdesk.analysis.memrefs.memref_views import view_source
from hotdesk.analysis.memrefs.region_graph import RegionEdge, flow_of, region_edges
from hotdesk.ir.types import is_buffer, is_tensor
from hotdesk.ir.walking import in_order, nested_ops, segment_sizes
from hotdesk.models.flow import Flow
from hotdesk.models.registry import model_of

_POINTING = ("memref.extract_aligned_pointer_as_index", "bufferization.to_tensor", "builtin.unrealized_conversion_cast")
_NOT_READING = frozenset({"memref.dim", "memref.alloc", "memref.dealloc", "memref.extract_strided_metadata"})


def read_buffers(function: ir.Operation, scalars: bool = False) -> BufferProgram:
    """Reads a function. With `scalars`, an op that uses a scalar uses the memrefs that the scalar is computed from."""
    return _Reader(function, scalars).run()


class _Reader:
    def __init__(self, function: ir.Operation, scalars: bool) -> None:
        self._function = function
        self._scalars = scalars
        self._behind: dict[ir.Value, tuple[int, ...]] = {}  # the memrefs behind what is no memref
        self._ops: list[BufferOp | None] = []
        self._blocks: list[BufferBlock | None] = []
        self._buffers: list[Buffer] = []
        self._users: list[list[int]] = []
        self._numbers: dict[ir.Value, int] = {}
        self._asynchronous: list[int] = []
        self._tensors: list[tuple[int, int]] = []
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
            tuple(self._tensors),
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
            if self._behind and last >= 0:
                self._pass_tensors(cast(BufferOp, self._ops[last]))
            self._blocks[place] = BufferBlock(place, parent, number, first, len(self._ops), tuple(arguments), last)
        if len(found) > 1:
            self._link(blocks, found)
        return tuple(found)

    def _operation(self, operation: ir.Operation, block: int) -> int:
        number, name = len(self._ops), operation.name
        numbers, users = self._numbers, self._users
        operands = tuple([numbers.get(v, NOT_A_BUFFER) for v in operation.operands])
        payload = self._payload(operation) if name.startswith("linalg.") else None
        for buffer in (*operands, *self._hidden(operation), *(payload or ())) if payload or self._behind else operands:
            if buffer != NOT_A_BUFFER and number not in users[buffer][-1:]:
                users[buffer].append(number)
        self._ops.append(None)
        before = len(self._buffers)
        regions: tuple[tuple[int, ...], ...] = ()
        edges: tuple[RegionEdge, ...] = ()
        flow = None
        if payload is None and len(operation.regions):
            flow = flow_of(operation)
            kind = Kind.UNKNOWN if flow is None else Kind.PASSED
            regions = tuple([self._region(r, number, i, kind) for i, r in enumerate(operation.regions)])
            edges = self._graph(name, flow, regions)
        results = tuple(
            [
                self._result(operation, name, v, i, (number, block), operands, flow is not None)
                if is_buffer(v.type)
                else NOT_A_BUFFER
                for i, v in enumerate(operation.results)
            ]
        )
        if is_asynchronous(operation):
            self._asynchronous.append(number)
        if self._behind or (self._scalars and name not in _NOT_READING) or self._points(operation):
            self._remember(operation, (*operands, *(payload or ())), number, before)
        control = flow is not None
        self._ops[number] = BufferOp(
            number, operation, name, block, len(self._ops), operands, results, regions, edges, control
        )
        return number

    def _graph(self, name: str, flow: Flow | None, regions: tuple[tuple[int, ...], ...]) -> tuple[RegionEdge, ...]:
        """The graph of an op with regions; that of ops with one flow is made once."""
        key = id(flow), name, tuple([bool(blocks) for blocks in regions])
        if key not in self._edges:
            self._edges[key] = flow, region_edges(name, flow, key[2])
        return self._edges[key][1]

    def _payload(self, operation: ir.Operation) -> list[int] | None:
        """The memrefs that the payload of a linalg op uses; None if it makes memrefs itself."""
        used: list[int] = []
        for op in nested_ops(operation):
            if any(is_buffer(value.type) for value in op.results):
                return None
            used += (self._numbers[value] for value in op.operands if value in self._numbers)
            used += self._hidden(op)
        return used

    def _hidden(self, operation: ir.Operation) -> list[int]:
        """The memrefs behind the operands of an op that are no memrefs; whoever called gets scalars as they are."""
        if not self._behind or operation.name == "func.return":
            return []
        return [buffer for value in operation.operands for buffer in self._behind.get(value, ())]

    def _pass_tensors(self, end: BufferOp) -> None:
        """Notes what the tensors show that a terminator passes on."""
        shown = [self._behind.get(value, ()) for value in end.operation.operands if is_tensor(value.type)]
        self._tensors += ((end.number, buffer) for buffers in shown for buffer in buffers)

    def _points(self, operation: ir.Operation) -> bool:
        """Whether memory can be had by what an op makes and is no memref."""
        later = operation.name == "async.execute" and any("memref" in str(result.type) for result in operation.results)
        return later or operation.name in _POINTING

    def _remember(self, operation: ir.Operation, operands: tuple[int, ...], number: int, before: int) -> None:
        """Notes what is behind the results of an op: its own memrefs, and those used in its regions of the first `before`."""
        inside = [op for op in self._ops[number + 1 :] if op is not None]
        used = [*operands, *self._hidden(operation), *(v for op in inside for v in op.operands)]
        used += (v for op in inside for v in self._hidden(op.operation))
        buffers = tuple(dict.fromkeys(v for v in used if NOT_A_BUFFER < v < before))
        if buffers:
            self._behind.update((v, buffers) for v in operation.results if not is_buffer(v.type))

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
            sources = tuple(self._hidden(op))
        return self._add(value, kind, place[0], index, place[1], sources)

    def _link(self, blocks: Sequence[ir.Block], numbers: Sequence[int]) -> None:
        """Notes where the blocks of a region branch; without a model of a terminator nothing is known of what arrives."""
        places = dict(zip(blocks, numbers, strict=True))
        for block, number in zip(blocks, numbers, strict=True):
            record = cast(BufferBlock, self._blocks[number])
            successors = [places[s] for s in block.successors] if record.last >= 0 else []
            if not successors:
                continue
            passed = branched(cast(BufferOp, self._ops[record.last]).operation)
            branches: list[tuple[int, tuple[tuple[int, int], ...]]] = []
            for position, successor in enumerate(successors):
                if passed is None:
                    for argument in cast(BufferBlock, self._blocks[successor]).arguments:
                        self._forget(argument)
                handed = [(operand, argument) for operand, to, argument in passed or () if to == position]
                branches.append((successor, tuple(handed)))
            self._blocks[number] = record._replace(branches=tuple(branches))

    def _forget(self, buffer: int) -> None:
        if buffer != NOT_A_BUFFER:
            self._buffers[buffer] = self._buffers[buffer]._replace(kind=Kind.UNKNOWN)


def branched(op: ir.Operation) -> tuple[tuple[int, int, int], ...] | None:
    """What a terminator passes to other blocks: (operand, successor, argument there); None if that is not known."""
    model = model_of(op.name)
    if model is not None and model.branches is not None:
        return model.branches(op)
    if op.name == "cf.br":
        return tuple((i, 0, i) for i in range(len(op.operands)))
    if op.name == "cf.cond_br":
        counts: list[int] = list(segment_sizes(op)[1:])
    elif op.name == "cf.switch":
        counts = [segment_sizes(op)[1]]
        if "case_operand_segments" in op.attributes:
            counts += [int(n) for n in cast(Any, op.attributes["case_operand_segments"])]
    else:
        return None
    starts = [1 + sum(counts[:i]) for i in range(len(counts))]
    return tuple((start + i, to, i) for to, start in enumerate(starts) for i in range(counts[to]))
