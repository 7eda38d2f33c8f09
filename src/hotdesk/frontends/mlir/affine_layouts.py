"""Affine maps as layouts of memrefs, made strided layouts.

    memref<4x8xf32, affine_map<(i, j) -> (j, i)>>    ->    memref<4x8xf32, strided<[1, 4]>>

Such a map says where an element lies in an array of as many dimensions as the map has results, which lies row by row and is as
large as the sizes ask for: so reads it `normalize-memrefs` of MLIR. Where each result is a sum of indices with factors, the place
in memory is one. A stride that depends on a size which is open is open. Maps that divide, as those of tiles do, and maps with
constants, symbols or factors below 0 stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.analysis.order.reaches import linear
from hotdesk.frontends.mlir.retyping import retype
from hotdesk.ir.types import is_memref, is_strided, shape_of, static_entries


def strides_of_maps(module: ir.Module) -> None:
    """Gives memrefs the strides that their maps come to, where there are some."""
    retype(module, _strided)


def _strided(kind: ir.Type) -> ir.Type:
    if not is_memref(kind) or is_strided(kind):
        return kind
    shaped: Any = kind
    strides = _strides(shaped.affine_map, shape_of(kind))
    if strides is None:
        return kind
    layout = ir.StridedLayoutAttr.get(0, static_entries(strides))
    return ir.MemRefType.get(shaped.shape, shaped.element_type, layout, shaped.memory_space)


def _strides(layout: ir.AffineMap, sizes: Sequence[int | None]) -> list[int | None] | None:
    """The stride of each dimension, in elements, None where an open size says it; None for a map that has no strides."""
    strides: list[int | None] = [0] * len(sizes)
    step: int | None = 1
    for expression in reversed(cast("Sequence[ir.AffineExpr]", layout.results)):
        factors = linear(expression)
        if factors is None or min(factors.values()) < 0:
            return None
        extent: int | None = 1
        for dimension, factor in factors.items():
            size, stride = sizes[dimension], strides[dimension]
            strides[dimension] = None if step is None or stride is None else stride + step * factor
            extent = None if extent is None or size is None else extent + factor * max(size - 1, 0)
        step = None if step is None or extent is None else step * extent
    return strides
