"""What models see while some ops are bufferized among others that keep their tensors.

Between the two worlds stand materializations: `bufferization.to_buffer` in front of an op that became a buffer op, for each
tensor it uses, and `bufferization.to_tensor` behind it, for each tensor it makes. Nothing is analysed: what an op writes is a new
buffer, with a copy of the old contents where the op needs them, so no buffer that a tensor was made from is ever written again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.errors import BufferizationError
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.building import alloc, create, dynamic_dims, elementwise_copy
from hotdesk.ir.laid_out import alloc_laid_out
from hotdesk.ir.locations import python_line, source_of
from hotdesk.ir.symbols import Symbols
from hotdesk.ir.types import is_memref, is_tensor, memref_of, shape_of
from hotdesk.ir.walking import dialect_of, made_by, ops_around, users
from hotdesk.models.bufferization import TO_BUFFER, TO_TENSOR
from hotdesk.models.facts import Facts
from hotdesk.models.new_memory import ALLOC
from hotdesk.models.tensor import EMPTY
from hotdesk.program.symbolic import byte_size

_WITH_PAYLOADS = ("linalg", "tm_tensor", "tensor")


def to_buffer(value: ir.Value, before: ir.Operation) -> ir.Value:
    """The memref of a tensor, materialized in front of an op unless the tensor was made from one."""
    producer = made_by(value, TO_TENSOR)
    if producer is not None and is_memref(producer.operands[0].type):
        return producer.operands[0]
    return create(TO_BUFFER, [value], [memref_of(value.type)], before=before).results[0]


def to_tensor(memref: ir.Value, kind: ir.Type, before: ir.Operation) -> ir.Value:
    """The tensor of a memref, materialized in front of an op."""
    return create(TO_TENSOR, [memref], [kind], before=before).results[0]


def copied_as(memref: ir.Value, kind: ir.Type, before: ir.Operation) -> ir.Value:
    """A new buffer of that type with a memref's contents, in front of an op."""
    plain = kind == memref_of(kind)
    new = alloc(kind, dynamic_dims(memref, before), before) if plain else alloc_laid_out(kind, memref, before)
    elementwise_copy(memref, new, before)
    return new


