"""Makes operands of loads in a payload whose places are those of loops: strided views, which the op reads by a map.

    %y[%i, %j] = load %x[%j, 1023 - %i]    ->    %v = reinterpret_cast %x to offset: [1023], strides: [-1, 1024]
                                                 %y[%i, %j] = %v[%i, %j]

The op is a `linalg.generic`; places are made by `linalg.index`, `arith.addi` and `arith.subi`. By the map it is seen that the op
reads transposed (`blocks`), as turning an image by a quarter does.

1. Each place is a loop's, forwards or backwards, with what is known in front of the loops added to it; or that alone. No loop is
   the place in two dims.
2. The payload asks for places in loops for nothing else.
3. What is loaded from has known strides, and lies in no memory that the op writes: blocks change the order of writes and reads.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple, cast

from hotdesk._bindings import ir
from hotdesk.ir.arithmetic import ADD, MULTIPLY, SUBTRACT
from hotdesk.ir.building import create, index_constant, sliced
from hotdesk.ir.generic_inputs import with_inputs
from hotdesk.ir.types import layout_of, static_entries
from hotdesk.ir.walking import defining_op, integer_of, nested_ops, parallel_loops, users
from hotdesk.models.generics import GENERIC, NUMBER, index_ops
from hotdesk.models.memref import LOAD


class _PlaceOfLoop(NamedTuple):
    """A place in a dim: the sum of `terms`, each with its sign, and of a loop's place with one, if there is a loop."""

    terms: tuple[tuple[int, ir.Value], ...]
    loop: int | None = None
    sign: int = 0

    def plus(self, other: _PlaceOfLoop, sign: int) -> _PlaceOfLoop | None:
        """The sum with another one, or the difference; None where both have loops."""
        if self.loop is not None and other.loop is not None:
            return None
        terms = *self.terms, *((sign * each, value) for each, value in other.terms)
        loop, turned = (self.loop, self.sign) if other.loop is None else (other.loop, sign * other.sign)
        return _PlaceOfLoop(terms, loop, turned)


class WalkedLoad(NamedTuple):
    """A load at places of loops: the step in elements that each loop takes, and the terms of where the first element is."""

    op: ir.Operation
    steps: dict[int, int]
    terms: tuple[tuple[int, ir.Value], ...]


def walked_loads(op: ir.Operation, apart: Collection[ir.Value]) -> list[WalkedLoad]:
    """The loads of an op on memrefs, if all are so; else none. `apart` is what lies in no memory that it writes."""
    if op.name != GENERIC or not all(parallel_loops(op)) or any(len(each.regions) for each in nested_ops(op)):
        return []
    ops = nested_ops(op)
    loads = [_walked(each, op) for each in ops if each.name == LOAD and each.operands[0] in apart]
    found = [each for each in loads if each is not None]
    if len(found) != sum(each.name == LOAD for each in ops) or not _ask_for_loads(op):
        return []
    return found


def to_operands(op: ir.Operation, loads: Collection[WalkedLoad], sizes: Mapping[int, ir.Value | int]) -> ir.Operation:
    """An op in the place of this one that reads views instead of these loads; `sizes` are those of its loops."""
    more: list[tuple[ir.Value, ir.AffineMap]] = []
    for load in loads:
        loops = list(load.steps)
        memref, offset = load.op.operands[0], index_constant(0, op)
        for step, value in load.terms:
            term = create(MULTIPLY, [value, index_constant(step, op)], [value.type], before=op).results[0]
            offset = create(ADD, [offset, term], [value.type], before=op).results[0]
        lengths, strides = [sizes[each] for each in loops], [load.steps[each] for each in loops]
        (unknown,) = static_entries([None])
        layout = ir.StridedLayoutAttr.get(unknown, strides)
        shape = static_entries([each if isinstance(each, int) else None for each in lengths])
        kind = ir.MemRefType.get(shape, cast(Any, memref.type).element_type, layout)
        view = sliced("memref.reinterpret_cast", [memref], kind, [offset], lengths, op, strides=strides)
        dims: list[ir.AffineExpr] = [ir.AffineExpr.get_dim(each) for each in loops]
        more.append((view, ir.AffineMap.get(len(parallel_loops(op)), 0, dims)))
    ops = [load.op for load in loads]
    new, elements = with_inputs(op, range(len(op.operands)), more)
    for load, element in zip(ops, elements, strict=True):
        load.results[0].replace_all_uses_with(element)
        load.erase()
    for each in reversed(nested_ops(new)):
        if each.name in (NUMBER, ADD, SUBTRACT) and not users(each.results[0]):
            each.erase()
    return new


def _walked(load: ir.Operation, op: ir.Operation) -> WalkedLoad | None:
    memref, *places = load.operands
    strides, offset = layout_of(memref.type)
    found = [_place(each, op.regions[0].blocks[0]) for each in places]
    known = [each for each in found if each is not None]
    loops = [each.loop for each in known if each.loop is not None]
    if len(known) != len(found) or None in strides or offset != 0 or len(set(loops)) != len(loops):
        return None
    pairs = list(zip(cast("tuple[int, ...]", strides), known, strict=True))
    steps = {place.loop: place.sign * stride for stride, place in pairs if place.loop is not None}
    terms = tuple((sign * stride, value) for stride, place in pairs for sign, value in place.terms)
    return WalkedLoad(load, steps, terms)


def _place(value: ir.Value, block: ir.Block) -> _PlaceOfLoop | None:
    maker = defining_op(value)
    if value in list(block.arguments):
        return None
    if maker is None or maker.block != block:
        return _PlaceOfLoop(((1, value),))
    if maker.name == NUMBER:
        return _PlaceOfLoop((), integer_of(maker, "dim"), 1)
    if maker.name not in (ADD, SUBTRACT):
        return None
    first, second = (_place(each, block) for each in maker.operands)
    return None if first is None or second is None else first.plus(second, 1 if maker.name == ADD else -1)


def _ask_for_loads(op: ir.Operation) -> bool:
    """Whether places in loops are asked for, and for loads alone."""
    waiting = [each.results[0] for each, _ in index_ops(op)]
    if not waiting:
        return False
    for value in waiting:  # grows
        for user in users(value):
            if user.name in (ADD, SUBTRACT):
                waiting.append(user.results[0])
            elif user.name != LOAD:
                return False
    return True


__all__ = ["WalkedLoad", "to_operands", "walked_loads"]
