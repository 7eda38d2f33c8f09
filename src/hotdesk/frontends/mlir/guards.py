"""Checks, when the program runs, of what ops in control flow demand of sizes and places, and of what depends on data.

    %s = tensor.extract %x[%i]   ->   %d = tensor.dim %x; %ok = arith.cmpi ult, %i, %d; cf.assert %ok; %s = tensor.extract %x[%i]

A demand that holds for all sizes has none. What the regions of `linalg` ops read is guarded by `passes.tensor.guard_indices`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any

import sympy

from hotdesk._bindings import ir
from hotdesk.frontends.mlir.demands import (
    Demand,
    Dim,
    Divides,
    Equal,
    Inside,
    NotNegative,
    Number,
    SameCount,
    Window,
    demands,
)
from hotdesk.frontends.mlir.sizes import relations
from hotdesk.ir.building import compared, create, dim, index_cast, index_constant
from hotdesk.ir.divisions import demanded
from hotdesk.ir.locations import CHECKED_OP
from hotdesk.ir.walking import ops_outside_payloads
from hotdesk.program.symbolic import SymbolicSizes
from hotdesk.sizes.size import is_opaque


def guard_demands(function: ir.Operation, *, is_entry: bool = True) -> None:
    """Puts a `cf.assert` in front of each op that demands what each call is not checked for (`frontends.mlir.sizes.size_checks`).

    There is checked what the entry function demands outside of control flow, and nothing of functions that it calls.
    """
    known, outermost = SymbolicSizes(function), function.regions[0].blocks[0]
    wanted: list[tuple[ir.Operation, Demand]] = []
    for op in ops_outside_payloads(function):
        for demand in demands(op):
            found = [relation for relation in relations(demand, known) if relation is not sympy.true]
            if not is_entry or op.block != outermost or any(map(is_opaque, found)):
                wanted += [(op, demand)] if found else []
    for op, demand in wanted:
        _guard(op, demand)


def _guard(op: ir.Operation, demand: Demand) -> None:
    parent = op.parent
    is_inserted = parent is not None and parent.name == "scf.forall.in_parallel"  # a region of nothing else
    with op.location:
        check = _Check(parent.operation if parent is not None and is_inserted else op)
        for holds, message in check.of(demand):
            told = {"msg": f"`{op.name}`: {message}", CHECKED_OP: op.name}
            attributes = {key: ir.StringAttr.get(text) for key, text in told.items()}
            create("cf.assert", [holds], [], attributes, before=check.before)


class _Check:
    """Demands as values of the program, in front of an op; no sum or product in them wraps around."""

    def __init__(self, before: ir.Operation) -> None:
        self.before = before

    def of(self, demand: Demand) -> Iterable[tuple[ir.Value, str]]:
        """What has to hold for a demand to be met, each an `i1`, with the message of it."""
        match demand:
            case Divides():
                return demanded(demand.op, self.before)
            case Equal():
                holds = self._equal(self._value(demand.number), list(map(self._value, demand.factors)))
            case SameCount():
                whole = reduce(lambda a, b: self._made("arith.muli", a, b), map(self._value, (*demand.before, 1)))
                holds = self._equal(whole, list(map(self._value, demand.after)))
            case NotNegative():
                holds = self._compared("sge", self._value(demand.number), self._constant(0))
            case Inside():
                holds = self._inside(demand)
            case Window():
                extents = {loop: self._value(extent) for loop, extent in demand.extents.items()}
                inside = self._compared("slt", self._last(demand.last, extents), self._value(demand.whole))
                holds = self._any([inside, *(self._is_zero(extent) for extent in extents.values())])
        return [(holds, demand.message)]

    def _equal(self, whole: ir.Value, factors: Sequence[ir.Value]) -> ir.Value:
        """Divides by one factor after the other: that is exact, whatever their product."""
        if not factors:
            return self._compared("eq", whole, self._constant(1))
        if len(factors) == 1:
            return self._compared("eq", whole, factors[0])
        one, holds, rest = self._constant(1), list[ir.Value](), whole
        for factor in factors:
            divisor = self._made("arith.maxsi", factor, one)
            holds.append(self._is_zero(self._made("arith.remsi", rest, divisor)))
            rest = self._made("arith.divsi", rest, divisor)
        holds.append(self._compared("eq", rest, one))
        is_empty = self._any([self._is_zero(factor) for factor in factors])
        return self._made("arith.select", is_empty, self._is_zero(whole), self._all(holds), kind=is_empty.type)

    def _inside(self, demand: Inside) -> ir.Value:
        """`offset < whole` and `size - 1 <= (whole - 1 - offset) / stride`, unless there are none of them."""
        offset, whole = self._value(demand.offset), self._value(demand.whole)
        starts = self._compared("ult", offset, whole)
        if demand.size == 1:
            return starts
        size, stride, one = self._value(demand.size), self._value(demand.stride), self._constant(1)
        behind = self._made("arith.subi", self._made("arith.subi", whole, offset), one)
        steps = self._made("arith.divui", behind, self._made("arith.maxui", stride, one))
        ends = self._compared("ule", self._made("arith.subi", size, one), steps)
        positive = [self._compared("sge", number, self._constant(0)) for number in (offset, stride)]
        return self._all([*positive, self._any([self._is_zero(size), self._all([starts, ends])])])

    def _last(self, expression: Any, extents: dict[int, ir.Value]) -> ir.Value:
        """An affine expression with each loop at its last place."""
        if isinstance(expression, ir.AffineConstantExpr):
            return self._constant(expression.value)
        if isinstance(expression, ir.AffineDimExpr):
            return self._made("arith.subi", extents[expression.position], self._constant(1))
        left, right = self._last(expression.lhs, extents), self._last(expression.rhs, extents)
        return self._made("arith.addi" if isinstance(expression, ir.AffineAddExpr) else "arith.muli", left, right)

    def _value(self, number: Number) -> ir.Value:
        if isinstance(number, Dim):
            return dim(number.of, number.position, self.before)
        if isinstance(number, int):
            return self._constant(number)
        index = ir.IndexType.get()
        return number if number.type == index else index_cast(number, index, self.before)

    def _constant(self, number: int) -> ir.Value:
        return index_constant(number, self.before)

    def _is_zero(self, value: ir.Value) -> ir.Value:
        return self._compared("eq", value, self._constant(0))

    def _compared(self, how: str, a: ir.Value, b: ir.Value) -> ir.Value:
        return compared(how, a, b, self.before)

    def _made(self, name: str, *operands: ir.Value, kind: ir.Type | None = None) -> ir.Value:
        return create(name, operands, [kind or operands[0].type], before=self.before).results[0]

    def _all(self, conditions: Sequence[ir.Value]) -> ir.Value:
        found = conditions[0]
        for each in conditions[1:]:
            found = self._made("arith.andi", found, each)
        return found

    def _any(self, conditions: Sequence[ir.Value]) -> ir.Value:
        found = conditions[0]
        for each in conditions[1:]:
            found = self._made("arith.ori", found, each)
        return found
