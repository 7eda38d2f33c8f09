"""The `tensor` dialect: slices, reshapes and casts are views, insertions write a part of their destination."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.building import (
    UNREALIZED_CAST,
    create,
    dim,
    empty_of,
    fill,
    index_cast,
    index_constant,
    remade,
    sliced,
    structured,
)
from hotdesk.ir.types import (
    is_tensor,
    layout_of,
    memref_of,
    memref_with,
    row_major,
    shape_of,
    tensor_with,
)
from hotdesk.ir.walking import defining_op, groups_of, int_array
from hotdesk.models import (
    tensor_parts,
    tensor_slices,
)
from hotdesk.models.facts import Facts, no_facts, reads_tensors
from hotdesk.models.layouts import has_identity_layout, is_identity_layout, sliced_type, strided_type, times
from hotdesk.models.model import Buffers, OpModel
from hotdesk.models.payloads import computed, computed_in_loops, inlined, loops, makes_tensors
from hotdesk.models.registry import model_of

EXPAND, COLLAPSE = RESHAPES = ("tensor.expand_shape", "tensor.collapse_shape")
"""Ops whose result is all of a tensor, with its dims split or joined."""
CAST = "tensor.cast"
"""Shows a tensor by another type, with the dims that it has."""
WHOLE_VIEWS = (*RESHAPES, CAST)
"""Ops whose result is all of a tensor, by another type or shape."""
VIEWS = frozenset({*WHOLE_VIEWS, tensor_slices.EXTRACT_SLICE})
"""Ops whose result lies where a tensor does."""
EMPTY = "tensor.empty"
"""Makes a tensor without contents, of the sizes that are its operands."""
KEEPS_NOTHING = (EMPTY, "arith.constant")
"""Ops whose result takes no memory when it is made: none yet, or some all the time."""
_FILLING = ("tensor.pad", "tensor.concat", "tensor.generate")


def has_contents_of_its_own(name: str) -> bool:
    """Whether ops of that name compute a tensor: views, insertions, constants and destinations without contents do not."""
    return not name.startswith(("tensor.", "arith.")) or name in _FILLING


# Single elements, sizes, and tensors made of scalars or of nothing


def _bufferize_dim(op: ir.Operation, buffers: Buffers) -> None:
    operands = [buffers.buffer(op.operands[0]), op.operands[1]]
    new = create("memref.dim", operands, [op.results[0].type], before=op)
    op.results[0].replace_all_uses_with(new.results[0])


def _bufferize_rank(op: ir.Operation, buffers: Buffers) -> None:
    rank = index_constant(len(shape_of(op.operands[0].type)), op)
    op.results[0].replace_all_uses_with(rank)


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
    fill(op.operands[0], memref, op)
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


# Tensors computed for each position, and bits as another type


def _expand_generate(op: ir.Operation) -> list[ir.Value]:
    """A payload that computes each element; loops if the computation makes tensors."""
    block = op.regions[0].blocks[0]
    make = computed_in_loops if makes_tensors(op) else computed
    return [make(op.results[0].type, list(op.operands), lambda positions, end: inlined(block, positions, end)[0], op)]


def _expand_bitcast(op: ir.Operation) -> list[ir.Value]:
    """The bits of each element, copied: memory has one element type."""
    source, kind = op.operands[0], op.results[0].type
    generic, end = structured([source], [empty_of(kind, source, op)], op)
    scalar: ir.Value = generic.regions[0].blocks[0].arguments[0]
    end.operands[0] = _same_bits(scalar, cast(Any, kind).element_type, end)
    return [generic.results[0]]


def _same_bits(scalar: ir.Value, kind: ir.Type, before: ir.Operation) -> ir.Value:
    """A scalar as another type of its width; `arith` knows integers without a sign only."""
    scalar = _signless(scalar, _without_sign(scalar.type), before)
    if scalar.type != _without_sign(kind):
        scalar = create("arith.bitcast", [scalar], [_without_sign(kind)], before=before).results[0]
    return _signless(scalar, kind, before)


def _signless(scalar: ir.Value, kind: ir.Type, before: ir.Operation) -> ir.Value:
    if scalar.type == kind:
        return scalar
    return create(UNREALIZED_CAST, [scalar], [kind], before=before).results[0]


def _without_sign(kind: ir.Type) -> ir.Type:
    return ir.IntegerType.get_signless(kind.width) if isinstance(kind, ir.IntegerType) else kind


# Gathers and scatters: windows of a tensor at coordinates that another tensor holds


def _coordinates(
    indices: ir.Value, batch: list[ir.Value], dims: tuple[int, ...], before: ir.Operation
) -> dict[int, ir.Value]:
    """For each dim that is indexed, its coordinate at a position of the batch."""
    index, element = ir.IndexType.get(), cast(Any, indices.type).element_type
    found: dict[int, ir.Value] = {}
    for number, position in enumerate(dims):
        place = [*batch, index_constant(number, before)]
        value = create("tensor.extract", [indices, *place], [element], before=before).results[0]
        if value.type != index:
            value = index_cast(value, index, before)
        found[position] = value
    return found


def _gather_facts(op: ir.Operation) -> Facts:
    return Facts(reads=frozenset({0, 1}))


def _expand_gather(op: ir.Operation) -> list[ir.Value]:
    """A payload that reads, for each element, its coordinates and then the source."""
    source, indices = op.operands
    kind = op.results[0].type
    dims = int_array(op.attributes["gather_dims"])
    rank, batch = len(shape_of(source.type)), len(shape_of(indices.type)) - 1
    kept = _window_dims(len(shape_of(kind)) - batch, rank, dims)
    sizes = [
        dim(indices, i, op) if i < batch else dim(source, kept[i - batch], op)
        for i, size in enumerate(shape_of(kind))
        if size is None
    ]

    def element(positions: list[ir.Value], end: ir.Operation) -> ir.Value:
        found = _coordinates(indices, positions[:batch], dims, end)
        window = dict(zip(kept, positions[batch:], strict=True))
        place = [found[i] if i in found else window[i] for i in range(rank)]
        return create("tensor.extract", [source, *place], [cast(Any, kind).element_type], before=end).results[0]

    return [computed(kind, sizes, element, op)]


def _window_dims(count: int, rank: int, dims: tuple[int, ...]) -> list[int]:
    """The dims of a tensor that a window of it has: those that are indexed have size 1, or are dropped."""
    return list(range(rank)) if count == rank else [i for i in range(rank) if i not in dims]


def _scatter_facts(op: ir.Operation) -> Facts:
    return Facts(reads=frozenset({0, 1, 2}), ties=((1, 0),))


def _expand_scatter(op: ir.Operation) -> list[ir.Value]:
    """A loop over the batch that inserts one window after the other."""
    source, into, indices = op.operands
    dims = int_array(op.attributes["scatter_dims"])
    batch = len(shape_of(indices.type)) - 1
    rank = len(shape_of(into.type))
    window = shape_of(source.type)[batch:]
    kind = tensor_with(window, source.type)

    def insert(positions: list[ir.Value], current: ir.Value, end: ir.Operation) -> ir.Value:
        found = _coordinates(indices, positions, dims, end)
        part = source
        if batch:
            inner = [dim(source, batch + i, end) if size is None else size for i, size in enumerate(window)]
            offsets, sizes = [*positions, *[0] * len(window)], [*[1] * batch, *inner]
            part = sliced("tensor.extract_slice", [source], kind, offsets, sizes, end)
        offsets = [found.get(i, 0) for i in range(rank)]
        sizes = [
            1 if i in found else dim(into, i, end) if size is None else size
            for i, size in enumerate(shape_of(into.type))
        ]
        return sliced("tensor.insert_slice", [part, current], into.type, offsets, sizes, end)

    return [loops([dim(indices, i, op) for i in range(batch)], into, insert, op)]


# Reshapes and casts: the same memory with other dims


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
    return [remade(op, [copied, *list(op.operands)[1:]], [op.results[0].type]).results[0]]


def _overwrites(use: Any) -> bool:
    """Whether an op may overwrite an operand."""
    op: ir.Operation = use.owner.operation
    model = model_of(op.name)
    if model is None or model.flow is not None:
        return True
    facts = model.facts(op)
    return use.operand_number in facts.clobbers or any(operand == use.operand_number for operand, _ in facts.ties)


MODELS = {
    **tensor_slices.MODELS,
    **tensor_parts.MODELS,
    EMPTY: OpModel(_empty_facts, _bufferize_empty),
    "tensor.dim": OpModel(no_facts, _bufferize_dim),
    "tensor.rank": OpModel(no_facts, _bufferize_rank),
    "tensor.extract": OpModel(reads_tensors, _bufferize_extract),
    "tensor.insert": OpModel(_insert_facts, _bufferize_insert, takes_scalars=True),
    "tensor.splat": OpModel(no_facts, _bufferize_splat),
    "tensor.from_elements": OpModel(no_facts, _bufferize_from_elements, takes_scalars=True),
    "tensor.generate": OpModel(no_facts, expand=_expand_generate),
    "tensor.bitcast": OpModel(reads_tensors, expand=_expand_bitcast),
    "tensor.gather": OpModel(_gather_facts, expand=_expand_gather),
    "tensor.scatter": OpModel(_scatter_facts, expand=_expand_scatter),
    "tensor.expand_shape": OpModel(_whole_view, _bufferize_expand),
    "tensor.collapse_shape": OpModel(_whole_view, _bufferize_collapse, expand=_expand_collapse),
    "tensor.reshape": OpModel(_reshape_facts, _bufferize_reshape, expand=_expand_reshape),
    "tensor.cast": OpModel(_whole_view, _bufferize_cast),
}
