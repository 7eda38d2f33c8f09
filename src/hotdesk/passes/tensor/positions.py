"""Places that follow from positions alone are computed where elements are read at them, not loaded from a table.

    %t = generic outs(%e : tensor<62xi64>) { yield abs(linalg.index 0 - 3) }
    %y = generic ins(%t) outs(…) { ^(%i): assert %i < 56; yield extract %x[%i] }
      ->
    %y = generic outs(…) { %i = abs(linalg.index 0 - 3); yield extract %x[%i] }

Padding that reflects reads so, and so do the dims of `x[…]` that a grid does not say. Of a table nobody knows what it holds: each
place is loaded and checked. Done iff

1. the op is a `linalg.generic` on tensors whose loops are parallel, and reads elements by `tensor.extract`;
2. the table is made by such ops of integers alone: of constants and of the numbers of their loops, seen with more dims of size 1
   at most (`tensor.expand_shape`), by arithmetic (`arith`, `math.absi`) and comparisons;
3. all sizes of these loops are known, and so are the ranges of the numbers: by these no check (`cf.assert`) of what follows from
   positions can fail. Such checks go.

The ops that made the table are left to whoever else reads it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, ClassVar, cast

from hotdesk._bindings import indexing_maps, ir
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.arithmetic import ABSOLUTE, ADD, COMPARE, GREATEST, INDEX_CAST, LEAST, MULTIPLY, SUBTRACT
from hotdesk.ir.building import PREDICATES, clone_with, constant, create, replace
from hotdesk.ir.generic_inputs import with_inputs
from hotdesk.ir.locations import source_of
from hotdesk.ir.types import element_bytes, element_of, is_tensor, shape_of
from hotdesk.ir.walking import (
    constant_of,
    constant_op,
    defining_op,
    groups_of,
    integer_of,
    is_constant,
    nested_ops,
    parallel_loops,
)
from hotdesk.models.cf import ASSERT
from hotdesk.models.control_flow import CHOICE
from hotdesk.models.generics import GENERIC, NUMBER, loops_read
from hotdesk.models.linalg import inputs_of
from hotdesk.models.payloads import LOADS
from hotdesk.models.tensor import EXPAND
from hotdesk.passes.base import FunctionPass

_PLAIN = ("arith.constant", NUMBER, INDEX_CAST, ABSOLUTE, LEAST, GREATEST, CHOICE, COMPARE, ADD, SUBTRACT, MULTIPLY)
_MOST = 48
"""Operations that a place takes."""
_OF_ENDS = {ADD: int.__add__, SUBTRACT: int.__sub__, MULTIPLY: int.__mul__, LEAST: min, GREATEST: max}
"""What gives the ends of a range from those of others."""
_BITS = {"i64": 64, "i32": 32, "index": 64}


@dataclass(frozen=True, slots=True)
class ComputePositions(FunctionPass):
    """Computes places in the loops that read at them (rules in the module docstring)."""

    name: ClassVar[str] = "hotdesk-compute-positions"
    reasons: ClassVar[tuple[Reason, ...]] = (Reason.CHEAP_TO_RECOMPUTE,)

    def run_on(self, function: ir.Operation) -> Iterator[Decision]:
        for op in [op for op in nested_ops(function) if op.name == GENERIC and _reads_at_places(op)]:
            source = source_of(op)
            for table in _computed(op):
                size = prod(cast("list[int]", shape_of(table.type))) * element_bytes(element_of(table.type))
                yield Decision("places", Outcome.FUSED, Reason.CHEAP_TO_RECOMPUTE, (source,), size)


def _reads_at_places(op: ir.Operation) -> bool:
    """Rule 1, and all sizes of rule 3."""
    if not all(parallel_loops(op)) or not all(is_tensor(value.type) for value in op.operands):
        return False
    if any(None in shape_of(value.type) for value in op.operands) or not inputs_of(op):
        return False
    body = _body(op)
    return any(each.name in LOADS for each in body) and not any(len(each.regions) for each in body)


def _body(op: ir.Operation) -> list[ir.Operation]:
    return [each.operation for each in op.regions[0].blocks[0].operations]


def _computed(op: ir.Operation) -> list[ir.Value]:
    """The tables that an op reads no more; it is replaced where there is one."""
    maps = cast("list[ir.AffineMap]", indexing_maps(op))
    new = op.clone(ir.InsertionPoint(op)).operation
    block = new.regions[0].blocks[0]
    first = block.operations[0].operation
    gone: list[int] = []
    for number in range(inputs_of(op)):
        dims = loops_read(maps[number])
        kind = element_of(op.operands[number].type)
        if dims is None or kind not in _BITS or not _needed(block.arguments[number], block):
            continue
        made = _TableElements(first).of(op.operands[number], dims)
        if made is not None:
            block.arguments[number].replace_all_uses_with(made)
            gone.append(number)
    if not gone or not _settle(new, _sizes(op, maps)):
        new.erase()
        return []
    tables = [op.operands[number] for number in gone]
    new, _ = with_inputs(new, {*range(inputs_of(new))} - {*gone})
    replace(op, new)
    return tables


def _needed(value: ir.Value, block: ir.Block) -> bool:
    """Whether an element is, or leads by arithmetic alone to, a place that is read at."""
    waiting = [value]
    seen = set[ir.Value]()
    for each in waiting:  # grows
        for use in each.uses:
            user = cast(Any, use.owner).operation
            if user.name in LOADS and use.operand_number > 0:
                return True
            if user.name in _PLAIN and user.block == block and user.results[0] not in seen:
                seen.add(user.results[0])
                waiting.append(user.results[0])
    return False


def _sizes(op: ir.Operation, maps: list[ir.AffineMap]) -> dict[int, int]:
    """How long each loop is."""
    sizes: dict[int, int] = {}
    for value, map_ in zip(op.operands, maps, strict=True):
        for size, each in zip(shape_of(value.type), cast(Any, map_.results), strict=True):
            if isinstance(each, ir.AffineDimExpr):
                sizes[each.position] = cast(int, size)
    return sizes


class _TableElements:
    """Writes elements of tables in front of an op in the loops that read them."""

    def __init__(self, before: ir.Operation) -> None:
        self._before, self._left = before, _MOST

    def of(self, table: ir.Value, dims: Sequence[int | None]) -> ir.Value | None:
        """An element, its place in each dim the number of a loop, or 0; None where rule 2 does not hold."""
        maker = defining_op(table)
        if maker is None:
            return None
        if maker.name == EXPAND:
            shape, kept = shape_of(table.type), list[int | None]()
            for group in groups_of(maker):
                long = [dim for dim in group if shape[dim] != 1]
                if len(long) > 1:
                    return None
                kept.append(dims[long[0]] if long else None)
            return self.of(maker.operands[0], kept)
        known = constant_op(table)
        if known is not None:
            data = cast(Any, known.attributes["value"])
            kind = cast(Any, table.type).element_type
            return constant(data.get_splat_value().value, kind, self._before) if data.is_splat else None
        return self._payload(maker, dims) if maker.name == GENERIC and len(maker.results) == 1 else None

    def _payload(self, op: ir.Operation, dims: Sequence[int | None]) -> ir.Value | None:
        maps = cast("list[ir.AffineMap]", indexing_maps(op))
        written, body = loops_read(maps[-1]), _body(op)
        self._left -= len(body)
        if written is None or None in written or len({*written}) != len(parallel_loops(op)) or self._left < 0:
            return None
        if not all(parallel_loops(op)) or any(each.name not in _PLAIN for each in body[:-1]):
            return None
        loops = dict(zip(cast("list[int]", written), dims, strict=True))
        mapping: dict[ir.Value, ir.Value] = {}
        block = op.regions[0].blocks[0]
        for number, argument in enumerate(list(block.arguments)):
            if next(iter(argument.uses), None) is None:
                continue
            places = loops_read(maps[number])
            if places is None or number >= inputs_of(op):
                return None
            made = self.of(op.operands[number], [None if each is None else loops[each] for each in places])
            if made is None:
                return None
            mapping[argument] = made
        for each in body[:-1]:
            if each.name == NUMBER:
                loop = loops[integer_of(each, "dim")]
                mapping[each.results[0]] = self._number(loop, each.results[0].type)
            elif not all(_is_known(value, mapping) for value in each.operands):
                return None
            else:
                clone_with(each, mapping, ir.InsertionPoint(self._before))
        result = body[-1].operands[0]
        return mapping.get(result, result) if _is_known(result, mapping) else None

    def _number(self, loop: int | None, kind: ir.Type) -> ir.Value:
        if loop is None:
            return constant(0, kind, self._before)
        attributes: dict[str, ir.Attribute] = {"dim": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), loop)}
        return create(NUMBER, [], [kind], attributes, before=self._before).results[0]


def _is_known(value: ir.Value, mapping: dict[ir.Value, ir.Value]) -> bool:
    """Whether a value is one that has been written, or a constant around the op."""
    return value in mapping or constant_op(value) is not None


def _settle(op: ir.Operation, sizes: dict[int, int]) -> bool:
    """Replaces comparisons by what they come to for all positions, and drops checks that hold; whether all of positions do."""
    ranges: dict[ir.Value, tuple[int, int]] = {}
    for each in _body(op):
        if each.name == ASSERT:
            found = ranges.get(each.operands[0])
            if found == (1, 1):
                each.erase()
            elif found is not None:
                return False
        elif len(each.results) == 1 and (found := _range(each, ranges, sizes)) is not None:
            ranges[each.results[0]] = found
            if each.name == COMPARE and found[0] == found[1]:
                known = constant(found[0], each.results[0].type, each)
                ranges[known] = found
                each.results[0].replace_all_uses_with(known)
    return True


def _range(op: ir.Operation, ranges: dict[ir.Value, tuple[int, int]], sizes: dict[int, int]) -> tuple[int, int] | None:
    """The least and the greatest that an integer can be; None where it follows from more than positions, or might wrap around."""
    if op.name == NUMBER:
        return 0, max(0, sizes[integer_of(op, "dim")] - 1)
    given = [_known(value) or ranges.get(value) for value in op.operands]
    if op.name not in _PLAIN or None in given or is_constant(op):
        return None
    if op.name in (COMPARE, INDEX_CAST) and str(op.operands[0].type) == "i1":
        return None  # a truth is 1 where it is chosen by, but -1 where it is a number with a sign
    known = cast("list[tuple[int, int]]", given)
    if op.name == COMPARE:
        return _compared(integer_of(op, "predicate"), *known)
    if op.name in _OF_ENDS:
        found = [_OF_ENDS[op.name](*ends) for ends in product(*known)]
    elif op.name == CHOICE:
        condition, first, other = known
        found = [*(first if condition[1] else ()), *(other if not condition[0] else ())]
    else:
        ((low, high),) = known
        found = [low, high] if op.name == INDEX_CAST else [abs(low), abs(high), *([0] if low <= 0 <= high else [])]
    bits = _BITS.get(str(op.results[0].type))
    low, high = min(found), max(found)
    return (low, high) if bits is not None and -(1 << (bits - 1)) <= low and high < 1 << (bits - 1) else None


def _known(value: ir.Value) -> tuple[int, int] | None:
    """The range of a constant."""
    number = constant_of(value)
    if not isinstance(number, int):
        return None
    number = abs(number) if str(value.type) == "i1" else number  # a truth is 1, or -1
    return number, number


def _compared(how: int, a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int] | None:
    """1 and 1 where it holds for all, 0 and 0 for none, else 0 and 1; None of unsigned ones where the other may be negative."""
    name = PREDICATES[how]
    if name[0] == "u":
        if b[0] < 0:
            return None
        if a[0] < 0:
            larger = int(name[1] == "g")  # than any number that is not negative
            return (0, 1) if a[1] >= 0 else (larger, larger)
        name = "s" + name[1:]
    always, never = {
        "slt": (a[1] < b[0], a[0] >= b[1]),
        "sle": (a[1] <= b[0], a[0] > b[1]),
        "sgt": (a[0] > b[1], a[1] <= b[0]),
        "sge": (a[0] >= b[1], a[1] < b[0]),
        "eq": (a == b and a[0] == a[1], a[1] < b[0] or b[1] < a[0]),
        "ne": (a[1] < b[0] or b[1] < a[0], a == b and a[0] == a[1]),
    }[name]
    return (1, 1) if always else (0, 0) if never else (0, 1)
