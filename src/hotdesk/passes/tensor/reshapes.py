"""Reshapes to a shape that is an operand, and transposes that move nothing, as views.

    %s = tensor.from_elements %a, %b, 3, 4
    %r = tensor.reshape %x(%s) : [a, b, 12] -> [a, b, 3, 4]    ->    %r = tensor.expand_shape %x [[0], [1], [2, 3]]

    %r = linalg.transpose ins(%x) : [5, 1, 7] -> [5, 7, 1]     ->    %c = tensor.collapse_shape %x [[0], [1, 2]]
                                                                     %r = tensor.expand_shape %c [[0], [1, 2]]

    %c = tensor.collapse_shape %x [[0, 1], [2], [3]]
    %t = linalg.transpose ins(%c) permutation = [0, 2, 1]      ->    %r = linalg.transpose ins(%x) permutation = [0, 1, 3, 2]
    %r = tensor.expand_shape %t [[0, 1], [2], [3]]

Of a reshape, dims that have as many elements before and after are merged, then split.

A `tensor.reshape` is rewritten iff

1. each size of the result is known: a number in its type, an element of a constant, or a value of which `tensor.from_elements`
   makes the shape;
2. source and result are tensors with at least one dim;
3. it stands at the top of a function's body: reshapes inside of other ops stay.

So is a `linalg.transpose` there that changes the order of dims of size 1 alone, and has another one. Dims that are merged, moved
by a transpose and split into the same ones again are moved as they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, cast

from hotdesk._bindings import ir
from hotdesk.explain import Decision
from hotdesk.ir.building import cast_to, collapsed, create, expanded, index_cast, mixed_sizes
from hotdesk.ir.shapes import stated_sizes
from hotdesk.ir.types import is_tensor, shape_of, tensor_with
from hotdesk.ir.walking import groups_of, int_array, made_by, top_level_ops
from hotdesk.models.linalg import TRANSPOSE
from hotdesk.models.tensor import COLLAPSE, EXPAND
from hotdesk.passes.base import FunctionPass
from hotdesk.passes.properties import NO_KNOWN_RESHAPES, Property
from hotdesk.program.symbolic import SymbolicSizes
from hotdesk.sizes.reshaping import Dims, matching


@dataclass(frozen=True, slots=True)
class ReshapesAsViews(FunctionPass):
    """Rewrites `tensor.reshape` and transposes of dims of size 1 into collapses and expansions (see the module docstring)."""

    name: ClassVar[str] = "hotdesk-reshapes-as-views"

    def ensures(self) -> tuple[Property, ...]:
        return (NO_KNOWN_RESHAPES,)

    def run_on(self, function: ir.Operation) -> Iterable[Decision]:
        sizes = SymbolicSizes(function)
        for op in top_level_ops(function):
            if op.name == "tensor.reshape":
                _rewrite(op, sizes)
            elif op.name == TRANSPOSE and len(op.results) and _moves_nothing(op):
                _reshape(op)
        for op in top_level_ops(function):
            if op.name == EXPAND:
                _transpose_apart(op, sizes)
        return ()


def _moves_nothing(transpose: ir.Operation) -> bool:
    """Whether the order of the dims with several elements, of which there is one at least, is that of before."""
    shape = shape_of(transpose.operands[0].type)
    order = [place for place in int_array(transpose.attributes["permutation"]) if shape[place] != 1]
    return bool(order) and order == sorted(order)


def _reshape(transpose: ir.Operation) -> None:
    source, result = transpose.operands[0], transpose.results[0]
    before, after = (_with_units(shape_of(each.type)) for each in (source, result))
    sizes = mixed_sizes(source, transpose)
    if len(before) < len(sizes):
        source = collapsed(source, before, transpose)
        source = expanded(
            source, after, [sizes[at] for at in int_array(transpose.attributes["permutation"])], transpose
        )
    result.replace_all_uses_with(source)
    transpose.erase()


def _transpose_apart(split: ir.Operation, sizes: SymbolicSizes) -> None:
    """Transposes what was merged, was transposed and is split again."""
    transpose = made_by(split.operands[0], TRANSPOSE)
    merged = None if transpose is None else made_by(transpose.operands[0], COLLAPSE)
    if transpose is None or merged is None:
        return
    order, source, result = int_array(transpose.attributes["permutation"]), merged.operands[0], split.results[0]
    moved = [groups_of(merged)[i] for i in order]
    permutation = [i for group in moved for i in group]
    before, after = sizes.shape(source), sizes.shape(result)
    if list(map(len, moved)) != list(map(len, groups_of(split))) or [before[i] for i in permutation] != list(after):
        return
    extents = mixed_sizes(source, split)
    dynamic = [extents[i] for i in permutation]
    kind = tensor_with([size if isinstance(size, int) else None for size in dynamic], result.type)
    values = [size for size in dynamic if isinstance(size, ir.Value)]
    init = create("tensor.empty", values, [kind], before=split).results[0]
    attributes: dict[str, ir.Attribute] = {"permutation": ir.DenseI64ArrayAttr.get(permutation)}
    new = create("linalg.transpose", [source, init], [kind], attributes, regions=1, before=split)
    element = cast(Any, kind).element_type
    block = new.regions[0].blocks.append(element, element, arg_locs=[split.location] * 2)
    with ir.InsertionPoint(block), split.location:
        ir.Operation.create("linalg.yield", operands=[block.arguments[0]])
    result.replace_all_uses_with(cast_to(new.results[0], result.type, split))
    split.erase()


def _with_units(shape: Sequence[int | None]) -> list[int]:
    """How many dims each dim of several elements is with those of size 1 behind it, and the first with those before, too."""
    starts = [place for place, size in enumerate(shape) if size != 1]
    return [end - start for start, end in pairwise([0, *starts[1:], len(shape)])]


def _rewrite(op: ir.Operation, sizes: SymbolicSizes) -> None:
    source, result = op.operands[0], op.results[0]
    shape = _shape(op) if is_tensor(source.type) and is_tensor(result.type) else None
    if not shape or not shape_of(source.type):
        return
    before = sizes.shape(source)
    groups = matching(before, tuple(size if isinstance(size, int) else sizes.value(size) for size in shape))
    if any(len(merged) > 1 for merged, _ in groups):
        source = collapsed(source, [len(merged) for merged, _ in groups], op)
    if any(len(split) > 1 for _, split in groups):
        source = _expanded(source, [split for _, split in groups], shape, op)
    result.replace_all_uses_with(cast_to(source, result.type, op))
    op.erase()


def _shape(op: ir.Operation) -> list[int | ir.Value] | None:
    """The sizes of the result of a `tensor.reshape`; None if one is not known."""
    sizes = stated_sizes(op)
    known = [size for size in sizes if size is not None]
    return known if len(known) == len(sizes) else None


def _expanded(
    source: ir.Value, groups: Sequence[Dims], shape: Sequence[int | ir.Value], before: ir.Operation
) -> ir.Value:
    sizes = [size if isinstance(size, int) else None for size in shape]
    merged = [_elements([sizes[i] for i in group]) for group in groups]
    source = cast_to(source, tensor_with(merged, source.type), before)
    index = ir.IndexType.get()
    extents = [
        size if isinstance(size, int) or size.type == index else index_cast(size, index, before) for size in shape
    ]
    return expanded(source, [len(group) for group in groups], extents, before)


def _elements(sizes: Sequence[int | None]) -> int | None:
    """How many elements dims of these sizes have; None if that depends on what is known at run time only."""
    known = [size for size in sizes if size is not None]
    return math.prod(known) if len(known) == len(sizes) else None
