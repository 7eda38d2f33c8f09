"""Reads a function on memrefs into the records of `analysis.memrefs.buffer_program`.

What is no memref may hide one: pointers to its memory, handles of it, tensors that show it. Ops that use it use the memref.

1. An op *points* to the memory of its memrefs if it makes a pointer or a tensor of one, or a value of which it is not known what
   it is: neither a number, nor a vector of numbers, nor a token, nor what the registers of a device hold.
2. What an op makes of such a value hides the same memory, unless it is no more than a float or a truth value. So does what a
   branch passes it to.
3. With `scalars`, numbers lead to the memory that they are computed from as well, where an op uses them that may compute them
   again: not one that takes them as they are, to pass them on, or to a callee. The payload of a linalg op is a kernel, which
   computes again what it yields as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.buffer_program import NOT_A_BUFFER, BufferOp, BufferProgram, BufferValue, Kind
from hotdesk.ir.building import UNREALIZED_CAST
from hotdesk.ir.types import is_any_tensor, is_buffer, is_token
from hotdesk.ir.walking import nested_ops
from hotdesk.models.asynchronous import runs_on
from hotdesk.models.control_flow import CHOICE, branched, flow_of, takes_scalars
from hotdesk.models.facts import Flow
from hotdesk.models.func import RETURN
from hotdesk.models.generics import is_linalg
from hotdesk.models.memref import OF_NO_CONTENTS, POINTING, stored, view_source
from hotdesk.models.new_memory import ALLOCA, GLOBAL, REALLOC, allocated
from hotdesk.program.reading import Head, Reader
from hotdesk.program.records import Op

_NUMBERS = (ir.IntegerType, ir.FloatType, ir.IndexType, ir.ComplexType, ir.VectorType)
_IN_REGISTERS = ("!gpu.mma_matrix<", "!nvgpu.warpgroup.accumulator<", "!x86.amx.tile<")


class HiddenMemory:
    """What values of one function hide, as far as it has been read; memrefs are numbers.

    Attributes:
        arrived: what the arguments of blocks hide, as far as branches are read that pass it to them.
    """

    def __init__(self, scalars: bool, arrived: Mapping[ir.Value, tuple[int, ...]]) -> None:
        self._scalars = scalars
        self._behind: dict[ir.Value, tuple[int, ...]] = dict(arrived)
        self._loaded: dict[ir.Value, tuple[int, ...]] = {}  # rule 3
        self.arrived = dict(arrived)

    def __bool__(self) -> bool:
        return bool(self._behind or self._loaded)

    def of(self, operation: ir.Operation, *, in_kernel: bool = False) -> list[int]:
        """The memrefs behind the operands of an op that are no memrefs; whoever called gets scalars as they are.

        A kernel computes again all scalars of its payload (`in_kernel`), those that it yields as well.
        """
        if not self or operation.name == RETURN:
            return []
        found = [buffer for value in operation.operands for buffer in self._behind.get(value, ())]
        if self._loaded and (in_kernel or not takes_scalars(operation.name)):
            found += (buffer for value in operation.operands for buffer in self._loaded.get(value, ()))
        return found

    def passed_on(self, end: BufferOp) -> list[tuple[int, int]]:
        """What a terminator passes on where it is not followed: its number with each memref behind a value that may lead there.

        Branches are followed by `pass_on`, but for tensors.
        """
        if not self._behind:
            return []
        leading = [
            value
            for value in end.operation.operands
            if is_any_tensor(value.type)
            or (not (len(end.operation.successors) or is_buffer(value.type)) and _may_point(value.type, False, True))
        ]
        return [(end.number, buffer) for value in leading for buffer in self._behind.get(value, ())]

    def note(self, op: BufferOp, inside: Sequence[BufferOp | None], own: tuple[int, ...], before: int) -> None:
        """Notes what the results of an op hide, of the first `before` memrefs: of `own`, and of what ops `inside` of it use."""
        made = [value for value in op.operation.results if not is_buffer(value.type)]
        points = any(self._points(op, value.type, own) for value in made)
        if not (points or self._behind or self._scalars):
            return
        ops = [op, *(each for each in inside if each is not None)]
        memrefs = [*own, *(number for each in ops[1:] for number in each.operands)]
        if self._behind or points:
            leading = [value for value in made if _may_lead(value.type)]
            self._update(self._behind, leading, ops, memrefs if points else [], before)
        if self._scalars and op.name not in OF_NO_CONTENTS:
            self._update(self._loaded, made, ops, memrefs, before)

    def _update(
        self, behind: dict[ir.Value, tuple[int, ...]], made: Sequence[ir.Value], ops: Sequence[BufferOp],
        memrefs: Sequence[int], before: int,
    ) -> None:  # fmt: skip
        """Notes in `behind` what values hide that one of `ops` makes: `memrefs`, and what is behind the operands of `ops`."""
        hidden = [number for op in ops for value in op.operation.operands for number in behind.get(value, ())]
        found = tuple(dict.fromkeys(number for number in (*memrefs, *hidden) if NOT_A_BUFFER < number < before))
        if found:
            behind.update((value, found) for value in made)

    def pass_on(self, end: ir.Operation) -> None:
        """Notes what a branch passes on to blocks."""
        if not self._behind or not len(end.successors) or not any(value in self._behind for value in end.operands):
            return
        targets = [list(block.arguments) for block in end.successors]
        known = branched(end)
        everything = [
            (i, to, n) for i in range(len(end.operands)) for to, of in enumerate(targets) for n in range(len(of))
        ]
        for operand, to, argument in everything if known is None else known:
            hidden, target = self._behind.get(end.operands[operand], ()), targets[to][argument]
            if hidden and not is_buffer(target.type) and _may_lead(target.type):
                found = tuple(dict.fromkeys((*self.arrived.get(target, ()), *hidden)))
                self.arrived[target] = self._behind[target] = found

    def _points(self, op: BufferOp, kind: ir.Type, own: Sequence[int]) -> bool:
        """Whether what an op makes of a type may lead to memory by rule 1."""
        return op.name in (*POINTING, UNREALIZED_CAST) or _may_point(
            kind, op.control, any(number != NOT_A_BUFFER for number in own)
        )


def _may_point(kind: ir.Type, passed: bool, has_memrefs: bool) -> bool:
    """Whether a value of a type may lead to the memory of an op's memrefs; if it is `passed` it only does if an operand does."""
    if isinstance(kind, _NUMBERS):
        return False
    if is_any_tensor(kind):
        return has_memrefs and not passed
    if is_token(kind):
        return "memref" in str(kind)
    return not passed and not str(kind).startswith(_IN_REGISTERS)


def _may_lead(kind: ir.Type) -> bool:
    """Whether a value of a type may be what memory is found by: anything but floats and truth values."""
    if isinstance(kind, (ir.VectorType, ir.ComplexType)):
        kind = cast(ir.Type, cast(Any, kind).element_type)
    return not isinstance(kind, ir.FloatType) and not (isinstance(kind, ir.IntegerType) and kind.width == 1)


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
        number, users = len(self.ops), self._users
        payload = self._payload(operation) if is_linalg(operation) else None
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
            used += self.hidden.of(op, in_kernel=True)
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
        elif name == CHOICE:
            kind, sources = Kind.CHOICE, operands[1:]
        elif name == GLOBAL:
            kind = Kind.GLOBAL
        elif name == ALLOCA:
            kind = Kind.STACK
        elif position in allocated(op.operation):
            kind, sources = Kind.ALLOCATION, operands[:1] if name == REALLOC else ()
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
