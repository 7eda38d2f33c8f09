"""Single elements and sizes of tensors, and tensors that are made of scalars or of nothing."""

from __future__ import annotations

import itertools
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.building import create, elementwise_copy, index_constant
from hotdesk.ir.types import is_tensor, shape_of
from hotdesk.models.facts import Facts, no_facts
from hotdesk.models.model import Buffers, OpModel


def _bufferize_dim(op: ir.Operation, buffers: Buffers) -> None:
    operands = [buffers.buffer(op.operands[0]), op.operands[1]]
    new = create("memref.dim", operands, [op.results[0].type], before=op)
    op.results[0].replace_all_uses_with(new.results[0])


def _bufferize_rank(op: ir.Operation, buffers: Buffers) -> None:
    rank = index_constant(len(shape_of(op.operands[0].type)), op)
    op.results[0].replace_all_uses_with(rank)


def _extract_facts(op: ir.Operation) -> Facts:
    return Facts(reads=frozenset({0}))


def _bufferize_extract(op: ir.Operation, buffers: Buffers) -> None:
    operands = [buffers.buffer(v) if is_tensor(v.type) else v for v in op.operands]
    new = create("memref.load", operands, [op.results[0].type], before=op)
    op.results[0].replace_all_uses_with(new.results[0])


def _insert_facts(op: ir.Operation) -> Facts:
    return Facts(reads=frozenset({1}), ties=((1, 0),))


def _bufferize_insert(op: ir.Operation, buffers: Buffers) -> None:
    destination = buffers.destination(op, 1)
    create("memref.store", [op.operands[0], destination, *list(op.operands)[2:]], [], before=op)
    buffers.assign(op.results[0], destination)


def _bufferize_splat(op: ir.Operation, buffers: Buffers) -> None:
    memref = buffers.result(op, 0, list(op.operands)[1:])
    elementwise_copy([], memref, op.operands[0], len(shape_of(memref.type)), op)
    buffers.assign(op.results[0], memref)


def _bufferize_from_elements(op: ir.Operation, buffers: Buffers) -> None:
    memref = buffers.result(op, 0, [])
    for position, value in zip(itertools.product(*map(range, cast(Any, memref.type).shape)), op.operands, strict=True):
        create("memref.store", [value, memref, *(index_constant(i, op) for i in position)], [], before=op)
    buffers.assign(op.results[0], memref)


def _empty_facts(op: ir.Operation) -> Facts:
    return Facts(undefined=frozenset({0}))


def _bufferize_empty(op: ir.Operation, buffers: Buffers) -> None:
    """Nothing: memory is made where the contents are first written."""


MODELS = {
    "tensor.empty": OpModel(_empty_facts, _bufferize_empty),
    "tensor.dim": OpModel(no_facts, _bufferize_dim),
    "tensor.rank": OpModel(no_facts, _bufferize_rank),
    "tensor.extract": OpModel(_extract_facts, _bufferize_extract),
    "tensor.insert": OpModel(_insert_facts, _bufferize_insert, takes_scalars=True),
    "tensor.splat": OpModel(no_facts, _bufferize_splat),
    "tensor.from_elements": OpModel(no_facts, _bufferize_from_elements, takes_scalars=True),
}
