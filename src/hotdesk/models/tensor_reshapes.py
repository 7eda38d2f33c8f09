"""Reshapes and casts of tensors: the same memory with other dims."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from hotdesk._bindings import ir
from hotdesk.ir.building import create
from hotdesk.ir.types import layout_of, memref_of, memref_with, row_major, shape_of
from hotdesk.ir.walking import defining_op, groups_of
from hotdesk.models.facts import Facts
from hotdesk.models.layouts import has_identity_layout, is_identity_layout, sliced_type, strided_type, times
from hotdesk.models.model import Buffers, OpModel
from hotdesk.models.registry import model_of

_WHOLE_VIEW = Facts(views=((0, 0),), whole_views=frozenset({(0, 0)}))


def _whole_view(op: ir.Operation) -> Facts:
    return _WHOLE_VIEW


def _bufferize_expand(op: ir.Operation, buffers: Buffers) -> None:
    source = buffers.buffer(op.operands[0])
    sizes = shape_of(op.results[0].type)
    groups = groups_of(op)
    if has_identity_layout(source) and (groups or "strided" not in str(source.type)):  # `strided<[]>` stays strided
        result: ir.Type = memref_with(sizes, source.type)
    else:
        strides, offset = layout_of(source.type)
        expanded: list[int | None] = []
        for group, stride in zip(groups, strides, strict=True):
            inner = row_major(tuple(sizes[i] for i in group))
            expanded.extend(times(s, stride) for s in inner)
        if not groups:  # a single element gets dims of size 1
            expanded = [1] * len(sizes)
        result = strided_type(sizes, expanded, offset, source)
    attributes = {name: op.attributes[name] for name in ("reassociation", "static_output_shape")}
    operands = [source, *list(op.operands)[1:]]
    buffers.assign(op.results[0], create("memref.expand_shape", operands, [result], attributes, before=op).results[0])


def _bufferize_collapse(op: ir.Operation, buffers: Buffers) -> None:
    source = buffers.buffer(op.operands[0])
    groups = groups_of(op)
    if not _is_collapsible(source.type, groups):
        source = buffers.contiguous(source, op, 0)
    sizes = shape_of(op.results[0].type)
    if has_identity_layout(source):
        result: ir.Type = memref_with(sizes, source.type)
    else:
        strides, offset = layout_of(source.type)
        collapsed = [_innermost_stride(source, strides, group) for group in groups]
        result = strided_type(sizes, collapsed, offset, source)
    attributes = {"reassociation": op.attributes["reassociation"]}
    buffers.assign(op.results[0], create("memref.collapse_shape", [source], [result], attributes, before=op).results[0])


def _innermost_stride(source: ir.Value, strides: Sequence[int | None], group: Sequence[int]) -> int | None:
    """The stride MLIR infers for a merged dim: that of its last dim that is not of size 1."""
    sizes = shape_of(source.type)
    kept = list(group)
    while len(kept) > 1 and sizes[kept[-1]] == 1:
        kept.pop()
    return strides[kept[-1]] if sizes[kept[-1]] is not None or len(kept) == 1 else None


def _is_collapsible(memref: ir.Type, groups: Sequence[Sequence[int]]) -> bool:
    """Whether each group of dims is contiguous within itself, as far as the type proves it."""
    if is_identity_layout(memref):
        return True
    sizes, (strides, _) = shape_of(memref), layout_of(memref)
    for group in groups:
        relevant = [i for i in group if sizes[i] != 1]
        for outer, inner in itertools.pairwise(relevant):
            size, stride, outer_stride = sizes[inner], strides[inner], strides[outer]
            if size is None or stride is None or outer_stride is None or outer_stride != size * stride:
                return False
    return bool(groups)


def _bufferize_cast(op: ir.Operation, buffers: Buffers) -> None:
    source = buffers.buffer(op.operands[0])
    strides, offset = layout_of(source.type)
    sizes = shape_of(op.results[0].type)
    if has_identity_layout(source):
        result: ir.Type = memref_with(sizes, source.type)
    else:
        result = strided_type(sizes, strides, offset, source)
    buffers.assign(op.results[0], create("memref.cast", [source], [result], before=op).results[0])


def _reshape_facts(op: ir.Operation) -> Facts:
    return Facts(reads=frozenset({1}), views=((0, 0),), whole_views=frozenset({(0, 0)}))


def _bufferize_reshape(op: ir.Operation, buffers: Buffers) -> None:
    source = buffers.buffer(op.operands[0])
    if not has_identity_layout(source):
        source = buffers.contiguous(source, op, 0)
    operands = [source, buffers.buffer(op.operands[1])]
    kind = memref_with(shape_of(op.results[0].type), source.type)
    buffers.assign(op.results[0], create("memref.reshape", operands, [kind], before=op).results[0])


def _expand_collapse(op: ir.Operation) -> list[ir.Value] | None:
    kind, groups = _sliced(op.operands[0]), groups_of(op)
    return None if kind is None or _is_collapsible(kind, groups) else _of_copy(op)


def _expand_reshape(op: ir.Operation) -> list[ir.Value] | None:
    kind = _sliced(op.operands[0])
    return None if kind is None or is_identity_layout(kind) else _of_copy(op)


def _sliced(value: ir.Value) -> ir.Type | None:
    """The memref type of a slice, if all that it is taken from is in row-major order, which is all that may be known of it; None
    for what is no slice."""
    made = defining_op(value)
    if made is None or made.name != "tensor.extract_slice":
        return None
    return sliced_type(memref_of(made.operands[0].type), made, shape_of(value.type))


def _of_copy(op: ir.Operation) -> list[ir.Value] | None:
    """An op on a copy of its operand, if what it makes is overwritten: a copy is made in any case, and may be written then."""
    if not any(_overwrites(use) for use in op.results[0].uses):
        return None
    source, segments = op.operands[0], {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 1, 0])}
    copied = create("bufferization.alloc_tensor", [source], [source.type], segments, before=op).results[0]
    attributes = {name: op.attributes[name] for name in op.attributes}
    new = create(op.name, [copied, *list(op.operands)[1:]], [op.results[0].type], attributes, before=op)
    return [new.results[0]]


def _overwrites(use: Any) -> bool:
    """Whether an op may overwrite an operand."""
    op: ir.Operation = use.owner.operation
    model = model_of(op.name)
    if model is None or model.flow is not None:
        return True
    facts = model.facts(op)
    return use.operand_number in facts.clobbers or any(operand == use.operand_number for operand, _ in facts.ties)


MODELS = {
    "tensor.expand_shape": OpModel(_whole_view, _bufferize_expand),
    "tensor.collapse_shape": OpModel(_whole_view, _bufferize_collapse, expand=_expand_collapse),
    "tensor.reshape": OpModel(_reshape_facts, _bufferize_reshape, expand=_expand_reshape),
    "tensor.cast": OpModel(_whole_view, _bufferize_cast),
}
