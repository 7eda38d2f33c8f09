"""Divisions of integers: which ops they are, and when there is a quotient; without one, processors end the process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

from hotdesk._bindings import ir
from hotdesk.ir.building import compared, constant, create
from hotdesk.ir.types import scalar_of
from hotdesk.ir.walking import constant_of

IS_SIGNED: Mapping[str, bool] = {
    **dict.fromkeys(("arith.divsi", "arith.remsi", "arith.floordivsi", "arith.ceildivsi"), True),
    **dict.fromkeys(("arith.divui", "arith.remui", "arith.ceildivui"), False),
    **dict.fromkeys(("index.divs", "index.rems", "index.floordivs", "index.ceildivs"), True),
    **dict.fromkeys(("index.divu", "index.remu", "index.ceildivu"), False),
}
"""The ops, and whether their numbers have a sign."""
_POWER = "math.ipowi"
BY_ZERO = "no division of an integer by zero"
OVERFLOW = "no division of the smallest integer by -1"


def may_fail(op: ir.Operation) -> bool:
    """Whether an op is such a division, and its divisor no constant other than 0 and -1."""
    return op.name in IS_SIGNED and constant_of(op.operands[1]) in (None, 0, -1)


def may_fail_early(op: ir.Operation) -> bool:
    """Whether an op may end the process where nobody has looked at its operands: a division, or 0 to a negative power."""
    if op.name != _POWER:
        return may_fail(op)
    exponent = constant_of(op.operands[1])
    return exponent is None or exponent < 0


def is_not_by_zero(division: ir.Operation, before: ir.Operation) -> ir.Value:
    """Whether the divisor is not 0: of vectors, a vector of truths."""
    divisor = division.operands[1]
    return compared("ne", divisor, constant(0, divisor.type, before), before)


def does_not_overflow(division: ir.Operation, before: ir.Operation) -> ir.Value | None:
    """Whether it is not of the smallest integer by -1: of vectors, a vector of truths. None if it never is."""
    number, divisor = division.operands
    least = -(1 << (_width(number.type) - 1))
    is_possible = constant_of(number) in (None, least) and constant_of(divisor) in (None, -1)
    if not IS_SIGNED[division.name] or not is_possible:
        return None
    is_more = compared("ne", number, constant(least, number.type, before), before)
    is_other = compared("ne", divisor, constant(-1, divisor.type, before), before)
    return create("arith.ori", [is_more, is_other], [is_more.type], before=before).results[0]


def demanded(division: ir.Operation, before: ir.Operation) -> Iterator[tuple[ir.Value, str]]:
    """What has to hold for there to be a quotient, each as an `i1` with what users are told of it."""
    yield all_of(is_not_by_zero(division, before), before), BY_ZERO
    fits = does_not_overflow(division, before)
    if fits is not None:
        yield all_of(fits, before), OVERFLOW


def all_of(truth: ir.Value, before: ir.Operation) -> ir.Value:
    """A truth, or whether each of a vector holds."""
    if not isinstance(truth.type, ir.VectorType):
        return truth
    bit = ir.IntegerType.get_signless(1)
    flat = ir.VectorType.get([prod(truth.type.shape)], bit)
    if truth.type != flat:
        truth = create("vector.shape_cast", [truth], [flat], before=before).results[0]
    kind = {"kind": ir.Attribute.parse("#vector.kind<and>")}
    return create("vector.reduction", [truth], [bit], kind, before=before).results[0]


def _width(kind: ir.Type) -> int:
    element = scalar_of(kind)
    return element.width if isinstance(element, ir.IntegerType) else 64
