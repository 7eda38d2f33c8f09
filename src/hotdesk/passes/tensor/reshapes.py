"""Reshapes to sizes that vary, as views: dims that have the same number of elements before and after are merged, then split.

    %s = tensor.from_elements %a, %b, 3, 4
    %r = tensor.reshape %x(%s) : [a, b, 12] -> [a, b, 3, 4]    ->    %r = tensor.expand_shape %x [[0], [1], [2, 3]]

Legal iff the shape is made by `tensor.from_elements`, so that the sizes are known as values. Left alone otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from hotdesk._bindings import ir
from hotdesk.explain import Decision
from hotdesk.ir.building import create, integers
from hotdesk.ir.reshaping import Dims, matching
from hotdesk.ir.sizes import product
from hotdesk.ir.symbolic import SymbolicSizes
from hotdesk.ir.types import DYNAMIC, shape_of, static_entries, tensor_with
from hotdesk.ir.walking import all_functions, defining_op, top_level_ops
from hotdesk.passes.base import Pass


@dataclass(frozen=True, slots=True)
class ReshapesAsViews(Pass):
    """Rewrites `tensor.reshape` into collapses and expansions (see the module docstring)."""

    name: ClassVar[str] = "hotdesk-reshapes-as-views"

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        for function in all_functions(module):
            sizes = SymbolicSizes(function)
            for op in top_level_ops(function):
                if op.name == "tensor.reshape":
                    _rewrite(op, sizes)
        return ()


def _rewrite(op: ir.Operation, sizes: SymbolicSizes) -> None:
    shape = defining_op(op.operands[1])
    source, result = op.operands[0], op.results[0]
    if shape is None or shape.name != "tensor.from_elements" or not shape_of(source.type):
        return
    before = sizes.shape(source)
    groups = matching(before, tuple(sizes.value(size) for size in shape.operands))
    if any(len(merged) > 1 for merged, _ in groups):
        static = [product([before[i] for i in merged]) for merged, _ in groups]
        source = _collapsed(source, [merged for merged, _ in groups], static, op)
    if any(len(split) > 1 for _, split in groups):
        source = _expanded(source, result.type, [split for _, split in groups], list(shape.operands), op)
    if source.type != result.type:
        source = create("tensor.cast", [source], [result.type], before=op).results[0]
    result.replace_all_uses_with(source)
    op.erase()


def _collapsed(source: ir.Value, groups: Sequence[Dims], sizes: Sequence[Any], before: ir.Operation) -> ir.Value:
    result = tensor_with([size if isinstance(size, int) else None for size in sizes], source.type)
    attributes = {"reassociation": _reassociation(groups)}
    return create("tensor.collapse_shape", [source], [result], attributes, before=before).results[0]


def _expanded(
    source: ir.Value, result: ir.Type, groups: Sequence[Dims], shape: list[ir.Value], before: ir.Operation
) -> ir.Value:
    static = static_entries(shape_of(result))
    index = ir.IndexType.get()
    dynamic = [
        value if value.type == index else create("arith.index_cast", [value], [index], before=before).results[0]
        for value, size in zip(shape, static, strict=True)
        if size == DYNAMIC
    ]
    attributes = {"reassociation": _reassociation(groups), "static_output_shape": integers(static)}
    return create("tensor.expand_shape", [source, *dynamic], [result], attributes, before=before).results[0]


def _reassociation(groups: Sequence[Dims]) -> ir.Attribute:
    i64 = ir.IntegerType.get_signless(64)
    return ir.ArrayAttr.get([ir.ArrayAttr.get([ir.IntegerAttr.get(i64, d) for d in group]) for group in groups])
