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
from hotdesk.ir.types import dynamic_layout, layout_of, shape_of
from hotdesk.ir.walking import defining_op
from hotdesk.models.control_flow import CHOICE
from hotdesk.models.facts import RESULTS
from hotdesk.models.layouts import sliced_type, strided_type, takes_any_layout
from hotdesk.models.scf import LOOPS_AND_BRANCHES, MODELS

_CAST, _SUBVIEW = "memref.cast", "memref.subview"
_PASSING = (*LOOPS_AND_BRANCHES, CHOICE)
Passed = tuple[ir.Operation, int]
"""An op, and the number of the operand that it passes on."""


@dataclass(slots=True)
class _Alike:
    """Values of one type, the operands that are passed to them, and the type as it is known by now."""

    values: list[ir.Value]
    passed: list[Passed] = field(default_factory=list[Passed])
    kind: ir.Type | None = None


def keep_layouts(ops: Iterable[ir.Operation], passed_on: Collection[ir.Value]) -> None:
    """Gives memrefs that ops pass on, and which are in any layout, the layout in which all that becomes them agrees."""
    classes = _classes(ops, passed_on)
    known = {value: each for each in classes for value in each.values}
    changed = True
    while changed:
        changed = False
        for each in classes:
            kinds = [_kind(op.operands[number], known) for op, number in each.passed]
            kind = _joined([kind for kind in kinds if kind is not None], each.values[0])
            changed = changed or kind != each.kind
            each.kind = kind
    passed = {key for each in classes for key in each.passed}
    for each in classes:
        for value in each.values if each.kind is not None else ():
            _retype(value, cast(ir.Type, each.kind), passed)
    for each in classes:
        for op, number in each.passed:
            _fit(op, number, each.values[0].type)


def _classes(ops: Iterable[ir.Operation], passed_on: Collection[ir.Value]) -> list[_Alike]:
    """The values that must be of one type, with others or alone."""
    targets: dict[Passed, list[ir.Value]] = {}
    for op in ops:
        for key, target in _edges(op) if op.name in _PASSING else ():
            targets.setdefault(key, []).append(target)
    found: dict[ir.Value, _Alike] = {}
    for key, reached in targets.items():
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


def _kind(value: ir.Value, known: dict[ir.Value, _Alike]) -> ir.Type | None:
    """The type that a memref will have, without casts to any layout; None if nothing is known of it yet."""
    sliced: list[ir.Operation] = []
    while value not in known:
        op = defining_op(value)
        if op is not None and op.name == _SUBVIEW:
            sliced.append(op)
        elif not _loosens(op):
            break
        value = cast(ir.Operation, op).operands[0]
    kind = known[value].kind if value in known else value.type
    for op in reversed(sliced if kind is not None else ()):
        kind = sliced_type(cast(ir.Type, kind), op, shape_of(op.results[0].type))
    return kind


def _loosens(op: ir.Operation | None) -> bool:
    """Whether an op shows a memref in any layout, and is a cast of its layout alone."""
    if op is None or op.name != _CAST:
        return False
    before, after = op.operands[0].type, op.results[0].type
    ranked = isinstance(before, ir.MemRefType) and isinstance(after, ir.MemRefType)
    return ranked and after == dynamic_layout(before)


def _joined(kinds: Sequence[ir.Type], like: ir.Value) -> ir.Type | None:
    """The type with all strides, and the offset, in which some agree."""
    distinct = list(dict.fromkeys(kinds))
    if len(distinct) < 2:
        return distinct[0] if distinct else None
    strides, offsets = zip(*(layout_of(kind) for kind in distinct), strict=True)
    agreed = [each[0] if len(set(each)) == 1 else None for each in zip(*strides, strict=True)]
    return strided_type(shape_of(like.type), agreed, offsets[0] if len(set(offsets)) == 1 else None, like)


def _retype(value: ir.Value, kind: ir.Type, passed: set[Passed]) -> None:
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
            if op.name == _SUBVIEW and number == 0:
                waiting.append((op.results[0], sliced_type(kind, op, shape_of(op.results[0].type))))
            elif not ((op, number) in passed or takes_any_layout(op) or _loosens(op)):
                op.operands[number] = create(_CAST, [value], [old], before=op).results[0]


def _fit(op: ir.Operation, number: int, kind: ir.Type) -> None:
    """Passes a memref on in a type."""
    memref = given = op.operands[number]
    while memref.type != kind and _loosens(made := defining_op(memref)):
        memref = cast(ir.Operation, made).operands[0]
    if memref.type != kind:
        memref = create(_CAST, [memref], [kind], before=op).results[0]
    if memref == given:
        return
    op.operands[number] = memref
    unused = defining_op(given)
    while _loosens(unused) and not list(cast(ir.Operation, unused).results[0].uses):
        given = cast(ir.Operation, unused).operands[0]
        cast(ir.Operation, unused).erase()
        unused = defining_op(given)
