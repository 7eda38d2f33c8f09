"""Affine maps as layouts of memrefs, made strided layouts.

    memref<4x8xf32, affine_map<(i, j) -> (j, i)>>    ->    memref<4x8xf32, strided<[1, 4]>>

Such a map says where an element lies in an array of as many dimensions as the map has results, which lies row by row and is as
large as the sizes ask for: so reads it `normalize-memrefs` of MLIR. Where each result is a sum of indices with factors, the place
in memory is one. A stride that depends on a size which is open is open: an allocation computes it, and is a view of memory that
reaches to its last element. Maps that divide, as those of tiles do, and maps with constants, symbols or factors below 0 stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import sympy

from hotdesk._bindings import ir
from hotdesk.analysis.order.windows import linear
from hotdesk.frontends.mlir.layouts import lie_in
from hotdesk.frontends.mlir.retyping import retype
from hotdesk.ir.building import with_values
from hotdesk.ir.size_ops import size_value
from hotdesk.ir.types import is_memref, is_strided, layout_of, shape_of, static_entries
from hotdesk.ir.walking import nested_ops
from hotdesk.models.new_memory import ALLOC, ALLOCA
from hotdesk.sizes.expressions import integer
from hotdesk.sizes.size import Size

_algebra: Any = sympy  # SymPy is annotated in part only


def strides_of_maps(module: ir.Module) -> None:
    """Gives memrefs the strides that their maps come to, where there are some."""
    for op in [op for op in nested_ops(module.operation) if op.name in (ALLOC, ALLOCA)]:
        _lay_out(op)
    retype(module, _strided)


def _strided(kind: ir.Type) -> ir.Type:
    if not is_memref(kind) or is_strided(kind):
        return kind
    shaped: Any = kind
    found = _strides(shaped.affine_map, _named(kind))
    if found is None:
        return kind
    strides, _ = found
    layout = ir.StridedLayoutAttr.get(0, static_entries([each if isinstance(each, int) else None for each in strides]))
    return ir.MemRefType.get(shaped.shape, shaped.element_type, layout, shaped.memory_space)


def _named(kind: ir.Type) -> list[Size]:
    """The sizes of a memref, open ones as symbols."""
    return [sympy.Symbol(f"size {i}") if size is None else size for i, size in enumerate(shape_of(kind))]


def _strides(layout: ir.AffineMap, sizes: Sequence[Size]) -> tuple[list[Size], Size] | None:
    """The stride of each dimension, and how far all reach, in elements; None for a map that has no strides."""
    strides: list[Size] = [0] * len(sizes)
    step: Size = 1
    for expression in reversed(cast("Sequence[ir.AffineExpr]", layout.results)):
        factors = linear(expression)
        if factors is None or min(factors.values()) < 0:
            return None
        extent: Size = 1
        for dimension, factor in factors.items():
            strides[dimension] = integer(strides[dimension] + step * factor)
            extent = integer(extent + factor * _algebra.Max(sizes[dimension] - 1, 0))
        step = integer(step * extent)
    return strides, step


def _lay_out(op: ir.Operation) -> None:
    """Makes an allocation in strides that open sizes say a view of memory that reaches to its last element."""
    made = op.results[0]
    kind = _strided(made.type)
    if kind == made.type or None not in layout_of(kind)[0]:
        return
    named, sizes = _named(made.type), with_values(shape_of(made.type), op.operands)
    values = dict(zip(named, sizes, strict=True))

    def value(size: Any) -> ir.Value:
        found = values.get(size)
        return found if isinstance(found, ir.Value) else size_value(size, value, op)

    strides, reach = cast("tuple[list[Size], Size]", _strides(cast(Any, made.type).affine_map, named))
    steps = [each if isinstance(each, int) else value(each) for each in strides]
    lie_in(op, value(reach), kind, 0, sizes, steps)
