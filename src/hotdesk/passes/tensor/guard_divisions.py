"""Checks in front of divisions of integers, so that a divisor of zero is an error, not a number or the end of the process.

    arith.divui %x, %y    ->    %ok = arith.cmpi ne, %y, 0; cf.assert %ok; arith.divui %x, (arith.select %ok, %y, 1)

Legal iff

1. the division stands in a structured op: those outside are of sizes;
2. its divisor is no constant other than zero and minus one.

What the division gives where the check fails is not used. The smallest integer by minus one is itself, as numbers of so many bits
wrap around; processors fault on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.explain import Decision
from hotdesk.ir.building import compared, constant, create
from hotdesk.ir.walking import constant_of, nested_ops, top_level_ops
from hotdesk.passes.base import FunctionPass

MESSAGE = "no division of an integer by zero"
_IS_SIGNED: Mapping[str, bool] = {
    "arith.divsi": True,
    "arith.remsi": True,
    "arith.floordivsi": True,
    "arith.ceildivsi": True,
    "arith.divui": False,
    "arith.remui": False,
    "arith.ceildivui": False,
}


@dataclass(frozen=True, slots=True)
class GuardDivisions(FunctionPass):
    """Puts a `cf.assert` in front of every division of integers whose divisor may be zero (rules in the module docstring)."""

    name: ClassVar[str] = "hotdesk-guard-divisions"

    def run_on(self, function: ir.Operation) -> Iterable[Decision]:
        for op in top_level_ops(function):
            for inner in list(nested_ops(op)):
                if inner.name in _IS_SIGNED and not _is_harmless(inner.operands[1]):
                    _guard(inner)
        return ()


def _is_harmless(divisor: ir.Value) -> bool:
    return constant_of(divisor) not in (None, 0, -1)


def _guard(division: ir.Operation) -> None:
    number, divisor = division.operands
    not_zero = _is("ne", divisor, 0, division)
    create("cf.assert", [not_zero], [], {"msg": ir.StringAttr.get(MESSAGE)}, before=division)
    divides = not_zero
    if _IS_SIGNED[division.name]:
        overflows = _both(_is("eq", number, _least(number.type), division), _is("eq", divisor, -1, division), division)
        false = constant(0, overflows.type, division)
        divides = create("arith.select", [overflows, false, not_zero], [overflows.type], before=division).results[0]
    one = constant(1, divisor.type, division)
    division.operands[1] = create("arith.select", [divides, divisor, one], [divisor.type], before=division).results[0]


def _least(type: ir.Type) -> int:
    width = type.width if isinstance(type, ir.IntegerType) else 64
    return -(1 << (width - 1))


def _is(how: str, value: ir.Value, number: int, before: ir.Operation) -> ir.Value:
    return compared(how, value, constant(number, value.type, before), before)


def _both(a: ir.Value, b: ir.Value, before: ir.Operation) -> ir.Value:
    return create("arith.andi", [a, b], [a.type], before=before).results[0]
