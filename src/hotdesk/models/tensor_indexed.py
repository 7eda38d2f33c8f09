"""Gathers and scatters: windows of a tensor at coordinates that another tensor holds."""

from __future__ import annotations

from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.building import create, dim, index_constant, integers
from hotdesk.ir.types import DYNAMIC, shape_of, static_entries, tensor_with
from hotdesk.ir.walking import int_array
from hotdesk.models.facts import Facts
from hotdesk.models.model import OpModel
from hotdesk.models.payloads import computed, loops


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
            value = create("arith.index_cast", [value], [index], before=before).results[0]
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
        inner = [dim(source, batch + i, end) for i, size in enumerate(window) if size is None]
        part = source
        if batch:
            attributes = _slice(
                [DYNAMIC] * batch + [0] * len(window),
                [1] * batch + static_entries(window),
                [1, batch, len(inner), 0],
            )
            part = create("tensor.extract_slice", [source, *positions, *inner], [kind], attributes, before=end).results[
                0
            ]
        sizes = [1 if i in found else size for i, size in enumerate(shape_of(into.type))]
        attributes = _slice(
            [DYNAMIC if i in found else 0 for i in range(rank)],
            static_entries(sizes),
            [1, 1, len(dims), sum(size is None for size in sizes), 0],
        )
        offsets = [found[i] for i in sorted(found)]
        extents = [dim(into, i, end) for i, size in enumerate(sizes) if size is None]
        operands = [part, current, *offsets, *extents]
        return create("tensor.insert_slice", operands, [into.type], attributes, before=end).results[0]

    return [loops([dim(indices, i, op) for i in range(batch)], into, insert, op)]


def _slice(offsets: list[int], sizes: list[int], segments: list[int]) -> dict[str, ir.Attribute]:
    return {
        "static_offsets": integers(offsets),
        "static_sizes": integers(sizes),
        "static_strides": integers([1] * len(sizes)),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get(segments),
    }


MODELS = {
    "tensor.gather": OpModel(_gather_facts, expand=_expand_gather),
    "tensor.scatter": OpModel(_scatter_facts, expand=_expand_scatter),
}
