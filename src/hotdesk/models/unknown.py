"""The model of ops that nobody describes, if they may stay: they keep their tensors, between materializations.

    %r = "toy.op"(%x)     ->     %t = bufferization.to_tensor %x_memory
                                 %r = "toy.op"(%t)
                                 %m = bufferization.to_buffer %r
                                 (a copy of %m)

Such an op is taken to read all its operands. What it makes may lie in theirs, or in memory that is not to be written. So it is
copied at once into memory of its own, and everybody may overwrite what they like; but what an op makes of no tensor at all is not
copied, and never overwritten.
"""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.errors import BufferizationError
from hotdesk.ir.building import create, dynamic_dims, elementwise_copy, remade
from hotdesk.ir.locations import python_line
from hotdesk.ir.types import dynamic_layout, is_tensor, memref_of
from hotdesk.ir.walking import captured_operands, nested_ops
from hotdesk.models.facts import Facts, Spaces
from hotdesk.models.model import Buffers, OpModel


def facts(op: ir.Operation) -> Facts:
    """Raises BufferizationError for an op that cannot stay: one with regions that use tensors, or that ends a block."""
    inside = [value for nested in nested_ops(op) for value in (*nested.operands, *nested.results)]
    inside += [value for _, _, value in captured_operands(op)]
    if len(op.successors) or any(is_tensor(value.type) for value in inside):
        raise BufferizationError(
            f"op `{op.name}` cannot keep its tensors",
            expected="an op without branches and without tensors in its regions",
            got=op.name,
            where=python_line(op.location),
            hint="Register a model for it (docs/models.md), or let its dialect be bufferized.",
        )
    reads = frozenset(i for i, value in enumerate(op.operands) if is_tensor(value.type))
    makes = frozenset(i for i, result in enumerate(op.results) if is_tensor(result.type))
    spaces = Spaces(results=tuple((i, None) for i in sorted(makes)))
    return Facts(reads=reads, constants=frozenset() if _passes_memory(op) else makes, spaces=spaces)


def _passes_memory(op: ir.Operation) -> bool:
    """Whether what an op makes may lie in a tensor's memory; one without a rank is a memref by now (`bufferize.unranked`)."""
    return any(is_tensor(value.type) or isinstance(value.type, ir.UnrankedMemRefType) for value in op.operands)


def _bufferize(op: ir.Operation, buffers: Buffers, dynamic: bool) -> None:
    operands = [_to_tensor(op, value, buffers) if is_tensor(value.type) else value for value in op.operands]
    new = remade(op, operands, [r.type for r in op.results])
    for number, (old, result) in enumerate(zip(op.results, new.results, strict=True)):
        if not is_tensor(old.type):
            old.replace_all_uses_with(result)
            continue
        kind = memref_of(old.type)
        kind = dynamic_layout(kind) if dynamic else kind
        made = create("bufferization.to_buffer", [result], [kind], {"read_only": ir.UnitAttr.get()}, before=op).results[
            0
        ]
        if not _passes_memory(op):
            buffers.assign(old, made)
            continue
        memref = buffers.result(op, number, dynamic_dims(made, op))
        elementwise_copy(made, memref, op)
        buffers.assign(old, memref)


def _to_tensor(op: ir.Operation, value: ir.Value, buffers: Buffers) -> ir.Value:
    return create("bufferization.to_tensor", [buffers.buffer(value)], [value.type], before=op).results[0]


STRIDED = OpModel(facts, lambda op, buffers: _bufferize(op, buffers, True))
CONTIGUOUS = OpModel(facts, lambda op, buffers: _bufferize(op, buffers, False))
"""With what an op makes seen in any layout, or in row-major order without gaps."""
