"""Sizes that are computed in floats, computed in integers instead, so that they are known before the program runs.

    %f = arith.sitofp %n; %g = arith.mulf %f, 1.5        ->    %a = arith.muli %n, 3; cf.assert %a <= 2 ** 24
    %r = math.floor %g; %m = arith.fptosi %r                   %m = arith.floordivsi %a, 2

A number is rewritten iff

1. all that it is computed of are constants and integers that follow from the sizes of arguments;
2. it is a fraction whose denominator is a power of two: floats hold such ones exactly as long as their type has bits for the
   numerator, which calls are checked for; or what a division by another constant leaves, rounded to an integer right away,
   which is right as long as there are bits for the sum of both;
3. no factor but for powers of two is above 64: else too few sizes were left.

What is none of that stays: its value is known when the program runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.building import compared, constant, create, index_cast
from hotdesk.ir.walking import defining_op, ops_outside_payloads
from hotdesk.program.symbolic import SymbolicSizes
from hotdesk.sizes.size import is_opaque

_BITS = {"bf16": 8, "f16": 11, "f32": 24, "f64": 53}
"""Up to which power of two each type of floats has all integers."""
_LARGEST = 1 << 31
"""Of the numbers in fractions that constants are: beyond, products might not have 64 bits."""
_LARGEST_FACTOR = 64
_ROUNDED = {"math.floor": "floordivsi", "math.ceil": "ceildivsi", "math.trunc": "divsi"}
_SAME_TYPE = ("arith.addf", "arith.subf", "arith.mulf", "arith.divf")


@dataclass(frozen=True, slots=True)
class _Fraction:
    """What a float holds: an integer of 64 bits by a number above 0. An inexact one may only be rounded to an integer."""

    numerator: ir.Value | int
    denominator: int = 1
    is_exact: bool = True


def count_in_integers(function: ir.Operation) -> None:
    """Rewrites each conversion of a float to an integer as the module says."""
    known = SymbolicSizes(function)
    for op in list(ops_outside_payloads(function)):
        if op.name in ("arith.fptosi", "arith.fptoui") and str(op.results[0].type) == "i64":
            with op.location:
                counting = _Counting(op, known)
                found = counting.rounded(counting.of(op.operands[0]), "divsi")
                if found is None or isinstance(found.numerator, int):
                    continue
                counting.check()
            op.results[0].replace_all_uses_with(found.numerator)
            op.erase()


class _Counting:
    """The integers of one number that is computed in floats, in front of an op."""

    def __init__(self, before: ir.Operation, known: SymbolicSizes) -> None:
        self._before, self._known = before, known
        self._number = ir.IntegerType.get_signless(64)
        self._limits: list[tuple[ir.Value, int]] = []

    def of(self, value: ir.Value) -> _Fraction | None:
        """What a float holds; None if that is not known to be a fraction."""
        op, bits = defining_op(value), _BITS.get(str(value.type))
        if op is None or bits is None:
            return None
        match op.name:
            case "arith.constant":
                return _constant(cast(Any, op.attributes["value"]).value)
            case "arith.sitofp" | "arith.uitofp":
                return self._within(self._integer(op.operands[0]), bits)
            case "arith.extf":
                return self.of(op.operands[0])
            case "arith.truncf":
                wide = self.of(op.operands[0])
                return self._within(wide, bits) if wide is not None and wide.is_exact else None
            case name if name in _ROUNDED:
                return self.rounded(self.of(op.operands[0]), _ROUNDED[name])
            case name if name in _SAME_TYPE:
                a, b = (self.of(each) for each in op.operands)
                if a is None or b is None or not (a.is_exact and b.is_exact):
                    return None
                found = self._arithmetic(name, a, b, bits)
                return found if found is not None and found.denominator <= _LARGEST else None
            case _:
                return None

    def rounded(self, given: _Fraction | None, how: str) -> _Fraction | None:
        """A fraction as an integer, by a division that rounds it."""
        if given is None or given.denominator == 1:
            return given
        return _Fraction(self._made(how, given.numerator, given.denominator))

    def check(self) -> None:
        """Has calls end whose sizes are more than floats hold exactly."""
        for value, bits in self._limits:
            for how, limit in (("sle", 1 << bits), ("sge", -1 << bits)):
                holds = compared(how, value, constant(limit, self._number, self._before), self._before)
                message = ir.StringAttr.get("sizes that are counted exactly in floats")
                create("cf.assert", [holds], [], {"msg": message}, before=self._before)

    def _integer(self, value: ir.Value) -> _Fraction | None:
        if is_opaque(self._known.value(value)):
            return None
        if str(value.type) == "i64":
            return _Fraction(value)
        if isinstance(value.type, ir.IndexType):
            return _Fraction(index_cast(value, self._number, self._before))
        return None

    def _arithmetic(self, name: str, a: _Fraction, b: _Fraction, bits: int) -> _Fraction | None:
        if name == "arith.mulf":
            return self._multiplied(a, b, bits) if isinstance(b.numerator, int) else self._multiplied(b, a, bits)
        if name == "arith.divf":
            return self._divided(a, b, bits)
        whole = max(a.denominator, b.denominator)  # powers of two
        parts = (self._made("muli", each.numerator, whole // each.denominator) for each in (a, b))
        return self._within(_Fraction(self._made("addi" if name == "arith.addf" else "subi", *parts), whole), bits)

    def _multiplied(self, a: _Fraction, b: _Fraction, bits: int) -> _Fraction | None:
        factor, denominator = b.numerator, a.denominator * b.denominator
        if not isinstance(factor, int):
            return self._within(_Fraction(self._made("muli", a.numerator, factor), denominator), bits)
        power = factor & -factor or 1
        if abs(factor // power) > _LARGEST_FACTOR:
            return None
        odd = self._within(_Fraction(self._made("muli", a.numerator, factor // power)), bits)
        return None if odd is None else _Fraction(self._made("muli", odd.numerator, power), denominator)

    def _divided(self, a: _Fraction, b: _Fraction, bits: int) -> _Fraction | None:
        by = b.numerator
        if not isinstance(by, int) or by <= 0:
            return None
        numerator, denominator = self._made("muli", a.numerator, b.denominator), a.denominator * by
        if by & (by - 1) == 0:
            return _Fraction(numerator, denominator)
        if not isinstance(numerator, int):
            self._limits.append((self._made_value("addi", numerator, denominator), bits))
        return _Fraction(numerator, denominator, is_exact=False)

    def _within(self, found: _Fraction | None, bits: int) -> _Fraction | None:
        """A fraction that a type of so many bits holds exactly, if calls are as they are checked to be."""
        if found is not None and not isinstance(found.numerator, int):
            self._limits.append((found.numerator, bits))
        return found

    def _made(self, name: str, a: ir.Value | int, b: ir.Value | int) -> ir.Value | int:
        if isinstance(a, int) and isinstance(b, int):
            return _OF_NUMBERS[name](a, b)
        if (name, b) in (("muli", 1), ("addi", 0), ("subi", 0)) and not isinstance(a, int):
            return a
        return self._made_value(name, a, b)

    def _made_value(self, name: str, a: ir.Value | int, b: ir.Value | int) -> ir.Value:
        values = [constant(each, self._number, self._before) if isinstance(each, int) else each for each in (a, b)]
        return create(f"arith.{name}", values, [self._number], before=self._before).results[0]


_OF_NUMBERS: dict[str, Callable[[int, int], int]] = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "floordivsi": lambda a, b: a // b,
    "ceildivsi": lambda a, b: -(-a // b),
    "divsi": lambda a, b: abs(a) // b * (1 if a >= 0 else -1),
}


def _constant(value: Any) -> _Fraction | None:
    """A constant float as a fraction; None for one that is no number or too large."""
    if not isinstance(value, float) or value != value or value in (float("inf"), -float("inf")):
        return None
    numerator, denominator = value.as_integer_ratio()
    return _Fraction(numerator, denominator) if max(abs(numerator), denominator) <= _LARGEST else None
