"""Conversions to narrower floats in other ways than to the nearest even one: rounded to that, and put right where need be.

    %r = arith.truncf %x downward     ->     %n = arith.truncf %x; %r = (arith.extf %n) > %x ? the float below %n : %n

The bits of floats of one sign are in order: the next one is one more, or one less.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.errors import UnsupportedOpError
from hotdesk.ir.building import compared, constant, create, remade
from hotdesk.ir.locations import python_line
from hotdesk.ir.types import like_vector, scalar_of
from hotdesk.ir.walking import attributes_of, nested_ops

_MODE = "roundingmode"
_WIDTHS = {"bf16": 16, "f16": 16, "f32": 32}
"""The formats whose bits are so; others have no infinity behind their largest number."""


def round_as_said(module: ir.Module) -> None:
    """Has every conversion round to the nearest even number, and what says another way put it right.

    Those of tensors are loops by then.

    Raises UnsupportedOpError for a type of which the next number is not known, and for another op that says such a way.
    """
    for op in [op for op in nested_ops(module.operation) if _MODE in op.attributes]:
        mode = int(cast(Any, op.attributes[_MODE]).value)
        if mode == 0:
            del op.attributes[_MODE]
            continue
        element = str(scalar_of(op.results[0].type))
        if op.name != "arith.truncf" or element not in _WIDTHS:
            raise UnsupportedOpError(
                f"op `{op.name}` rounds in a way that is not compiled",
                expected=f"`to_nearest_even`, or `arith.truncf` to one of {', '.join(_WIDTHS)}",
                got=f"`{op.name}` to {element} with another `{_MODE}`",
                where=python_line(op.location),
            )
        rest = {name: value for name, value in attributes_of(op).items() if name != _MODE}
        nearest = remade(op, [op.operands[0]], [op.results[0].type], rest)
        made = _Rounding(op.operands[0], nearest.results[0], _WIDTHS[element], op)
        op.results[0].replace_all_uses_with(_WAYS[mode](made))
        op.erase()


@dataclass(frozen=True, slots=True)
class _Rounding:
    """A float, or vector, and the nearest narrower one; what is made of them goes in front of an op."""

    exact: ir.Value
    nearest: ir.Value
    width: int
    before: ir.Operation

    def downward(self) -> ir.Value:
        is_above = self._compared("ogt", self._wide(self.nearest), self.exact)
        return self._float(self._select(is_above, self._stepped(-1), self._bits(self.nearest)))

    def upward(self) -> ir.Value:
        is_below = self._compared("olt", self._wide(self.nearest), self.exact)
        return self._float(self._select(is_below, self._stepped(1), self._bits(self.nearest)))

    def toward_zero(self) -> ir.Value:
        is_above = self._compared("ogt", self._size(self._wide(self.nearest)), self._size(self.exact))
        bits = self._bits(self.nearest)
        return self._float(self._select(is_above, self._added(bits, -1), bits))

    def away(self) -> ir.Value:
        """The one further from zero of two that are as near; the nearest even one is infinite where that is."""
        below = self.toward_zero()
        above = self._float(self._added(self._bits(below), 1))
        size = self._size(self.exact)
        up = self._op("arith.subf", [self._size(self._wide(above)), size], size.type)
        down = self._op("arith.subf", [size, self._size(self._wide(below))], size.type)
        nearest = self._size(self._wide(self.nearest))
        takes_above = self._compared("oge", down, up)
        is_infinite = self._compared("oeq", nearest, self._constant(self.exact.type, float("inf")))
        is_number = self._compared("oeq", self.exact, self.exact)
        found = self._select(takes_above, self._bits(above), self._bits(below))
        found = self._select(is_infinite, self._bits(self.nearest), found)
        return self._float(self._select(is_number, found, self._bits(self.nearest)))

    def _stepped(self, step: int) -> ir.Value:
        """The bits of the next number up or down: of what is negative the other way. Zeros have a sign."""
        bits = self._bits(self.nearest)
        is_negative = self._compared("slt", bits, self._constant(bits.type, 0))
        return self._select(is_negative, self._added(bits, -step), self._added(bits, step))

    def _added(self, bits: ir.Value, number: int) -> ir.Value:
        return self._op("arith.addi", [bits, self._constant(bits.type, number)], bits.type)

    def _bits(self, value: ir.Value) -> ir.Value:
        return self._op("arith.bitcast", [value], like_vector(value.type, ir.IntegerType.get_signless(self.width)))

    def _float(self, bits: ir.Value) -> ir.Value:
        return self._op("arith.bitcast", [bits], self.nearest.type)

    def _wide(self, value: ir.Value) -> ir.Value:
        return self._op("arith.extf", [value], self.exact.type)

    def _size(self, value: ir.Value) -> ir.Value:
        return self._op("math.absf", [value], value.type)

    def _compared(self, how: str, a: ir.Value, b: ir.Value) -> ir.Value:
        return compared(how, a, b, self.before)

    def _select(self, condition: ir.Value, a: ir.Value, b: ir.Value) -> ir.Value:
        return self._op("arith.select", [condition, a, b], a.type)

    def _constant(self, kind: ir.Type, number: float) -> ir.Value:
        return constant(number, kind, self.before)

    def _op(self, name: str, operands: list[ir.Value], kind: ir.Type) -> ir.Value:
        return create(name, operands, [kind], before=self.before).results[0]


_WAYS: dict[int, Callable[[_Rounding], ir.Value]] = {
    1: _Rounding.downward,
    2: _Rounding.upward,
    3: _Rounding.toward_zero,
    4: _Rounding.away,
}
"""By the numbers of `arith.RoundingMode`."""
