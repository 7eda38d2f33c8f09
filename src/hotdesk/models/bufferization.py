"""The `bufferization` dialect on tensors: allocations without contents, and destinations that a value is written into."""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.ir.building import dynamic_dims, elementwise_copy
from hotdesk.ir.types import shape_of
from hotdesk.ir.walking import segment_sizes
from hotdesk.models.facts import Facts
from hotdesk.models.model import Buffers, OpModel


def _alloc_facts(op: ir.Operation) -> Facts:
    """With a tensor to copy, the result has its contents; else it has none."""
    dynamic, copied, _ = segment_sizes(op)
    return Facts(reads=frozenset({dynamic})) if copied else Facts(undefined=frozenset({0}))


def _bufferize_alloc(op: ir.Operation, buffers: Buffers) -> None:
    dynamic, copied, _ = segment_sizes(op)
    if not copied:
        return  # memory is made where the contents are first written
    source = buffers.buffer(op.operands[dynamic])
    memref = buffers.result(op, 0, dynamic_dims(source, op))
    elementwise_copy([source], memref, None, len(shape_of(memref.type)), op)
    buffers.assign(op.results[0], memref)


def _materialize_facts(op: ir.Operation) -> Facts:
    if not len(op.results):
        return Facts(reads=frozenset({0}))
    return Facts(reads=frozenset({0}), ties=((1, 0),), overwrites=frozenset({1}), elementwise=frozenset({0}))


def _bufferize_materialize(op: ir.Operation, buffers: Buffers) -> None:
    destination = buffers.destination(op, 1) if len(op.results) else op.operands[1]
    source = buffers.buffer(op.operands[0])
    if source != destination:
        elementwise_copy([source], destination, None, len(shape_of(source.type)), op)
    if len(op.results):
        buffers.assign(op.results[0], destination)


MODELS = {
    "bufferization.alloc_tensor": OpModel(_alloc_facts, _bufferize_alloc),
    "bufferization.materialize_in_destination": OpModel(_materialize_facts, _bufferize_materialize),
}
