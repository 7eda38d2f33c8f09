"""Loops over operands that lie transposed to one another, in blocks, so that a line of the cache that is read is used up.

    for %i … for %j { %y[%i, %j] = %x[%j, %i] }    ->    for %I … for %J { for %i … for %j { … } }

A row of the result takes an element of each row of the operand: by the time the next elements of these are wanted, what a long
row has brought into the cache is gone. The two loops that step through a memref by one element become the innermost, the one over
the result inside, and each of them is cut.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import inf
from typing import Any, cast

from hotdesk._bindings import indexing_maps, ir
from hotdesk.ir.building import create, dim, index_constant, loop, sliced
from hotdesk.ir.types import element_bytes, is_memref, layout_of, shape_of, static_entries
from hotdesk.ir.walking import nested_ops, parallel_loops
from hotdesk.models.generics import GENERIC, index_ops
from hotdesk.models.linalg import inputs_of
from hotdesk.passes.lower.structured.loads import to_operands, walked_loads

_OUTER, _INNER = 32, 8
"""Iterations of the loop over elements of an operand that lie together, and of that over those of the result."""
_LEAST = 32
"""Iterations of a loop that is cut."""
_STAYS = 16 << 10
"""Bytes of an operand that stay in the cache nearest to the processor, whatever the order they are read in."""


def block_transposed(op: ir.Operation, apart: Collection[ir.Value] = ()) -> None:
    """Does this with a structured op on memrefs if all its loops are parallel and two of them are so.

    Loads in its payload from what is `apart`, in no memory that it writes, count as operands (`loads`).
    """
    op = _loading_transposed(op, apart)
    found = _transposed_loops(op)
    if found is None:
        return
    _move_inside(op, found)
    inner = len(parallel_loops(op)) - 1
    sizes = _sizes(op)
    begins, lengths = dict[int, ir.Value](), dict[int, int | ir.Value]()
    size, known = _size_before(sizes[inner - 1], op)
    begins[inner - 1] = _into_loop(op, size, _OUTER)
    if known is not None and known % _OUTER == 0:
        lengths[inner - 1] = _OUTER
    else:
        rest = create("arith.subi", [size, begins[inner - 1]], [size.type], before=op).results[0]
        least = [rest, index_constant(_OUTER, op)]
        lengths[inner - 1] = create("arith.minsi", least, [size.type], before=op).results[0]
    size, known = _size_before(sizes[inner], op)
    if known is not None and known % _INNER == 0:
        begins[inner], lengths[inner] = _into_loop(op, size, _INNER), _INNER
        _see_parts(op, begins, lengths)
        return
    if known is None:
        over = create("arith.remsi", [size, index_constant(_INNER, op)], [size.type], before=op).results[0]
        whole = create("arith.subi", [size, over], [size.type], before=op).results[0]
    else:
        over, whole = known % _INNER, index_constant(known - known % _INNER, op)
    last = op.clone(ip=ir.InsertionPoint.after(op))
    _see_parts(op, {**begins, inner: _into_loop(op, whole, _INNER)}, {**lengths, inner: _INNER})
    _see_parts(last, {**begins, inner: whole}, {**lengths, inner: over})


def _loading_transposed(op: ir.Operation, apart: Collection[ir.Value]) -> ir.Operation:
    """The op, or one in its place whose operands are what it loads, where that lies transposed to its result."""
    loads = walked_loads(op, apart)
    maps = cast("list[ir.AffineMap]", indexing_maps(op)) if loads else []
    if not loads or not all(isinstance(each, ir.AffineDimExpr) for map_ in maps for each in map_.results):
        return op
    writes = {_loop_by_one(value, map_) for value, map_ in zip(op.operands, maps, strict=True)}
    sizes = _sizes(op)
    stepping = {loop for load in loads for loop, step in load.steps.items() if abs(step) == 1}
    if not stepping - writes or not all(loop in sizes for load in loads for loop in load.steps):
        return op
    return to_operands(op, loads, {loop: _size(*sizes[loop], op) for load in loads for loop in load.steps})


def _into_loop(op: ir.Operation, size: ir.Value, block: int) -> ir.Value:
    """Moves an op into a loop in its place that goes as far as a size by blocks; where each begins."""
    _, begin, _, end = loop([index_constant(0, op), size, index_constant(block, op)], [], op)
    op.move_before(end)
    return begin


def _size_before(place: tuple[ir.Value, int], op: ir.Operation) -> tuple[ir.Value, int | None]:
    """The size of a dim of a memref as a value before an op, and as a number if it is known."""
    memref, number = place
    return dim(memref, number, op), shape_of(memref.type)[number]


def _transposed_loops(op: ir.Operation) -> tuple[int, int] | None:
    """The loop over elements of an operand that lie together, and that over those of the result."""
    if op.name != GENERIC or not all(parallel_loops(op)) or any(len(each.regions) for each in nested_ops(op)):
        return None
    maps = cast("list[ir.AffineMap]", indexing_maps(op))
    plain = all(isinstance(each, ir.AffineDimExpr) for map_ in maps for each in map_.results)
    if not plain or not all(is_memref(value.type) for value in op.operands) or index_ops(op):
        return None
    steps = [_loop_by_one(value, map_) for value, map_ in zip(op.operands, maps, strict=True)]
    reads, writes = steps[: inputs_of(op)], set(steps[inputs_of(op) :])
    inner = writes.pop() if len(writes) == 1 else None
    if inner is None:
        return None
    reading = zip(reads, map(_loops, maps), strict=False)
    others = [
        i for i, (each, loops) in enumerate(reading) if each not in (None, inner) and inner in loops
    ]  # else read again
    if not others:
        return None
    sizes = _sizes(op)
    pair = (cast(int, steps[others[0]]), inner)
    if _bytes_spanned(op.operands[others[0]], maps[others[0]], pair) <= _STAYS:
        return None
    long = all((shape_of(sizes[each][0].type)[sizes[each][1]] or _LEAST) >= _LEAST for each in pair)
    return pair if long else None


def _loop_by_one(value: ir.Value, map_: ir.AffineMap) -> int | None:
    """The loop that steps through a memref by one element."""
    strides, sizes = layout_of(value.type)[0], shape_of(value.type)
    places = [i for i, stride in enumerate(strides) if stride in (1, -1) and sizes[i] != 1]
    return _loops(map_)[places[-1]] if places else None


def _bytes_spanned(value: ir.Value, map_: ir.AffineMap, pair: tuple[int, int]) -> float:
    """How much memory two loops go through together in an operand; infinite if that is not known."""
    strides, sizes = layout_of(value.type)[0], shape_of(value.type)
    seen = [(strides[i], sizes[i]) for i, each in enumerate(_loops(map_)) if each in pair]
    elements = sum(inf if None in each else abs(each[0] or 0) * ((each[1] or 0) - 1) for each in seen)
    return elements * element_bytes(str(cast(Any, value.type).element_type))


def _loops(map_: ir.AffineMap) -> tuple[int, ...]:
    """The loop over each dim of an operand."""
    return tuple(cast(int, cast(Any, each).position) for each in map_.results)


def _sizes(op: ir.Operation) -> Mapping[int, tuple[ir.Value, int]]:
    """A memref and the dim of it that each loop runs through."""
    found = dict[int, tuple[ir.Value, int]]()
    for value, map_ in zip(op.operands, cast("list[ir.AffineMap]", indexing_maps(op)), strict=True):
        for place, each in enumerate(_loops(map_)):
            found.setdefault(each, (value, place))
    return found


def _move_inside(op: ir.Operation, pair: tuple[int, int]) -> None:
    """Makes two loops the innermost ones, in this order."""
    count = len(parallel_loops(op))
    order = [*(i for i in range(count) if i not in pair), *pair]
    numbers: list[ir.AffineExpr] = [ir.AffineExpr.get_dim(order.index(i)) for i in range(count)]
    maps = [
        ir.AffineMap.get(count, 0, [numbers[each] for each in _loops(map_)])
        for map_ in cast("list[ir.AffineMap]", indexing_maps(op))
    ]
    op.attributes["indexing_maps"] = ir.ArrayAttr.get([ir.AffineMapAttr.get(each) for each in maps])


def _see_parts(op: ir.Operation, begins: Mapping[int, ir.Value], lengths: Mapping[int, int | ir.Value]) -> None:
    """Has the op see of its operands what belongs to the parts of loops that begin so, and are so long."""
    parts = dict[tuple[ir.Value, tuple[int, ...]], ir.Value]()
    for number, (value, map_) in enumerate(
        zip(list(op.operands), cast("list[ir.AffineMap]", indexing_maps(op)), strict=True)
    ):
        loops = _loops(map_)
        if not any(each in begins for each in loops):
            continue
        if (value, loops) not in parts:
            offsets = [begins.get(each, 0) for each in loops]
            sizes = [lengths[each] if each in lengths else _size(value, place, op) for place, each in enumerate(loops)]
            parts[value, loops] = sliced("memref.subview", [value], _part_type(value, sizes), offsets, sizes, op)
        op.operands[number] = parts[value, loops]


def _size(value: ir.Value, place: int, before: ir.Operation) -> int | ir.Value:
    known = shape_of(value.type)[place]
    return dim(value, place, before) if known is None else known


def _part_type(value: ir.Value, sizes: list[int | ir.Value]) -> ir.Type:
    strides, _ = layout_of(value.type)
    (offset,) = static_entries([None])
    layout = ir.StridedLayoutAttr.get(offset, static_entries(list(strides)))
    shape = static_entries([size if isinstance(size, int) else None for size in sizes])
    return ir.MemRefType.get(shape, cast(Any, value.type).element_type, layout)
