"""Layouts of what control flow passes on: what all that is passed agrees in stays in the types.

    scf.for iter_args(%t = %tile) -> (memref<2xi32, strided<[?], offset: ?>>)      what comes round has stride 1 as well
    scf.for iter_args(%t = %tile) -> (memref<2xi32, strided<[1], offset: ?>>)

What may lie in a part of a buffer is in any layout while a function is rewritten: it is not known yet what else is passed. Then:

1. Values that get one and the same operand are of one type: the argument of an `scf.for` and the result that it becomes.
2. They have each stride, and the offset, in which all that is passed to them agrees. That is a fixed point: at first nothing is
   known of them, so what comes round unchanged is in the way of nothing.
3. Views of them follow. An op that may insist on its operand's type sees the old one through a cast.

Arguments of blocks that branches lead to stay in any layout.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.building import create
from hotdesk.ir.op_maps import OpMap
from hotdesk.ir.types import dynamic_layout, layout_of, shape_of
from hotdesk.ir.walking import defining_op
from hotdesk.models.control_flow import CHOICE
from hotdesk.models.facts import RESULTS
from hotdesk.models.layouts import sliced_type, takes_any_layout, with_layout
from hotdesk.models.memref import CAST, SUBVIEW
from hotdesk.models.scf import LOOPS_AND_BRANCHES, MODELS
from hotdesk.program.dataflow import least_solution

_PASSING = (*LOOPS_AND_BRANCHES, CHOICE)
Passed = tuple[ir.Operation, int]
"""An op, and the number of the operand that it passes on."""
_Slices = list[ir.Operation]
"""The `memref.subview`s between a memref and a slice of slices of it."""


@dataclass(slots=True)
class _Alike:
    """Values of one type, and the operands that are passed to them."""

    values: list[ir.Value]
    passed: list[Passed] = field(default_factory=list[Passed])


def keep_layouts(ops: Iterable[ir.Operation], passed_on: Collection[ir.Value]) -> None:
    """Gives memrefs that ops pass on, and which are in any layout, the layout in which all that becomes them agrees."""
    classes = _classes(ops, passed_on)
    kinds = _agreed(classes)
    passed = OpMap[set[int]]()
    for op, number in (key for each in classes for key in each.passed):
        passed.setdefault(op, set()).add(number)
    for each, kind in zip(classes, kinds, strict=True):
        for value in each.values if kind is not None else ():
            _retype(value, cast(ir.Type, kind), passed)
    for each in classes:
        for op, number in each.passed:
            _fit(op, number, each.values[0].type)


def _classes(ops: Iterable[ir.Operation], passed_on: Collection[ir.Value]) -> list[_Alike]:
    """The values that must be of one type, with others or alone."""
    targets: list[tuple[Passed, list[ir.Value]]] = []
    numbers = OpMap[dict[int, list[ir.Value]]]()
    for op in ops:
        for (user, number), target in _edges(op) if op.name in _PASSING else ():
            known = numbers.setdefault(user, {})
            if number not in known:
                known[number] = []
                targets.append(((user, number), known[number]))
            known[number].append(target)
    found: dict[ir.Value, _Alike] = {}
    for key, reached in targets:
        first = found.setdefault(reached[0], _Alike([reached[0]]))
        first.passed.append(key)
        for target in reached[1:]:
            other = found.setdefault(target, _Alike([target]))
            if other is not first:
                first.values += other.values
                first.passed += other.passed
                found.update(dict.fromkeys(other.values, first))
    classes = {id(each): each for each in found.values()}.values()
    return [
        each
        for each in classes
        if all(value in passed_on and value.type == dynamic_layout(value.type) for value in each.values)
    ]


def _edges(op: ir.Operation) -> Iterator[tuple[Passed, ir.Value]]:
    """What an op and the terminators of its regions pass on, and what that becomes."""
    if op.name == CHOICE:
        yield from (((op, number), op.results[0]) for number in (1, 2))
        return
    regions = [list(region.blocks) for region in op.regions]
    if any(len(blocks) > 1 for blocks in regions):
        return
    passing = MODELS[op.name].flow
    assert passing is not None
    flow = passing(op)
    for operand, region, argument in flow.entries:
        yield (op, operand), regions[region][0].arguments[argument]
    for region, operand, target, number in flow.exits:
        last = list(regions[region][0].operations)[-1].operation
        yield (last, operand), op.results[number] if target == RESULTS else regions[target][0].arguments[number]
    for operand, result in dict.fromkeys((*flow.skips, *flow.carried)):
        yield (op, operand), op.results[result]


def _agreed(classes: Sequence[_Alike]) -> list[ir.Type | None]:
    """The type of each class (rule 2); None if nothing else ever becomes its values."""
    numbers = {value: number for number, each in enumerate(classes) for value in each.values}
    first: list[ir.Type | None] = [None] * len(classes)
    edges: dict[int, list[tuple[int, _Slices]]] = {}
    for number, each in enumerate(classes):
        for op, operand in each.passed:
            source, slices = _sliced_from(op.operands[operand], numbers)
            if source in numbers:
                edges.setdefault(numbers[source], []).append((number, slices))
            else:
                first[number] = _joined(first[number], _sliced(source.type, slices))

    def join(source: ir.Type | None, target: ir.Type | None, slices: _Slices) -> ir.Type | None:
        found = target if source is None else _joined(target, _sliced(source, slices))
        return None if found == target else found

    return least_solution(first, edges, join)


def _sliced_from(value: ir.Value, known: Collection[ir.Value]) -> tuple[ir.Value, _Slices]:
    """The memref that one is a slice of, without casts to any layout: the first that is known, if any is; and the slices."""
    slices: _Slices = []
    while value not in known:
        op = defining_op(value)
        if op is not None and op.name == SUBVIEW:
            slices.insert(0, op)
        elif not _loosens(op):
            break
        value = cast(ir.Operation, op).operands[0]
    return value, slices


def _sliced(kind: ir.Type, slices: _Slices) -> ir.Type:
    """The type of what slices, one of the other, leave of a memref of a type."""
    for op in slices:
        kind = sliced_type(kind, op, shape_of(op.results[0].type))
    return kind


def _loosens(op: ir.Operation | None) -> bool:
    """Whether an op shows a memref in any layout, and is a cast of its layout alone."""
    if op is None or op.name != CAST:
        return False
    before, after = op.operands[0].type, op.results[0].type
    ranked = isinstance(before, ir.MemRefType) and isinstance(after, ir.MemRefType)
    return ranked and after == dynamic_layout(before)


def _joined(known: ir.Type | None, kind: ir.Type) -> ir.Type:
    """The type with all strides, and the offset, in which two agree."""
    if known is None or known == kind:
        return kind
    (strides, offset), (others, other) = layout_of(known), layout_of(kind)
    agreed = [a if a == b else None for a, b in zip(strides, others, strict=True)]
    return with_layout(kind, agreed, offset if offset == other else None)


def _retype(value: ir.Value, kind: ir.Type, passed: OpMap[set[int]]) -> None:
    """Gives a memref another layout, and its views."""
    waiting = [(value, kind)]
    while waiting:
        value, kind = waiting.pop()
        old = value.type
        if kind == old:
            continue
        value.set_type(kind)
        for use in list(value.uses):
            op, number = cast(Any, use.owner).operation, use.operand_number
            if op.name == SUBVIEW and number == 0:
                waiting.append((op.results[0], sliced_type(kind, op, shape_of(op.results[0].type))))
            elif not (number in passed.get(op, ()) or takes_any_layout(op) or _loosens(op)):
                op.operands[number] = create(CAST, [value], [old], before=op).results[0]


def _fit(op: ir.Operation, number: int, kind: ir.Type) -> None:
    """Passes a memref on in a type."""
    memref = given = op.operands[number]
    while memref.type != kind and _loosens(made := defining_op(memref)):
        memref = cast(ir.Operation, made).operands[0]
    if memref.type != kind:
        memref = create(CAST, [memref], [kind], before=op).results[0]
    if memref == given:
        return
    op.operands[number] = memref
    unused = defining_op(given)
    while _loosens(unused) and not list(cast(ir.Operation, unused).results[0].uses):
        given = cast(ir.Operation, unused).operands[0]
        cast(ir.Operation, unused).erase()
        unused = defining_op(given)