class Materializing:
    """What a model sees while its op is bufferized (`models.model.Buffers`)."""

    def __init__(self, op: ir.Operation, function: ir.Operation, facts: Facts, symbols: Symbols) -> None:
        self._op = op
        self.symbols = symbols
        self._function = function
        self.facts = facts
        self._buffers: dict[ir.Value, ir.Value] = {}
        self.assigned: set[ir.Value] = set()
        self.decisions: list[Decision] = []

    @property
    def captures(self) -> bool:
        return True

    def buffer(self, value: ir.Value) -> ir.Value:
        if value not in self._buffers:
            self._buffers[value] = to_buffer(value, outside_payloads(self._op))
        return self._buffers[value]

    def destination(self, op: ir.Operation, operand: int) -> ir.Value:
        value = op.operands[operand]
        copies = self.facts.needs(operand) and not _is_undefined(value)
        new = alloc(memref_of(value.type), self._sizes(value), op)
        if copies:
            elementwise_copy(self.buffer(value), new, op)
        self._decide(Outcome.COPIED if copies else Outcome.ALLOCATED, operand)
        return new

    def result(self, op: ir.Operation, number: int, sizes: Sequence[ir.Value]) -> ir.Value:
        return alloc(memref_of(op.results[number].type), list(sizes), op)

    def assign(self, value: ir.Value, memref: ir.Value) -> None:
        self.assigned.add(value)
        value.replace_all_uses_with(to_tensor(memref, value.type, self._op))

    def contiguous(self, memref: ir.Value, op: ir.Operation, operand: int, kind: ir.Type | None = None) -> ir.Value:
        self._decide(Outcome.COPIED, operand, Reason.DIFFERENT_LAYOUT)
        return copied_as(memref, memref_of(memref.type) if kind is None else kind, op)

    def lies_there(self, op: ir.Operation) -> bool:
        return False

    def copy_into(self, memref: ir.Value, op: ir.Operation, operand: int, before: ir.Operation | None = None) -> None:
        source = self.buffer(op.operands[operand])
        elementwise_copy(source, memref, op if before is None else before)
        self._decide(Outcome.COPIED, operand, Reason.LIES_ELSEWHERE)

    def entering(self, op: ir.Operation, operand: int) -> ir.Value:
        return self.seen_as(self.buffer(op.operands[operand]), memref_of(op.operands[operand].type), op)

    def leaving(self, op: ir.Operation, operand: int) -> ir.Value:
        return self.entering(op, operand)

    def passed_type(self, value: ir.Value) -> ir.Type:
        return memref_of(value.type)

    def plain_type(self, value: ir.Value) -> ir.MemRefType:
        return memref_of(value.type)

    def signature_type(self, tensor: ir.Type) -> ir.MemRefType:
        return memref_of(tensor)

    def seen_as(self, memref: ir.Value, kind: ir.Type, op: ir.Operation) -> ir.Value:
        return memref if memref.type == kind else copied_as(memref, kind, op)

    def rebuild_arguments(self, block: ir.Block) -> None:
        rebuild_arguments(block)

    def replaced_by(self, new: ir.Operation) -> None:
        """Nothing is asked later about the ops that were rewritten."""

    def contents(self, op: ir.Operation, operand: int) -> ir.Value | None:
        raise self._shared(op)

    def inserted_into(self, op: ir.Operation) -> ir.Value:
        raise self._shared(op)

    def drop_arguments(self, block: ir.Block, first: int) -> None:
        raise self._shared(self._op)

    def _shared(self, op: ir.Operation) -> BufferizationError:
        return BufferizationError(
            f"op `{op.name}`",
            expected="an op that can be bufferized on its own",
            got="a loop whose threads insert parts of shared tensors",
            where=python_line(op.location),
            hint="bufferize the whole function: `--hotdesk-one-shot-bufferize`",
        )

    def _sizes(self, value: ir.Value) -> list[ir.Value]:
        empty = made_by(value, EMPTY)
        if empty is not None:
            return list(empty.operands)
        dynamic = None in shape_of(value.type)
        return dynamic_dims(self.buffer(value), self._op) if dynamic else []

    def _decide(self, outcome: Outcome, operand: int, reason: Reason = Reason.NOT_ANALYSED) -> None:
        op = self._op
        size = byte_size(op.operands[operand], self._function)
        source = source_of(op)
        self.decisions.append(Decision(f"operand {operand} of {op.name}", outcome, reason, (source,), size))


def rebuild_arguments(block: ir.Block) -> None:
    """Makes memrefs of a block's tensor arguments, each with its tensor materialized at the top of the block."""
    first = next(iter(block.operations)).operation
    for argument in block.arguments:
        if not is_tensor(argument.type):
            continue
        kind, uses = argument.type, [(cast(Any, use.owner).operation, use.operand_number) for use in argument.uses]
        argument.set_type(memref_of(kind))
        tensor = to_tensor(argument, kind, first)
        for user, operand in uses:
            user.operands[operand] = tensor


def outside_payloads(op: ir.Operation) -> ir.Operation:
    """The op itself, or the op whose payload it is in."""
    payloads = [each for each in ops_around(op) if dialect_of(each.name) in _WITH_PAYLOADS]
    return payloads[-1] if payloads else op


def _is_undefined(value: ir.Value) -> bool:
    """Whether a tensor has no contents yet, before or after its own bufferization."""
    producer = made_by(value, TO_TENSOR)
    if producer is None:
        return made_by(value, EMPTY) is not None
    memref = producer.operands[0]
    return made_by(memref, ALLOC) is not None and all(user.name == TO_TENSOR for user in users(memref))
