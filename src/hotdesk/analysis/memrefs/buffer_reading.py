"""Reads a function on memrefs into the records of `analysis.memrefs.buffer_program`.

What is no memref may hide one (`analysis.memrefs.hidden_memory`). Ops that use it use the memref.
"""

from __future__ import annotations

from dataclasses import replace

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.buffer_program import NOT_A_BUFFER, BufferProgram, BufferValue, Kind
from hotdesk.analysis.memrefs.hidden_memory import HiddenMemory
from hotdesk.ir.types import is_buffer
from hotdesk.ir.walking import nested_ops
from hotdesk.models.asynchronous import runs_on
from hotdesk.models.control_flow import flow_of
from hotdesk.models.facts import Flow
from hotdesk.models.memref import stored, view_source
from hotdesk.models.new_memory import allocated
from hotdesk.program.reading import Head, Reader
from hotdesk.program.records import Op


def read_buffers(function: ir.Operation, scalars: bool = False) -> BufferProgram:
    """Reads a function. With `scalars`, an op that uses a scalar uses the memrefs that the scalar is computed from."""
    arrived: dict[ir.Value, tuple[int, ...]] = {}
    while True:
        reader = _BufferReader(function, HiddenMemory(scalars, arrived))
        program = reader.run()
        if reader.hidden.arrived == arrived:
            return program
        arrived = reader.hidden.arrived  # a pointer that a branch passes back to a block read before


class _BufferReader(Reader[Op, BufferValue]):
    def __init__(self, function: ir.Operation, hidden: HiddenMemory) -> None:
        super().__init__(function)
        self.hidden = hidden
        self._users: list[list[int]] = []
        self._asynchronous: list[int] = []
        self._passed_on: list[tuple[int, int]] = []
        self._stored: list[tuple[int, int]] = []
        self._payloads: dict[int, list[int]] = {}  # the memrefs that payloads use, by op

    def run(self) -> BufferProgram:
        self.read()
        return BufferProgram(
            self.function,
            tuple(self.ops),
            tuple(self.blocks),
            tuple(self.values),
            tuple(self.flows),
            self.numbers,
            self.body,
            tuple(map(tuple, self._users)),
            frozenset(self._asynchronous),
            tuple(self._passed_on),
            tuple(self._stored),
        )

    def argument(self, value: ir.Value, block: int, position: int, parent: int, known: bool) -> BufferValue | None:
        if not is_buffer(value.type):
            return None
        entered = Kind.PASSED if known else Kind.UNKNOWN
        return self._buffer(value, -1, position, block, Kind.ARGUMENT if block == 0 else entered)

    def flow(self, operation: ir.Operation) -> Flow | None:
        return flow_of(operation) if len(operation.regions) else None

    def enters(self, operation: ir.Operation, operands: tuple[int, ...], flow: Flow | None) -> bool:
        number, name, users = len(self.ops), operation.name, self._users
        payload = self._payload(operation) if name.startswith("linalg.") else None
        for buffer in (*operands, *self.hidden.of(operation), *(payload or ())) if payload or self.hidden else operands:
            if buffer != NOT_A_BUFFER and number not in users[buffer][-1:]:
                users[buffer].append(number)
        self._stored += ((number, self.numbers[value]) for value in stored(operation) if value in self.numbers)
        if payload:
            self._payloads[number] = payload
        return payload is None and len(operation.regions) > 0

    def op(self, head: Head, results: tuple[int, ...], before: int) -> Op:
        number, operation, operands = head.number, head.operation, head.operands
        if runs_on(operation):
            self._asynchronous.append(number)
        op = Op(
            *(number, operation, head.name, head.block, head.end),
            *(operands, results, head.regions, head.edges, head.flow),
        )
        if NOT_A_BUFFER in results:
            self.hidden.note(op, self.ops[number + 1 :], (*operands, *self._payloads.get(number, ())), before)
        return op

    def ended(self, last: int) -> None:
        if self.hidden:
            self._passed_on += self.hidden.passed_on(self.ops[last])
            self.hidden.pass_on(self.ops[last].operation)

    def forgotten(self, argument: int, branch: ir.Operation) -> None:
        if argument != NOT_A_BUFFER:
            known = self.values[argument]
            sources = (*known.sources, *self.hidden.of(branch))
            self.values[argument] = replace(known, kind=Kind.UNKNOWN, sources=sources)

    def _payload(self, operation: ir.Operation) -> list[int] | None:
        """The memrefs that the payload of a linalg op uses; None if it makes memrefs itself."""
        used, kept = list[int](), list[int]()
        for op in nested_ops(operation):
            if any(is_buffer(value.type) for value in op.results):
                return None
            used += (self.numbers[value] for value in op.operands if value in self.numbers)
            used += self.hidden.of(op)
            kept += (self.numbers[value] for value in stored(op) if value in self.numbers)
        self._stored += ((len(self.ops), memref) for memref in kept)
        return used

    def result(self, value: ir.Value, position: int, op: Head) -> BufferValue | None:
        if not is_buffer(value.type):
            return None
        name, operands = op.name, op.operands
        kind, sources = Kind.UNKNOWN, ()
        source = view_source(name, position)
        if source is not None and operands[source] != NOT_A_BUFFER:
            kind, sources = Kind.VIEW, (operands[source],)
        elif name == "arith.select":
            kind, sources = Kind.CHOICE, operands[1:]
        elif name == "memref.get_global":
            kind = Kind.GLOBAL
        elif name == "memref.alloca":
            kind = Kind.STACK
        elif position in allocated(op.operation):
            kind, sources = Kind.ALLOCATION, operands[:1] if name == "memref.realloc" else ()
        elif op.flow is not None:
            kind = Kind.PASSED
        else:
            sources = tuple(self.hidden.of(op.operation))
        return self._buffer(value, op.number, position, op.block, kind, sources)

    def _buffer(
        self, value: ir.Value, producer: int, position: int, block: int, kind: Kind, sources: tuple[int, ...] = ()
    ) -> BufferValue:
        self._users.append([])
        return BufferValue(len(self.values), value, producer, position, block, kind, sources)
