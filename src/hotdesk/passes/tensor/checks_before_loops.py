"""Checks in loops and branches go in front, in loops and branches of their own, where a program changes state or arguments.

    scf.for %i … iter_args(%cache) {                          scf.for %i … { check %i < 512 }
      check %i < 512                                  ->      scf.for %i … iter_args(%cache) {
      %new = insert %row into %cache[%i] … }                    %new = insert %row into %cache[%i] … }

So a call that such a check ends has written nothing yet. The checks of a loop or branch move (`checked-first`) iff

1. the function changes state or arguments (`hotdesk.kind`, `bufferize.state`);
2. what each is computed from is a small slice of the loop or branch (`analysis.tensors.check_slices`);
3. nothing else in there may end the call: that may be what ends the loop, and what is written is kept for it in any case.

The loop of checks, and what is small that it reads, go to the front of the function where nothing else is needed, behind checks
outside of loops that were in front of it. One whose iterations follow from more than constants and sizes (`tensor.dim`) stays
behind all that may end the call: that may be what says that it ends. Checks that stay are made where they were;
`hotdesk-roll-back-writes` has what is written by then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from hotdesk._bindings import ir
from hotdesk.analysis.tensors.check_slices import IF, SLICED, CheckSlice, is_small, slice_of_checks
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.graphs import reached
from hotdesk.ir.building import clone_with, create
from hotdesk.ir.functions import called_name
from hotdesk.ir.locations import source_of
from hotdesk.ir.op_maps import OpMap, OpSet
from hotdesk.ir.signature import signature
from hotdesk.ir.walking import attributes_of, captured_operands, defining_op, is_constant, nested_ops, top_level_ops
from hotdesk.models.cf import ASSERT
from hotdesk.models.generics import GENERIC
from hotdesk.models.hotdesk import FOREIGN
from hotdesk.models.payloads import LOADS
from hotdesk.models.scf import FOR, WHILE
from hotdesk.passes.base import FunctionPass
from hotdesk.passes.payload_checks import can_check_apart, has_checks, needed_by_checks, split_checks


@dataclass(frozen=True, slots=True)
class CheckBeforeLoops(FunctionPass):
    """Moves checks out of loops and branches (rules in the module docstring)."""

    name: ClassVar[str] = "hotdesk-check-before-loops"
    reasons: ClassVar[tuple[Reason, ...]] = (Reason.CHECKED_FIRST,)

    def run_on(self, function: ir.Operation) -> list[Decision]:
        formals = signature(function).arguments
        if not any(each.state is not None or each.kind in ("state", "written") for each in formals):
            return []
        roots = [op for op in top_level_ops(function) if op.name in SLICED and has_checks(op)]
        made: list[ir.Operation] = []
        return [decision for root in roots for decision in _move(root, made)]


def _move(root: ir.Operation, made: list[ir.Operation]) -> list[Decision]:
    """Moves the checks of a loop or branch; the loop of them goes to `made`, which has those of the ones in front of it."""
    checks = _checks_in(root)
    if len(checks) < _ways_to_fail(root):
        return []
    found = slice_of_checks(root, checks, OpMap((check, _read_by(check)) for check in checks))
    if len(found.checks) < len(checks):
        return []
    decisions = [
        Decision(f"check of {check.name}", Outcome.MOVED, Reason.CHECKED_FIRST, (source_of(check),))
        for check in found.checks
    ]
    moved = _SliceWriter(found).write(root, root, {})
    _to_front(moved, made)
    made.append(moved)
    for check in [each for each in found.checks if each.name == ASSERT]:
        check.erase()
    return decisions


def _checks_in(root: ir.Operation) -> list[ir.Operation]:
    """The checks outside of payloads, and the ops whose payloads have some that can be loops of their own."""
    found: list[ir.Operation] = []
    inside = OpSet()
    for op in nested_ops(root):
        if op in inside:
            continue
        if _is_check(op) and (op.name == ASSERT or _can_be_split(op)):
            found.append(op)
        if op.name not in SLICED:
            inside.update(nested_ops(op))
    return found


def _ways_to_fail(root: ir.Operation) -> int:
    """How many ops of a loop or branch may end the call; those of a payload are one."""
    inside, found = OpSet(), 0
    for op in nested_ops(root):
        if op not in inside and op.name == GENERIC:
            inside.update(nested_ops(op))
        found += op not in inside and (_is_check(op) or _may_end_call(op))
    return found


def _may_end_call(op: ir.Operation) -> bool:
    return op.name in (ASSERT, FOREIGN) or called_name(op) is not None


def _can_be_split(op: ir.Operation) -> bool:
    if not can_check_apart(op, numbers=True):
        return False
    block = op.regions[0].blocks[0]
    conditions = [each.operation.operands[0] for each in block.operations if each.operation.name == ASSERT]
    needed = reached(conditions, lambda value: _operands_in(value, block))
    makers = [defining_op(value) for value in needed]
    return not any(maker is not None and maker.name in LOADS for maker in makers)


def _operands_in(value: ir.Value, block: ir.Block) -> Sequence[ir.Value]:
    maker = defining_op(value)
    return list(maker.operands) if maker is not None and maker.block == block else ()


def _read_by(check: ir.Operation) -> list[ir.Value]:
    if check.name == ASSERT:
        return list(check.operands)
    inputs, outside = needed_by_checks(check)
    return [*(check.operands[i] for i in inputs), *outside]


class _SliceWriter:
    """Writes a slice."""

    def __init__(self, found: CheckSlice) -> None:
        self._slice = found
        self._checks = OpSet(found.checks)

    def write(self, op: ir.Operation, before: ir.Operation, values: dict[ir.Value, ir.Value]) -> ir.Operation:
        """What the slice has of a loop or branch, in front of an op; `values` are what stands for others."""
        write = {FOR: self._for, WHILE: self._while, IF: self._if}[op.name]
        return write(op, before, values)

    def _for(self, op: ir.Operation, before: ir.Operation, values: dict[ir.Value, ir.Value]) -> ir.Operation:
        carried = sorted(self._slice.carried.get(op, ()))
        operands = _those([*list(op.operands)[:3], *(op.operands[3 + i] for i in carried)], values)
        results = [op.results[i] for i in carried]
        made = create(FOR, operands, [each.type for each in results], attributes_of(op), regions=1, before=before)
        number, *others = op.regions[0].blocks[0].arguments
        self._region(op, 0, made, [number, *(others[i] for i in carried)], "scf.yield", carried, values)
        values.update(zip(results, made.results, strict=True))
        return made

    def _while(self, op: ir.Operation, before: ir.Operation, values: dict[ir.Value, ir.Value]) -> ir.Operation:
        carried, handed = (sorted(each.get(op, ())) for each in (self._slice.carried, self._slice.handed))
        results = [op.results[i] for i in handed]
        operands = _those([op.operands[i] for i in carried], values)
        made = create(WHILE, operands, [each.type for each in results], attributes_of(op), regions=2, before=before)
        first, second = (region.blocks[0].arguments for region in op.regions)
        condition = [0, *(1 + i for i in handed)]
        self._region(op, 0, made, [first[i] for i in carried], "scf.condition", condition, values)
        self._region(op, 1, made, [second[i] for i in handed], "scf.yield", carried, values)
        values.update(zip(results, made.results, strict=True))
        return made

    def _if(self, op: ir.Operation, before: ir.Operation, values: dict[ir.Value, ir.Value]) -> ir.Operation:
        handed = sorted(self._slice.handed.get(op, ()))
        results = [op.results[i] for i in handed]
        operands = _those(op.operands, values)
        made = create(IF, operands, [each.type for each in results], attributes_of(op), regions=2, before=before)
        for number, region in enumerate(op.regions):
            if len(region.blocks):
                self._region(op, number, made, [], "scf.yield", handed, values)
        values.update(zip(results, made.results, strict=True))
        return made

    def _region(
        self,
        op: ir.Operation,
        number: int,
        made: ir.Operation,
        arguments: Sequence[ir.Value],
        end: str,
        handed: Sequence[int],
        values: dict[ir.Value, ir.Value],
    ) -> None:
        """Fills a region: `arguments` of the old one are its own, and the operands numbered `handed` go to its end."""
        old = op.regions[number].blocks[0]
        block = made.regions[number].blocks.append(
            *(each.type for each in arguments), arg_locs=[op.location] * len(arguments)
        )
        values.update(zip(arguments, block.arguments, strict=True))
        with ir.InsertionPoint(block), op.location:
            last = ir.Operation.create("scf.yield").operation  # until what the end reads is there
        for view in list(old.operations):
            self._op(view.operation, last, values)
        ending = list(old.operations)[-1].operation
        create(end, _those([ending.operands[i] for i in handed], values), [], before=last)
        last.erase()

    def _op(self, op: ir.Operation, before: ir.Operation, values: dict[ir.Value, ir.Value]) -> None:
        is_check = op in self._checks
        if op.name in SLICED and op in self._slice.kept:
            self.write(op, before, values)
        elif is_check and op.name == GENERIC:
            split_checks(op, values, before)
        elif is_check or op in self._slice.kept:
            clone_with(op, values, ir.InsertionPoint(before))


def _those(read: Sequence[ir.Value] | Any, values: dict[ir.Value, ir.Value]) -> list[ir.Value]:
    return [values.get(each, each) for each in read]


def _to_front(made: ir.Operation, others: Sequence[ir.Operation]) -> None:
    """Moves a loop of checks, with what it reads, to the front, if it reads what is small alone.

    It stays behind the checks outside of loops that are in front of it, and behind `others`, so that the first check that fails
    is the one that is told.
    """
    block = made.block
    values = reached(_read_in(made), lambda value: _behind(value, block))
    makers = [op for op in map(defining_op, values) if op is not None and op.block == block]
    if not all(map(is_small, makers)):
        return
    ops, read = [view.operation for view in block.operations], OpSet((made, *makers))
    is_open = _is_open(made)
    checks = [place for place, op in enumerate(ops) if _is_check(op) or op in others or (is_open and _fails_inside(op))]
    least = max((place for place in checks if place < ops.index(made)), default=-1) + 1
    first = next(place for place in range(least, len(ops)) if ops[place] not in read)
    for op in ops[first:]:
        if op in read:
            cast(Any, op).move_before(ops[first])


def _is_open(made: ir.Operation) -> bool:
    """Whether loops have more iterations than a constant or a size says, or no end, where what is in front fails."""
    loops = [op for op in (made, *nested_ops(made)) if op.name in (FOR, WHILE)]
    return any(op.name == WHILE or not all(map(_is_known, list(op.operands)[:3])) for op in loops)


def _is_known(number: ir.Value) -> bool:
    maker = defining_op(number)
    return maker is not None and (is_constant(maker) or maker.name == "tensor.dim")


def _fails_inside(op: ir.Operation) -> bool:
    """Whether an op, or one in its regions, may end the call."""
    return any(map(_may_end_call, (op, *nested_ops(op))))


def _is_check(op: ir.Operation) -> bool:
    return op.name == ASSERT or (op.name == GENERIC and has_checks(op))


def _read_in(op: ir.Operation) -> list[ir.Value]:
    """What an op reads, in its regions too."""
    return [*op.operands, *(value for _, _, value in captured_operands(op))]


def _behind(value: ir.Value, block: ir.Block) -> list[ir.Value]:
    """What the op of a block reads that makes a value."""
    maker = defining_op(value)
    return [] if maker is None or maker.block != block else _read_in(maker)
