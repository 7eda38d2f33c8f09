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
from hotdesk.analysis.memrefs.shared_loops import SharedLoop
from hotdesk.ir.building import create, index_cast
from hotdesk.ir.loops import LoopBounds, as_value, bounds_of, index_of, nest, place_of, trips_of
from hotdesk.ir.signature import FunctionSignature, formals, new_function
from hotdesk.ir.walking import captured_operands, constant_op, defining_op, function_around
from hotdesk.kernels.parts import part_name
from hotdesk.models.payloads import inlined
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

        def value(number: int | ir.Value) -> int | ir.Value:
            return moved[number] if isinstance(number, ir.Value) else number

        dims = [LoopBounds(value(each.lower), value(each.upper), value(each.step)) for each in self._bounds]
        cut, (first, last) = self._loop.cut, (index_cast(each, ir.IndexType.get(), before) for each in ends)
        (number,), _, _, end = nest([LoopBounds(first, last, 1)], [], before)
        places = {cut: place_of(number, dims[cut], end)}
        others = [dim for dim in range(len(dims)) if dim != cut]
        within, _, _, end = nest([dims[dim] for dim in others], [], end)
        places.update(zip(others, within, strict=True))
        inlined(self._op.regions[0].blocks[0], [places[dim] for dim in range(len(dims))], end)

    def _counts(self) -> list[ir.Value]:
        """The iterations of the dimension that is cut, the threads that all is worth, and ranges a thread."""
        i64, op = ir.IntegerType.get_signless(64), self._op
        trips = [trips_of(each, op) for each in (*self._bounds, *self._loop.within)]
        work: int | ir.Value = self._loop.weight
        for count in trips:
            work = index_of("muli", work, count, before=op)
        worth = index_of("divsi", work, shared_loops.GRAIN, before=op)
        counts = (as_value(each, op) for each in (trips[self._loop.cut], worth, FINER))
        return [create("arith.index_cast", [each], [i64], before=op).results[0] for each in counts]


def _is_constant(value: ir.Value) -> bool:
    return constant_op(value) is not None


def _behind(function: ir.Operation) -> ir.InsertionPoint:
    return ir.InsertionPoint(cast(Any, function.parent).operation.regions[0].blocks[0])
