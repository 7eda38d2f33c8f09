"""Parallel loops as kernels of parts, which the threads of the pool share among them.

    scf.forall (%i, %j) in (%n, 8) { … }    ->    call @kernel_4_share(%n, worth, 4, table, what it reads from outside)

    func.func @kernel_4_part(table, …, %first, %last) { scf.for %i = %first to %last { scf.for %j = 0 to 8 { … } } }

A loop becomes one iff

1. it is a `scf.forall`, or a `scf.parallel` without a reduction, and in no other loop that becomes one;
2. nothing in it takes or frees memory, on the stack neither, nor calls a function: what an iteration allocates has one place in
   the plan, and another thread would have the same;
3. what it reads from outside can be passed to a function (`unpacked_memrefs`);
4. its work is worth two threads, as far as it is known.

Its outermost dimension that is long enough is cut into ranges (`kernels.parts`); the others are loops in these. Kernels that are
called in it find the pool taken, and work alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.building import create, index_cast, index_constant
from hotdesk.ir.signature import FunctionSignature, formals, new_function
from hotdesk.ir.types import DYNAMIC, is_memref, shape_of
from hotdesk.ir.walking import (
    captured_operands,
    constant_of,
    defining_op,
    function_around,
    int_array,
    made_by,
    nested_ops,
)
from hotdesk.kernels.parts import part_name
from hotdesk.models.generics import is_dear
from hotdesk.passes.lower.structured.cuts import GRAIN
from hotdesk.passes.lower.unpacked_memrefs import can_be_passed, passed_types, put_together, taken_apart

FINER = 4
"""Ranges a thread: iterations may take longer than others."""

_LOOPS = ("scf.forall", "scf.parallel")
_REFUSED = (
    *("memref.alloc", "memref.alloca", "memref.dealloc", "memref.realloc", "memref.alloca_scope"),
    *("func.call", "hotdesk.foreign"),
)
_KERNELS = ("linalg.", "hotdesk.", "tm_tensor.", "memref.copy")
_ENOUGH = 16  # iterations of a dimension that is cut for its place
_SOME = 16  # iterations, or elements of a dimension, of which nothing is known
_DEAR = 10  # operations that an elementary function stands for


@dataclass(frozen=True, slots=True)
class SharedLoop:
    """A loop that becomes a kernel of parts.

    Attributes:
        op: the loop.
        cut: its dimension that is cut into ranges.
        weight: operations of an iteration, as far as they are known.
    """

    op: ir.Operation
    cut: int
    weight: int


def find_shared_loops(ops: Sequence[ir.Operation]) -> list[SharedLoop]:
    """Those among the ops of a function, in order (rules 1 to 4)."""
    found: list[SharedLoop] = []
    inside: set[ir.Operation] = set()
    for op in ops:
        if op.name not in _LOOPS or op in inside or len(op.results):
            continue
        nested = nested_ops(op)
        if any(each.name in _REFUSED for each in nested) or not all(map(can_be_passed, _types_from_outside(op))):
            continue
        trips = [_trips(bounds) for bounds in _bounds(op)]
        weight = sum(map(_cost, _body(op)))
        if None not in trips and prod(cast("list[int]", trips)) * weight < 2 * GRAIN:
            continue
        long = [place for place, count in enumerate(trips) if count is None or count >= _ENOUGH]
        cut = long[0] if long else max(range(len(trips)), key=lambda place: trips[place] or 0)
        found.append(SharedLoop(op, cut, weight))
        inside.update(nested)
    return found


def _types_from_outside(loop: ir.Operation) -> list[ir.Type]:
    return [value.type for _, _, value in captured_operands(loop)]


# Bounds


@dataclass(frozen=True, slots=True)
class _Bounds:
    """Where one dimension begins and ends, and its step: each an integer or a value."""

    lower: int | ir.Value
    upper: int | ir.Value
    step: int | ir.Value


def _bounds(loop: ir.Operation) -> list[_Bounds]:
    if loop.name == "scf.parallel":
        segments = int_array(loop.attributes["operandSegmentSizes"])
        values = [_number(value) for value in loop.operands]
        rank = segments[0]
        groups = [values[rank * i : rank * (i + 1)] for i in range(3)]
    else:
        segments = int_array(loop.attributes["operandSegmentSizes"])
        rest = iter(list(loop.operands))
        groups: list[list[int | ir.Value]] = []
        for name in ("staticLowerBound", "staticUpperBound", "staticStep"):
            entries = int_array(loop.attributes[name])
            groups.append([_number(next(rest)) if entry == DYNAMIC else entry for entry in entries])
    return [_Bounds(*each) for each in zip(*groups, strict=True)]


def _number(value: ir.Value) -> int | ir.Value:
    known = constant_of(value)
    return known if isinstance(known, int) else value


def _trips(bounds: _Bounds) -> int | None:
    match bounds:
        case _Bounds(int(lower), int(upper), int(step)) if step > 0:
            return max(0, -((lower - upper) // step))
        case _:
            return None


# Work


def _body(loop: ir.Operation) -> list[ir.Operation]:
    return [op.operation for op in loop.regions[0].blocks[0].operations]


def _cost(op: ir.Operation) -> int:
    """Operations, an access to memory counting as two, as far as they are known."""
    if op.name.startswith(_KERNELS):
        elements = max((_elements(value.type) for value in op.operands if is_memref(value.type)), default=1)
        return elements * (sum(map(_weight, nested_ops(op))) + 2 * len(op.operands))
    inner = sum(_cost(each.operation) for region in op.regions for block in region.blocks for each in block.operations)
    if op.name in _LOOPS:
        return inner * prod(_SOME if count is None else count for count in map(_trips, _bounds(op)))
    if op.name == "scf.for":
        trips = _trips(_Bounds(*(_number(value) for value in list(op.operands)[:3])))
        return inner * (_SOME if trips is None else trips)
    if op.name == "scf.while":
        return inner * _SOME
    return inner + _weight(op)


def _weight(op: ir.Operation) -> int:
    if is_dear(op):
        return _DEAR
    return 2 if op.name in ("memref.load", "memref.store") else 1


def _elements(kind: ir.Type) -> int:
    return prod(_SOME if size is None else size for size in shape_of(kind))


# The two functions


def outline(loop: SharedLoop, name: str, table: ir.Value) -> list[ir.Value]:
    """Makes the function that does a range of a loop, in front of the one it is in; the loop is left without its body.

    Args:
        name: the name of the kernel.
        table: the pointer table, the first argument of the range's function too.

    Returns:
        What the function that shares the loop out is to be called with, in front of the loop.
    """
    return _Outlining(loop, name, table).run()


class _Outlining:
    def __init__(self, loop: SharedLoop, name: str, table: ir.Value) -> None:
        self._loop, self._op, self._name, self._table = loop, loop.op, name, table
        self._bounds = _bounds(loop.op)

    def run(self) -> list[ir.Value]:
        op, i64 = self._op, ir.IntegerType.get_signless(64)
        captured = captured_operands(op)
        bounds = [each for one in self._bounds for each in (one.lower, one.upper, one.step)]
        outside = dict.fromkeys([*(value for _, _, value in captured), *(v for v in bounds if isinstance(v, ir.Value))])
        constants = [value for value in outside if _is_constant(value)]
        passed = [value for value in outside if not _is_constant(value)]
        with op.location:
            given = [self._table, *(each for value in passed for each in taken_apart(value, op))]
            types = [value.type for value in given]
            around = function_around(op)
            signature = FunctionSignature(formals([*types, i64, i64]), ())
            _, block = new_function(part_name(self._name), signature, _behind(around), op.location)
            end = ir.Operation.create("func.return", ip=ir.InsertionPoint(block)).operation
            moved: dict[ir.Value, ir.Value] = {}
            for value in constants:
                made = cast(ir.Operation, defining_op(value)).clone(ir.InsertionPoint(end)).operation
                moved[value] = made.results[0]
            rest = iter(list(block.arguments)[1:])
            for value in passed:
                numbers = [next(rest) for _ in passed_types(value.type)]
                moved[value] = put_together(value.type, numbers, end)
            for user, number, value in captured:
                user.operands[number] = moved[value]
            self._move_body(moved, list(block.arguments)[-2:], end)
            return [*self._counts(), *given]

    def _move_body(self, moved: dict[ir.Value, ir.Value], ends: Sequence[ir.Value], before: ir.Operation) -> None:
        """The loops of a range, and in them what the loop did."""

        def value(number: int | ir.Value, at: ir.Operation) -> ir.Value:
            return moved[number] if isinstance(number, ir.Value) else index_constant(number, at)

        index, point = ir.IndexType.get(), before
        places: dict[int, ir.Value] = {}
        for dim in (self._loop.cut, *(each for each in range(len(self._bounds)) if each != self._loop.cut)):
            bounds = self._bounds[dim]
            lower, step = value(bounds.lower, point), value(bounds.step, point)
            if dim == self._loop.cut:
                first, last = (index_cast(e, index, point) for e in ends)
                limits = [first, last, index_constant(1, point)]
            else:
                limits = [lower, value(bounds.upper, point), step]
            made = create("scf.for", limits, [], regions=1, before=point)
            block = made.regions[0].blocks.append(index, arg_locs=[made.location])
            point = ir.Operation.create("scf.yield", ip=ir.InsertionPoint(block)).operation
            place: ir.Value = block.arguments[0]
            if dim == self._loop.cut:
                scaled = create("arith.muli", [place, step], [index], before=point).results[0]
                place = create("arith.addi", [lower, scaled], [index], before=point).results[0]
            places[dim] = place
        old = self._op.regions[0].blocks[0]
        for number, argument in enumerate(old.arguments):
            argument.replace_all_uses_with(places[number])
        for each in [op.operation for op in old.operations][:-1]:
            each.move_before(point)

    def _counts(self) -> list[ir.Value]:
        """The iterations of the dimension that is cut, the threads that all is worth, and ranges a thread."""
        index, i64, op = ir.IndexType.get(), ir.IntegerType.get_signless(64), self._op

        def made(name: str, *operands: ir.Value, kind: ir.Type = index) -> ir.Value:
            return create(name, operands, [kind], before=op).results[0]

        def value(number: int | ir.Value) -> ir.Value:
            return number if isinstance(number, ir.Value) else index_constant(number, op)

        zero, trips = index_constant(0, op), list[ir.Value]()
        for each in self._bounds:
            length = made("arith.subi", value(each.upper), value(each.lower))
            trips.append(made("arith.maxsi", made("arith.ceildivsi", length, value(each.step)), zero))
        work = index_constant(self._loop.weight, op)
        for count in trips:
            work = made("arith.muli", work, count)
        worth = made("arith.divsi", work, index_constant(GRAIN, op))
        counts = [trips[self._loop.cut], worth, index_constant(FINER, op)]
        return [made("arith.index_cast", each, kind=i64) for each in counts]


def _is_constant(value: ir.Value) -> bool:
    return made_by(value, "arith.constant") is not None


def _behind(function: ir.Operation) -> ir.InsertionPoint:
    return ir.InsertionPoint(cast(Any, function.parent).operation.regions[0].blocks[0])
