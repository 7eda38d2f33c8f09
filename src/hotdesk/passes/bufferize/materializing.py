"""Bufferization of some ops among others that keep their tensors; what models see of it.

Between the two worlds stand materializations: `bufferization.to_buffer` in front of an op that became a buffer op, for each
tensor it uses, and `bufferization.to_tensor` behind it, for each tensor it makes. Nothing is analysed: what an op writes is a new
buffer, with a copy of the old contents where the op needs them, so no buffer that a tensor was made from is ever written again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.analysis.tensors.memory_spaces import plain_space
from hotdesk.errors import BufferizationError
from hotdesk.explain import Decision, Outcome, Reason, Source
from hotdesk.ir.building import alloc, create, dynamic_dims, elementwise_copy
from hotdesk.ir.byte_size import byte_size
from hotdesk.ir.locations import placed, python_line
from hotdesk.ir.types import is_memref, is_tensor, memref_of, shape_of
from hotdesk.ir.walking import captured_operands, defined_functions, defining_op, nested_ops, segment_sizes, users
from hotdesk.models.facts import Facts
from hotdesk.models.registry import model_of
from hotdesk.passes.bufferize.expanding import expand_among

TO_BUFFER = "bufferization.to_buffer"
TO_TENSOR = "bufferization.to_tensor"
_UNDEFINED = ("tensor.empty", "bufferization.alloc_tensor")
_IN_PAYLOADS = ("tensor.extract", "tensor.dim")
_WITH_PAYLOADS = ("linalg", "tm_tensor", "tensor")


def bufferize_ops(module: ir.Module, wanted: Callable[[str], bool]) -> tuple[Decision, ...]:
    """Bufferizes every op whose name is wanted, that has a model and ranked tensors alone; other ops keep their tensors."""
    decisions: list[Decision] = []
    for function in defined_functions(module):
        for op in _payloads_first(_expanded(function, wanted)):
            if _has_tensors(op) and (op.name in _IN_PAYLOADS or _outside_payloads(op) == op):
                with placed(op.location):
                    decisions.extend(_bufferize(op, function))
    return tuple(decisions)


def _expanded(function: ir.Operation, wanted: Callable[[str], bool]) -> list[ir.Operation]:
    """The ops that are wanted, and those of any dialect that their models made of some of them."""
    ops = [op for op in nested_ops(function) if wanted(op.name) and _has_tensors(op) and _outside_payloads(op) == op]
    return [op for op, made in expand_among(function, ops) if made or wanted(op.name)]


def _payloads_first(ops: list[ir.Operation]) -> Iterator[ir.Operation]:
    """Ops in their order, but each behind those of its payload, which would go with it."""
    around: ir.Operation | None = None
    for op in ops:
        outside = _outside_payloads(op)
        if around is not None and outside != around:
            yield around
            around = None
        if outside == op:
            around = op
        else:
            yield op
    if around is not None:
        yield around


def to_buffer(value: ir.Value, before: ir.Operation) -> ir.Value:
    """The memref of a tensor, materialized in front of an op unless the tensor was made from one."""
    producer = defining_op(value)
    if producer is not None and producer.name == TO_TENSOR and is_memref(producer.operands[0].type):
        return producer.operands[0]
    return create(TO_BUFFER, [value], [memref_of(value.type)], before=before).results[0]


def to_tensor(memref: ir.Value, kind: ir.Type, before: ir.Operation) -> ir.Value:
    """The tensor of a memref, materialized in front of an op."""
    return create(TO_TENSOR, [memref], [kind], before=before).results[0]


def copied(memref: ir.Value, kind: ir.Type, before: ir.Operation) -> ir.Value:
    """A new buffer of that type with a memref's contents."""
    new = alloc(kind, dynamic_dims(memref, before), before)
    elementwise_copy([memref], new, None, len(shape_of(kind)), before)
    return new


