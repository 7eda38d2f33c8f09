"""Checks in front of divisions of integers, so that a divisor of zero is an error, not a number or the end of the process.

    arith.divui %x, %y    ->    %ok = arith.cmpi ne, %y, 0; cf.assert %ok; arith.divui %x, (arith.select %ok, %y, 1)

Legal iff

1. the division stands in the region of an op: those outside are checked where programs are read (`ir.divisions`);
2. its divisor is no constant other than zero and minus one.

What the division gives where the check fails is not used. The smallest integer by minus one is itself, as numbers of so many bits
wrap around; processors fault on it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.explain import Decision
from hotdesk.ir.building import constant, create
from hotdesk.ir.divisions import BY_ZERO, all_of, does_not_overflow, is_not_by_zero, may_fail
from hotdesk.ir.walking import nested_ops, top_level_ops
from hotdesk.passes.base import FunctionPass
from hotdesk.passes.properties import DIVISORS_CHOSEN, Property


@dataclass(frozen=True, slots=True)
class GuardDivisions(FunctionPass):
    """Puts a `cf.assert` in front of every division of integers whose divisor may be zero (rules in the module docstring)."""

    name: ClassVar[str] = "hotdesk-guard-divisions"

    def ensures(self) -> tuple[Property, ...]:
        return (DIVISORS_CHOSEN,)

    def run_on(self, function: ir.Operation) -> Iterable[Decision]:
        for op in top_level_ops(function):
            for inner in list(nested_ops(op)):
                if may_fail(inner):
                    _guard(inner)
        return ()


def _guard(division: ir.Operation) -> None:
    divisor = division.operands[1]
    divides = is_not_by_zero(division, division)
    create("cf.assert", [all_of(divides, division)], [], {"msg": ir.StringAttr.get(BY_ZERO)}, before=division)
    fits = does_not_overflow(division, division)
    if fits is not None:
        divides = create("arith.andi", [fits, divides], [divides.type], before=division).results[0]
    one = constant(1, divisor.type, division)
    division.operands[1] = create("arith.select", [divides, divisor, one], [divisor.type], before=division).results[0]
