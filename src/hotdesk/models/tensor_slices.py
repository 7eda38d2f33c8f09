"""Slices of tensors: an extraction is a view, an insertion writes a part of its destination.

An insertion that leaves nothing of its destination is its source; what only it used of the destination goes.
"""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.ir.building import dynamic_dims, elementwise_copy, sliced
from hotdesk.ir.types import DYNAMIC, SLICE, kept_dims, shape_of
from hotdesk.ir.walking import int_array, segment_sizes
from hotdesk.models.facts import Facts, Slice
from hotdesk.models.layouts import sliced_type
from hotdesk.models.model import Buffers, OpModel

EXTRACT_SLICE, INSERT_SLICE = "tensor.extract_slice", "tensor.insert_slice"


def subview(
    source: ir.Value,
    op: ir.Operation,
    result_shape: tuple[int | None, ...],
    before: ir.Operation | None = None,
) -> ir.Value:
    """`memref.subview` of `source` with the offsets, sizes and strides of a tensor slice op, in front of it or of another op.

    One element has no stride: with another one than that of `source`, all of it would look like a part.
    """
    offsets, sizes, steps = slice_entries(op)
    strides = [1 if size == 1 else step for size, step in zip(sizes, steps, strict=True)]
    kind = sliced_type(source.type, op, result_shape, [DYNAMIC if isinstance(s, ir.Value) else s for s in strides])
    return sliced("memref.subview", [source], kind, offsets, sizes, before or op, strides=strides)


def slice_entries(op: ir.Operation) -> tuple[tuple[int | ir.Value, ...], ...]:
    """The offsets, sizes and strides of an op on a slice: numbers, and its last operands where its attributes leave them open."""
    rest = iter(list(op.operands)[len(op.operands) - sum(segment_sizes(op)[-3:]) :])
    return tuple(
        tuple(next(rest) if entry == DYNAMIC else entry for entry in int_array(op.attributes[name])) for name in SLICE
    )


def slice_of(op: ir.Operation, container: int, source: int | None = None) -> Slice:
    """The slice that `op` is about."""
    offsets, sizes, strides = slice_entries(op)
    part = op.results[0] if source is None else op.operands[source]
    return Slice(container, offsets, sizes, strides, tuple(kept_dims(sizes, shape_of(part.type))), source)


def _extract_slice_facts(op: ir.Operation) -> Facts:
    return Facts(views=((0, 0),), part=slice_of(op, 0))


def _bufferize_extract_slice(op: ir.Operation, buffers: Buffers) -> None:
    part = subview(buffers.buffer(op.operands[0]), op, shape_of(op.results[0].type))
    if not buffers.facts.views:  # it is copied
        copy = buffers.result(op, 0, dynamic_dims(part, op))
        elementwise_copy(part, copy, op)
        part = copy
    buffers.assign(op.results[0], part)


def _is_whole(op: ir.Operation) -> bool:
    """Whether an insertion writes all of its destination, by numbers, with a source of the same type."""
    offsets, sizes, strides = (int_array(op.attributes[f"static_{name}"]) for name in ("offsets", "sizes", "strides"))
    alike = op.operands[0].type == op.results[0].type and tuple(sizes) == shape_of(op.results[0].type)
    return alike and all(start == 0 for start in offsets) and all(step == 1 for step in strides)


def _expand_insert_slice(op: ir.Operation) -> list[ir.Value] | None:
    return [op.operands[0]] if _is_whole(op) else None


def _insert_slice_facts(op: ir.Operation) -> Facts:
    if _is_whole(op):
        return Facts(views=((0, 0),), whole_views=frozenset({(0, 0)}))
    return Facts(reads=frozenset({0, 1}), ties=((1, 0),), part=slice_of(op, 1, 0))


def _bufferize_insert_slice(op: ir.Operation, buffers: Buffers) -> None:
    if _is_whole(op):
        buffers.assign(op.results[0], buffers.buffer(op.operands[0]))
        return
    destination = buffers.destination(op, 1)
    if buffers.lies_there(op):
        buffers.buffer(op.operands[0])
        buffers.assign(op.results[0], destination)
        return
    part = subview(destination, op, shape_of(op.operands[0].type))
    buffers.copy_into(part, op, 0)
    buffers.assign(op.results[0], destination)


MODELS = {
    EXTRACT_SLICE: OpModel(_extract_slice_facts, _bufferize_extract_slice),
    INSERT_SLICE: OpModel(_insert_slice_facts, _bufferize_insert_slice, expand=_expand_insert_slice),
}
