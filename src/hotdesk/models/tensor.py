"""The `tensor` dialect: slices, reshapes and casts are views, insertions write a part of their destination."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.building import create, elementwise_copy, index_constant
from hotdesk.ir.types import is_tensor, kept_dims, layout_of, row_major, shape_of
from hotdesk.ir.walking import int_array, segment_sizes
from hotdesk.models.facts import Facts, Slice
from hotdesk.models.model import Buffers, OpModel

_DYNAMIC = -(2**63)
_WHOLE_VIEW = Facts(views=((0, 0),), whole_views=frozenset({(0, 0)}))


def strided_type(
    sizes: Sequence[int | None], strides: Sequence[int | None], offset: int | None, like: ir.Value
) -> ir.MemRefType:
    """A memref type with a layout; without one where the layout is the row-major default."""
    dynamic = ir.ShapedType.get_dynamic_size()
    shape = [dynamic if size is None else size for size in sizes]
    element = cast(Any, like.type).element_type
    layout = ir.StridedLayoutAttr.get(
        _DYNAMIC if offset is None else offset, [_DYNAMIC if s is None else s for s in strides]
    )
    return ir.MemRefType.get(shape, element, layout)


def _has_identity_layout(memref: ir.Value) -> bool:
    """As MLIR sees it: up to one dimension, `strided<[1]>` without an offset is the identity too."""
    layout = str(cast(Any, memref.type).layout)
    return "strided" not in layout or layout in ("strided<[]>", "strided<[1]>")


def _times(a: int | None, b: int | None) -> int | None:
    """A product as MLIR infers it: unknown if a factor is, but 0 times anything is 0."""
    if a == 0 or b == 0:
        return 0
    return None if a is None or b is None else a * b


# Slices


def _subview(source: ir.Value, op: ir.Operation, first_dynamic: int, result_shape: tuple[int | None, ...]) -> ir.Value:
    """`memref.subview` of `source` with the offsets, sizes and strides of a tensor slice op."""
    counts = segment_sizes(op)[-3:]
    offsets, sizes, steps = (
        int_array(op.attributes[name]) for name in ("static_offsets", "static_sizes", "static_strides")
    )
    strides, offset = layout_of(source.type)
    total: int | None = offset
    for start, stride in zip(offsets, strides, strict=True):
        distance = _times(None if start == _DYNAMIC else start, stride)
        total = None if total is None or distance is None else total + distance
    kept = kept_dims(sizes, result_shape)
    out_strides = [_times(strides[i], None if steps[i] == _DYNAMIC else steps[i]) for i in kept]
    result = strided_type([None if sizes[i] == _DYNAMIC else sizes[i] for i in kept], out_strides, total, source)
    attributes = {
        **{name: op.attributes[name] for name in ("static_offsets", "static_sizes", "static_strides")},
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, *counts]),
    }
    operands = [source, *list(op.operands)[first_dynamic:]]
    return create("memref.subview", operands, [result], attributes, before=op).results[0]


def slice_of(op: ir.Operation, container: int, source: int | None = None) -> Slice:
    """The slice that `op` is about: its last operands are the offsets, sizes and strides that its attributes leave open."""
    rest = iter(list(op.operands)[len(op.operands) - sum(segment_sizes(op)[-3:]) :])
    offsets, sizes, strides = (
        tuple(next(rest) if entry == _DYNAMIC else entry for entry in int_array(op.attributes[name]))
        for name in ("static_offsets", "static_sizes", "static_strides")
    )
    part = op.results[0] if source is None else op.operands[source]
    return Slice(container, offsets, sizes, strides, tuple(kept_dims(sizes, shape_of(part.type))), source)


def _extract_slice_facts(op: ir.Operation) -> Facts:
    return Facts(views=((0, 0),), part=slice_of(op, 0))


def _bufferize_extract_slice(op: ir.Operation, buffers: Buffers) -> None:
    source = buffers.buffer(op.operands[0])
    buffers.assign(op.results[0], _subview(source, op, 1, shape_of(op.results[0].type)))


def _insert_slice_facts(op: ir.Operation) -> Facts:
    return Facts(reads=frozenset({0, 1}), ties=((1, 0),), part=slice_of(op, 1, 0))


def _bufferize_insert_slice(op: ir.Operation, buffers: Buffers) -> None:
    destination = buffers.destination(op, 1)
    if buffers.lies_there(op):
        buffers.buffer(op.operands[0])
        buffers.assign(op.results[0], destination)
        return
    part = _subview(destination, op, 2, shape_of(op.operands[0].type))
    elementwise_copy([buffers.buffer(op.operands[0])], part, None, len(shape_of(op.operands[0].type)), op)
    buffers.assign(op.results[0], destination)


# Reshapes


def _bufferize_expand(op: ir.Operation, buffers: Buffers) -> None:
    source = buffers.buffer(op.operands[0])
    sizes = shape_of(op.results[0].type)
    groups = [int_array(group) for group in cast(Any, op.attributes["reassociation"])]
    if _has_identity_layout(source):
        dynamic = ir.ShapedType.get_dynamic_size()
        element = cast(Any, source.type).element_type
        result: ir.Type = ir.MemRefType.get([dynamic if s is None else s for s in sizes], element)
    else:
        strides, offset = layout_of(source.type)
        expanded: list[int | None] = []
        for group, stride in zip(groups, strides, strict=True):
            inner = row_major(tuple(sizes[i] for i in group))
            expanded.extend(_times(s, stride) for s in inner)
        if not groups:  # a single element gets dims of size 1
            expanded = [1] * len(sizes)
        result = strided_type(sizes, expanded, offset, source)
    attributes = {name: op.attributes[name] for name in ("reassociation", "static_output_shape")}
    operands = [source, *list(op.operands)[1:]]
    buffers.assign(op.results[0], create("memref.expand_shape", operands, [result], attributes, before=op).results[0])


def _bufferize_collapse(op: ir.Operation, buffers: Buffers) -> None:
    source = buffers.buffer(op.operands[0])
    groups = [int_array(group) for group in cast(Any, op.attributes["reassociation"])]
    if not _is_collapsible(source, groups):
        source = buffers.contiguous(source, op, 0)
    sizes = shape_of(op.results[0].type)
    dynamic = ir.ShapedType.get_dynamic_size()
    if _has_identity_layout(source):
        element = cast(Any, source.type).element_type
        result: ir.Type = ir.MemRefType.get([dynamic if s is None else s for s in sizes], element)
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


def _is_collapsible(source: ir.Value, groups: Sequence[Sequence[int]]) -> bool:
    """Whether each group of dims is contiguous within itself, as far as the type proves it."""
    if _has_identity_layout(source):
        return True
    sizes, (strides, _) = shape_of(source.type), layout_of(source.type)
    for group in groups:
        relevant = [i for i in group if sizes[i] != 1]
        for outer, inner in itertools.pairwise(relevant):
            size, stride, outer_stride = sizes[inner], strides[inner], strides[outer]
            if size is None or stride is None or outer_stride is None or outer_stride != size * stride:
                return False
    return bool(groups)


# The rest


def _bufferize_cast(op: ir.Operation, buffers: Buffers) -> None:
    source = buffers.buffer(op.operands[0])
    strides, offset = layout_of(source.type)
    sizes = shape_of(op.results[0].type)
    if _has_identity_layout(source):
        dynamic = ir.ShapedType.get_dynamic_size()
        element = cast(Any, source.type).element_type
        result: ir.Type = ir.MemRefType.get([dynamic if s is None else s for s in sizes], element)
    else:
        result = strided_type(sizes, strides, offset, source)
    buffers.assign(op.results[0], create("memref.cast", [source], [result], before=op).results[0])


def _dim_facts(op: ir.Operation) -> Facts:
    return Facts()


def _bufferize_dim(op: ir.Operation, buffers: Buffers) -> None:
    operands = [buffers.buffer(op.operands[0]), op.operands[1]]
    new = create("memref.dim", operands, [op.results[0].type], before=op)
    op.results[0].replace_all_uses_with(new.results[0])


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


def _written_facts(op: ir.Operation) -> Facts:
    return Facts()


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


def _whole_view(op: ir.Operation) -> Facts:
    return _WHOLE_VIEW


MODELS = {
    "tensor.empty": OpModel(_empty_facts, _bufferize_empty),
    "tensor.extract_slice": OpModel(_extract_slice_facts, _bufferize_extract_slice),
    "tensor.insert_slice": OpModel(_insert_slice_facts, _bufferize_insert_slice),
    "tensor.expand_shape": OpModel(_whole_view, _bufferize_expand),
    "tensor.collapse_shape": OpModel(_whole_view, _bufferize_collapse),
    "tensor.cast": OpModel(_whole_view, _bufferize_cast),
    "tensor.dim": OpModel(_dim_facts, _bufferize_dim),
    "tensor.insert": OpModel(_insert_facts, _bufferize_insert),
    "tensor.splat": OpModel(_written_facts, _bufferize_splat),
    "tensor.from_elements": OpModel(_written_facts, _bufferize_from_elements),
    "tensor.extract": OpModel(_extract_facts, _bufferize_extract),
}
