"""Loops of a structured op that step through memory as one, and loops of one iteration, which are none.

    [1, 64, 14, 14] and [64, 1, 1], by maps of four loops    ->    [64, 196] and [64], by maps of two

The innermost loop is the one that is vectorised: the longer it is, the better. Two neighbours are joined if both are parallel
or both summed, and each memref has either none of them, or both in neighbouring dims that lie together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, cast

from hotdesk._bindings import indexing_maps, ir
from hotdesk.ir.types import is_memref
from hotdesk.kernels.text import View
from hotdesk.models.generics import GENERIC, index_ops


@dataclass(frozen=True, slots=True)
class Joined:
    """What is left of the loops of an op, and of the dims of its memrefs.

    Attributes:
        loops: for each loop that is left those of the op that it stands for, outermost first.
        dims: for each memref, for each dim that is left, those of the memref that it stands for.
        maps: for each operand the loop of each of its dims.
    """

    loops: tuple[tuple[int, ...], ...]
    dims: Mapping[ir.Value, tuple[tuple[int, ...], ...]]
    maps: tuple[tuple[int, ...], ...]

    def loop(self, number: int) -> int:
        """The loop that is left of one of the op's."""
        return next(i for i, group in enumerate(self.loops) if number in group)

    def apply(self, op: ir.Operation) -> None:
        """Gives an op, whose operands have the dims that are left already, the loops that are."""
        count = len(self.loops)
        maps = [ir.AffineMap.get(count, 0, [ir.AffineDimExpr.get(i) for i in each]) for each in self.maps]
        kinds = list(cast(Any, op.attributes["iterator_types"]))
        op.attributes["indexing_maps"] = ir.ArrayAttr.get([ir.AffineMapAttr.get(each) for each in maps])
        op.attributes["iterator_types"] = ir.ArrayAttr.get([kinds[group[0]] for group in self.loops])
        for asking, old in index_ops(op):
            asking.attributes["dim"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), self.loop(old))


def join_loops(
    op: ir.Operation,
    views: Mapping[ir.Value, View],
    indexed: AbstractSet[ir.Value],
    apart: Sequence[int] = (),
) -> Joined | None:
    """The loops of an op on memrefs that are left, none of those `apart` joined or dropped; None if all are.

    That is so too of an op whose dims are not all loops of their own, or that has one memref in two ways: at two maps, or also
    `indexed`, read at indices of its own.
    """
    places = _places(op, views, indexed)
    if places is None:
        return None
    kinds = [str(kind) for kind in cast(Any, op.attributes["iterator_types"])]
    sizes: dict[int, int | None] = {}
    for value, place in places.items():
        for loop, dim in place.items():
            sizes[loop] = sizes.get(loop) or views[value].sizes[dim]
    fixed = {loop for _, loop in index_ops(op)} | {*apart}
    kept = [loop for loop in range(len(kinds)) if sizes.get(loop) != 1 or loop in fixed]
    loops: list[tuple[int, ...]] = []
    for loop in kept:
        before = loops[-1][-1] if loops else None
        free = before is not None and not {before, loop} & fixed and kinds[before] == kinds[loop]
        if free and all(_follow(views[value], place, cast(int, before), loop) for value, place in places.items()):
            loops[-1] = (*loops[-1], loop)
        else:
            loops.append((loop,))
    if len(loops) == len(kinds):
        return None
    dims: dict[ir.Value, tuple[tuple[int, ...], ...]] = {}
    of: dict[ir.Value, tuple[int, ...]] = {}
    for value, place in places.items():
        mine = [(i, tuple(place[loop] for loop in group)) for i, group in enumerate(loops) if group[0] in place]
        mine.sort(key=lambda each: each[1])
        dims[value], of[value] = tuple(group for _, group in mine), tuple(i for i, _ in mine)
    return Joined(tuple(loops), dims, tuple(of[value] for value in op.operands))


def _places(
    op: ir.Operation, views: Mapping[ir.Value, View], indexed: AbstractSet[ir.Value]
) -> dict[ir.Value, dict[int, int]] | None:
    """For each memref the dim that each loop runs through; dims of one element that no loop runs through count as none."""
    if op.name != GENERIC or not all(is_memref(value.type) for value in op.operands):
        return None
    found: dict[ir.Value, dict[int, int]] = {}
    for value, map_ in zip(op.operands, cast("list[ir.AffineMap]", indexing_maps(op)), strict=True):
        place: dict[int, int] = {}
        for dim, each in enumerate(map_.results):
            if isinstance(each, ir.AffineDimExpr) and each.position not in place:
                place[each.position] = dim
            elif not isinstance(each, ir.AffineConstantExpr) or views[value].sizes[dim] != 1:
                return None
        if value in indexed or found.setdefault(value, place) != place:
            return None
    return found


def _follow(view: View, place: Mapping[int, int], outer: int, inner: int) -> bool:
    """Whether two loops run through neighbouring dims of a memref that lie together, or through none."""
    if outer not in place or inner not in place:
        return outer not in place and inner not in place
    far, near = place[outer], place[inner]
    size, step, stride = view.sizes[near], view.strides[near], view.strides[far]
    between = all(view.sizes[dim] == 1 for dim in range(far + 1, near))
    return far < near and between and size is not None and step is not None and stride == size * step
