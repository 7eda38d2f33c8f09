"""Vectors that are read from tensors and written into them."""

from __future__ import annotations

from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.building import create, remade
from hotdesk.ir.types import is_tensor, shape_of
from hotdesk.ir.walking import attributes_of, constant_of, segment_sizes
from hotdesk.models.facts import Facts, no_facts
from hotdesk.models.model import Buffers, OpModel


def _read_facts(op: ir.Operation) -> Facts:
    return Facts(reads=frozenset({0})) if is_tensor(op.operands[0].type) else Facts()


def _bufferize_read(op: ir.Operation, buffers: Buffers) -> None:
    operands = [buffers.buffer(op.operands[0]), *list(op.operands)[1:]]
    new = remade(op, operands, [op.results[0].type])
    op.results[0].replace_all_uses_with(new.results[0])


def _transfer_write_facts(op: ir.Operation) -> Facts:
    if not len(op.results):
        return Facts()
    if _covers(op):
        return Facts(ties=((1, 0),), overwrites=frozenset({1}))
    return Facts(reads=frozenset({1}), ties=((1, 0),))


def _covers(op: ir.Operation) -> bool:
    """Whether a write provably covers its destination: it begins at 0, no element is masked, and the sizes are the same."""
    vector, destination = cast(Any, op.operands[0].type), op.operands[1].type
    affine_map = cast(Any, op.attributes["permutation_map"]).value
    starts = list(op.operands)[2 : 2 + len(shape_of(destination))]
    return (
        segment_sizes(op)[-1] == 0
        and not any(vector.scalable_dims)
        and affine_map == ir.AffineMap.get_identity(len(shape_of(destination)))
        and tuple(vector.shape) == shape_of(destination)
        and all(constant_of(start) == 0 for start in starts)
    )


def _scatter_facts(op: ir.Operation) -> Facts:
    return Facts(reads=frozenset({0}), ties=((0, 0),)) if len(op.results) else Facts()


def _bufferize_write(destination: int, op: ir.Operation, buffers: Buffers) -> None:
    operands = list(op.operands)
    operands[destination] = buffers.destination(op, destination)
    remade(op, operands, [])
    buffers.assign(op.results[0], operands[destination])


def _bufferize_transfer_write(op: ir.Operation, buffers: Buffers) -> None:
    _bufferize_write(1, op, buffers)


def _bufferize_scatter(op: ir.Operation, buffers: Buffers) -> None:
    _bufferize_write(0, op, buffers)


def _expand_mask(op: ir.Operation) -> list[ir.Value] | None:
    """A transfer in a mask is a transfer with a mask."""
    inner = next(iter(op.regions[0].blocks[0].operations)).operation
    tensors = any(is_tensor(v.type) for v in (*inner.operands, *inner.results))
    if not tensors or inner.name not in ("vector.transfer_read", "vector.transfer_write") or len(op.operands) > 1:
        return None
    attributes = attributes_of(inner)
    attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([*segment_sizes(inner)[:-1], 1])
    types = [result.type for result in inner.results]
    return list(create(inner.name, [*inner.operands, op.operands[0]], types, attributes, before=op).results)


MODELS = {
    "vector.transfer_read": OpModel(_read_facts, _bufferize_read),
    "vector.transfer_write": OpModel(_transfer_write_facts, _bufferize_transfer_write),
    "vector.gather": OpModel(_read_facts, _bufferize_read),
    "vector.scatter": OpModel(_scatter_facts, _bufferize_scatter),
    "vector.mask": OpModel(no_facts, expand=_expand_mask),
}
