"""Index values of a function computed elsewhere: by its caller from the operands of a call, or higher up in the function.

A value *follows* from the arguments of a function if it is one of them, the size of one, or index arithmetic on values that
follow, none of which can fail: what is divided by is a number other than 0. The sizes of allocations and slices are those that
they were made with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.graphs import postorder
from hotdesk.ir.arithmetic import AFFINE
from hotdesk.ir.types import DYNAMIC, shape_of
from hotdesk.ir.walking import constant_of, defining_op, entry_block, int_array, segment_sizes

_SAFE = frozenset(
    {
        *("constant", "addi", "subi", "muli", "minsi", "maxsi", "minui", "maxui", "index_cast", "index_castui"),
        *("extsi", "extui", "trunci", "select", "cmpi", "andi", "ori", "xori"),
    }
)
_SAFE_INDEX = frozenset(
    {"constant", "add", "sub", "mul", "mins", "maxs", "minu", "maxu", "casts", "castu", "cmp", "and", "or", "xor"}
)
_DIVIDING = ("divsi", "divui", "floordivsi", "ceildivsi", "ceildivui", "remsi", "remui")
_QUOTIENTS = (ir.AffineModExpr, ir.AffineFloorDivExpr, ir.AffineCeilDivExpr)


class Recomputation:
    """Which values of a function can be computed elsewhere, and computing them. Answers are remembered.

    `is_there` tells of values that need not be computed, since they are known in that place; by default the arguments are.
    """

    def __init__(self, function: ir.Operation, is_there: Callable[[ir.Value], bool] = lambda value: False) -> None:
        self._arguments = list(entry_block(function).arguments)
        self._is_there = is_there
        self._known: dict[ir.Value, bool] = dict.fromkeys(self._arguments, True)

    def follows(self, value: ir.Value) -> bool:
        """Whether a value can be computed in that place."""

        def open_needs(each: ir.Value) -> Iterable[ir.Value]:
            return () if each in self._known or self._is_there(each) else _needed(each) or ()

        for each in postorder([value], open_needs):
            if each not in self._known:
                needed = _needed(each)
                # What is not known by now is computed from itself, in a block that is never reached.
                follows = needed is not None and all(self._known.get(other, False) for other in needed)
                self._known[each] = follows or self._is_there(each)
        return self._known[value]

    def compute(
        self, values: Sequence[ir.Value], before: ir.Operation, given: Sequence[ir.Value] = ()
    ) -> list[ir.Value]:
        """The values in front of an op. All of them have to follow.

        `given` are there in place of the arguments, if it is not the function itself that has the op.
        """
        done: dict[ir.Value, ir.Value] = dict(zip(self._arguments, given or self._arguments, strict=False))

        def open_needs(each: ir.Value) -> Iterable[ir.Value]:
            return () if each in done or self._is_there(each) else reversed(_needed(each) or [])

        for each in postorder(values, open_needs):
            if each in done:
                continue
            if self._is_there(each):
                done[each] = each
            else:
                _copied(each, before, done)
        return [done[value] for value in values]


def are_known(values: Sequence[ir.Value], function: ir.Operation) -> bool:
    """Whether values follow from the arguments of a function."""
    known = Recomputation(function)
    return all(map(known.follows, values))


def computed(values: Sequence[ir.Value], function: ir.Operation, call: ir.Operation) -> list[ir.Value]:
    """The same values in front of a call of the function, for that call. All of them have to be known (`are_known`)."""
    return Recomputation(function).compute(values, call, list(call.operands))


def _copied(value: ir.Value, before: ir.Operation, done: dict[ir.Value, ir.Value]) -> None:
    """Makes a value in front of an op from what it needs, which is there."""
    op = cast(ir.Operation, defining_op(value))
    if op.name == "memref.dim" and defining_op(op.operands[0]) is not None:
        done[value] = done[cast("list[ir.Value]", _needed(value))[0]]
        return
    clone = op.clone(ir.InsertionPoint(before))
    for number, operand in enumerate(op.operands):
        clone.operands[number] = done[operand]
    done.update(zip(op.results, clone.results, strict=True))


def _needed(value: ir.Value) -> list[ir.Value] | None:
    """What a value is computed from; None if it cannot be computed elsewhere."""
    op = defining_op(value)
    if op is None or len(op.regions):
        return None
    if op.name == "memref.dim":
        return _needed_for_size(op)
    dialect, _, name = op.name.partition(".")
    safe = (
        (dialect == "arith" and (name in _SAFE or (name in _DIVIDING and bool(constant_of(op.operands[1])))))
        or (dialect == "index" and name in _SAFE_INDEX)
        or (op.name in AFFINE and _divides_by_numbers(op))
    )
    return list(op.operands) if safe else None


def _divides_by_numbers(op: ir.Operation) -> bool:
    return all(map(_has_quotient, cast(Any, op.attributes["map"]).value.results))


def _has_quotient(expression: Any) -> bool:
    """Whether an affine expression divides by nothing but numbers above 0."""
    if not isinstance(expression, ir.AffineBinaryExpr):
        return True
    divisor: Any = expression.rhs
    if isinstance(expression, _QUOTIENTS) and not (isinstance(divisor, ir.AffineConstantExpr) and divisor.value > 0):
        return False
    return _has_quotient(expression.lhs) and _has_quotient(divisor)


def _needed_for_size(dim: ir.Operation) -> list[ir.Value] | None:
    """The memref and the position if the memref is an argument, else the size that it was made with."""
    memref, position = dim.operands[0], constant_of(dim.operands[1])
    if not isinstance(memref.type, ir.MemRefType) or not isinstance(position, int):
        return None
    sizes = shape_of(memref.type)
    if not 0 <= position < len(sizes):
        return None
    op = defining_op(memref)
    if op is None:
        return list(dim.operands)
    if sizes[position] is not None:
        return None  # a constant, which canonicalization makes of it
    before = sizes[:position].count(None)
    match op.name:
        case "memref.alloc" | "memref.alloca":
            return [op.operands[before]]
        case "memref.view":
            return [op.operands[2 + before]]
        case "memref.subview" | "memref.reinterpret_cast":
            stated, counts = int_array(op.attributes["static_sizes"]), segment_sizes(op)
            return [op.operands[1 + counts[1] + before]] if len(stated) == len(sizes) else None
        case "memref.expand_shape":
            stated = int_array(op.attributes["static_output_shape"])
            return [op.operands[1 + stated[:position].count(DYNAMIC)]]
        case _:
            return None
