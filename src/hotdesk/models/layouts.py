"""Layouts of the memrefs that slices and reshapes of tensors become."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.types import DYNAMIC, static_entries


def strided_type(
    sizes: Sequence[int | None], strides: Sequence[int | None], offset: int | None, like: ir.Value
) -> ir.MemRefType:
    """A memref type with a layout; without one where the layout is the row-major default."""
    layout = ir.StridedLayoutAttr.get(DYNAMIC if offset is None else offset, static_entries(strides))
    kind = cast(Any, like.type)
    return ir.MemRefType.get(static_entries(sizes), kind.element_type, layout, kind.memory_space)


def has_identity_layout(memref: ir.Value) -> bool:
    """As MLIR sees it: up to one dimension, `strided<[1]>` without an offset is the identity too."""
    layout = str(cast(Any, memref.type).layout)
    return "strided" not in layout or layout in ("strided<[]>", "strided<[1]>")


def times(a: int | None, b: int | None) -> int | None:
    """A product as MLIR infers it: unknown if a factor is, but 0 times anything is 0."""
    if a == 0 or b == 0:
        return 0
    return None if a is None or b is None else a * b
