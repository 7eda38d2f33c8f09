"""Layouts of the memrefs that slices and reshapes of tensors become."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.types import DYNAMIC, kept_dims, layout_of, memref_of, shape_of, static_entries
from hotdesk.ir.walking import int_array
from hotdesk.models.generics import is_linalg
from hotdesk.models.memref import SIZES, viewed
from hotdesk.models.new_memory import freed

_OF_ANY_LAYOUT = frozenset(
    {
        *(f"memref.{name}" for name in ("load", "store", "copy", *SIZES)),
        *("affine.load", "affine.store", "vector.transfer_read", "vector.transfer_write"),
    }
)
_SLICES = ("memref.subview", "memref.cast")


def takes_any_layout(op: ir.Operation) -> bool:
    """Whether an op does the same for a memref of any layout, and makes nothing whose type depends on that."""
    return op.name in _OF_ANY_LAYOUT or is_linalg(op) or bool(freed(op))


def strided_type(
    sizes: Sequence[int | None], strides: Sequence[int | None], offset: int | None, like: ir.Value
) -> ir.MemRefType:
    """A memref type with a layout; without one where the layout is the row-major default."""
    return _strided(sizes, strides, offset, like.type)


def with_layout(memref: ir.Type, strides: Sequence[int | None], offset: int | None) -> ir.MemRefType:
    """A memref type with other strides and another offset."""
    return _strided(shape_of(memref), strides, offset, memref)


def _strided(
    sizes: Sequence[int | None], strides: Sequence[int | None], offset: int | None, like: ir.Type
) -> ir.MemRefType:
    layout = ir.StridedLayoutAttr.get(DYNAMIC if offset is None else offset, static_entries(strides))
    kind = cast(Any, like)
    return ir.MemRefType.get(static_entries(sizes), kind.element_type, layout, kind.memory_space)


def sliced_type(
    source: ir.Type, op: ir.Operation, result_shape: tuple[int | None, ...], steps: Sequence[int] | None = None
) -> ir.MemRefType:
    """The type of a slice of a memref, with the offsets, sizes and strides of an op on slices, or with other strides: `steps`."""
    offsets, sizes = (int_array(op.attributes[name]) for name in ("static_offsets", "static_sizes"))
    steps = int_array(op.attributes["static_strides"]) if steps is None else steps
    strides, offset = layout_of(source)
    total: int | None = offset
    for start, stride in zip(offsets, strides, strict=True):
        distance = times(None if start == DYNAMIC else start, stride)
        total = None if total is None or distance is None else total + distance
    kept = kept_dims(sizes, result_shape)
    out_strides = [times(strides[i], None if steps[i] == DYNAMIC else steps[i]) for i in kept]
    return _strided([None if sizes[i] == DYNAMIC else sizes[i] for i in kept], out_strides, total, source)


def has_identity_layout(memref: ir.Value) -> bool:
    """Whether a memref is in row-major order without gaps, as MLIR sees it."""
    return is_identity_layout(memref.type)


def is_identity_layout(memref: ir.Type) -> bool:
    """Up to one dimension, `strided<[1]>` without an offset is the identity too."""
    shaped: Any = memref
    layout = str(shaped.layout)
    if layout.startswith("strided"):
        return layout in ("strided<[]>", "strided<[1]>")
    return shaped.affine_map == ir.AffineMap.get_identity(shaped.rank)


def have_one_order(a: ir.Value, b: ir.Value) -> bool:
    """Whether two memrefs are provably slices of one row-major buffer, or of two of one shape: their elements lie in the order of
    their indices, and equal steps lead as far in both."""
    first, second = (viewed(memref, _SLICES) for memref in (a, b))
    if not (isinstance(first.type, ir.MemRefType) and isinstance(second.type, ir.MemRefType)):
        return False  # cast from memrefs without a rank, which may have any layout
    alike = first == second or (first.type == second.type and None not in shape_of(first.type))
    return alike and first.type == memref_of(first.type)


def times(a: int | None, b: int | None) -> int | None:
    """A product as MLIR infers it: unknown if a factor is, but 0 times anything is 0."""
    if a == 0 or b == 0:
        return 0
    return None if a is None or b is None else a * b
