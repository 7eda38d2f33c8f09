"""Parallel loops as kernels of parts, which the threads of the pool share among them.

    scf.forall (%i, %j) in (%n, 8) { … }    ->    call @kernel_4_share(%n, worth, 4, table, what it reads from outside)

    func.func @kernel_4_part(table, …, %first, %last) { scf.for %i = %first to %last { scf.for %j = 0 to 8 { … } } }

`analysis.memrefs.shared_loops` says which loops become one. The dimension that is cut goes in ranges (`kernels.parts`); the
others are loops in these. Kernels that are called in it find the pool taken, and work alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs import shared_loops
from hotdesk.analysis.memrefs.shared_loops import SharedLoop, bounds_of
from hotdesk.ir.building import create, index_cast, index_constant
from hotdesk.ir.signature import FunctionSignature, formals, new_function
from hotdesk.ir.walking import captured_operands, defining_op, function_around, made_by
from hotdesk.kernels.parts import part_name
from hotdesk.passes.lower.unpacked_memrefs import passed_types, put_together, taken_apart

FINER = 4
"""Ranges a thread: iterations may take longer than others."""


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
        self._bounds = bounds_of(loop.op)

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
        for each in (*self._bounds, *self._loop.within):
            length = made("arith.subi", value(each.upper), value(each.lower))
            trips.append(made("arith.maxsi", made("arith.ceildivsi", length, value(each.step)), zero))
        work = index_constant(self._loop.weight, op)
        for count in trips:
            work = made("arith.muli", work, count)
        worth = made("arith.divsi", work, index_constant(shared_loops.GRAIN, op))
        counts = [trips[self._loop.cut], worth, index_constant(FINER, op)]
        return [made("arith.index_cast", each, kind=i64) for each in counts]


def _is_constant(value: ir.Value) -> bool:
    return made_by(value, "arith.constant") is not None


def _behind(function: ir.Operation) -> ir.InsertionPoint:
    return ir.InsertionPoint(cast(Any, function.parent).operation.regions[0].blocks[0])