class Materializing:
    """What a model sees while its op is bufferized (`models.model.Buffers`)."""

    def __init__(self, op: ir.Operation, function: ir.Operation, facts: Facts) -> None:
        self._op = op
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
            self._buffers[value] = to_buffer(value, _outside_payloads(self._op))
        return self._buffers[value]

    def destination(self, op: ir.Operation, operand: int) -> ir.Value:
        value = op.operands[operand]
        contents = operand in self.facts.reads or operand not in self.facts.overwrites
        fresh = _is_undefined(value)
        new = alloc(memref_of(value.type), self._sizes(value), op)
        if contents and not fresh:
            elementwise_copy([self.buffer(value)], new, None, len(shape_of(new.type)), op)
        self._decide(Outcome.COPIED if contents and not fresh else Outcome.ALLOCATED, operand)
        return new

    def result(self, op: ir.Operation, number: int, sizes: Sequence[ir.Value]) -> ir.Value:
        return alloc(memref_of(op.results[number].type), list(sizes), op)

    def assign(self, value: ir.Value, memref: ir.Value) -> None:
        self.assigned.add(value)
        value.replace_all_uses_with(to_tensor(memref, value.type, self._op))

    def contiguous(self, memref: ir.Value, op: ir.Operation, operand: int) -> ir.Value:
        self._decide(Outcome.COPIED, operand, Reason.DIFFERENT_LAYOUT)
        return copied(memref, memref_of(memref.type), op)

    def lies_there(self, op: ir.Operation) -> bool:
        return False

    def copy_into(self, memref: ir.Value, op: ir.Operation, operand: int, before: ir.Operation | None = None) -> None:
        source = self.buffer(op.operands[operand])
        elementwise_copy([source], memref, None, len(shape_of(memref.type)), op if before is None else before)
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
        return memref if memref.type == kind else copied(memref, kind, op)

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
            where=python_line(op.location) or None,
            hint="bufferize the whole function: `--hotdesk-one-shot-bufferize`",
        )

    def _sizes(self, value: ir.Value) -> list[ir.Value]:
        producer = defining_op(value)
        if producer is not None and producer.name == "tensor.empty":
            return list(producer.operands)
        dynamic = None in shape_of(value.type)
        return dynamic_dims(self.buffer(value), self._op) if dynamic else []

    def _decide(self, outcome: Outcome, operand: int, reason: Reason = Reason.NOT_ANALYSED) -> None:
        op = self._op
        size = byte_size(op.operands[operand], self._function)
        source = Source(op.name, python_line(op.location))
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


def _bufferize(op: ir.Operation, function: ir.Operation) -> list[Decision]:
    if op.name in _UNDEFINED:
        _allocate_undefined(op)
        return []
    model = model_of(op.name)
    if model is None or model.bufferize is None:
        return []
    facts = model.facts(op)
    buffers = Materializing(op, function, facts)
    model.bufferize(op, buffers)
    op.erase()
    return buffers.decisions


def _allocate_undefined(op: ir.Operation) -> None:
    """Memory for a tensor without contents, or with another tensor's. Raises BufferizationError for one in a memory space."""
    if "memory_space" in op.attributes and plain_space(op.attributes["memory_space"]) is not None:
        raise _in_a_space(op)
    result = op.results[0]
    kind = memref_of(result.type)
    dynamic, copies, _ = segment_sizes(op) if "operandSegmentSizes" in op.attributes else (len(op.operands), 0, 0)
    source = op.operands[dynamic] if copies else None
    sizes = list(op.operands)[:dynamic]
    memref = alloc(kind, sizes, op) if source is None else copied(to_buffer(source, op), kind, op)
    result.replace_all_uses_with(to_tensor(memref, result.type, op))
    op.erase()


def _has_tensors(op: ir.Operation) -> bool:
    """Whether an op has tensors, all of them ranked."""
    values = (*op.operands, *op.results, *(value for _, _, value in captured_operands(op)))
    unranked = any(isinstance(value.type, ir.UnrankedTensorType) for value in values)
    return not unranked and any(is_tensor(value.type) for value in values)


def _outside_payloads(op: ir.Operation) -> ir.Operation:
    """The op itself, or the op whose payload it is in."""
    parent = cast(Any, op.parent)
    while parent is not None and parent.operation.name != "func.func":
        if parent.operation.name.split(".")[0] in _WITH_PAYLOADS:
            op = parent.operation
        parent = parent.operation.parent
    return op


def _is_undefined(value: ir.Value) -> bool:
    """Whether a tensor has no contents yet, before or after its own bufferization."""
    producer = defining_op(value)
    if producer is None or producer.name != TO_TENSOR:
        return producer is not None and producer.name == "tensor.empty"
    memref = producer.operands[0]
    owner = defining_op(memref)
    return owner is not None and owner.name == "memref.alloc" and all(user.name == TO_TENSOR for user in users(memref))


def _in_a_space(op: ir.Operation) -> BufferizationError:
    return BufferizationError(
        f"memory space of `{op.name}`",
        expected="the default space, the only one that partial passes know",
        got=f"space {op.attributes['memory_space']}",
        where=python_line(op.location) or None,
        hint="bufferize it with hotdesk-one-shot-bufferize",
    )
