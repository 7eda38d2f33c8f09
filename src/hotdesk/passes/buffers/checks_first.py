"""Checks of what data says go in front of the first write of state and arguments: a call that they end has changed nothing.

    linalg.add ins(%x, %y) outs(%x)                           linalg.generic ins(%i) { cf.assert %i < size }
    linalg.generic ins(%i) outs(%r) {                   ->    linalg.add ins(%x, %y) outs(%x)
      cf.assert %i < size; load %table[%i] … }                linalg.generic ins(%i) outs(%r) { load %table[%i] … }

A check moves (`checked-first`) iff

1. it is a `cf.assert`, or those in a `linalg.generic` which may be loops of their own (`passes.payload_checks`), in the
   entry block of a function that writes state or arguments, in or behind the first op that may write such;
2. what it is computed from is there in front of that op, or made by arithmetic, sizes, views, loads at places that are numbers,
   or loops of arithmetic that fill no more than 4 KiB: these are done again (`written-before-check`);
3. nothing between that op and the place where it is read may write what it reads (`written-before-check`);
4. no view has to be made again for it, if a check in front of it stays, in a loop or branch too, or a call that may fail: that
   may be what keeps the view inside of its memory.

Checks in loops and branches stay there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.buffer_program import Kind
from hotdesk.analysis.memrefs.entry_writes import EntryWrites, changed_arguments
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.building import clone_with, create
from hotdesk.ir.divisions import may_fail_early
from hotdesk.ir.functions import called_name
from hotdesk.ir.locations import source_of
from hotdesk.ir.types import element_bytes, element_of, is_memref, shape_of
from hotdesk.ir.walking import captured_operands, constant_of, defining_op, dialect_of, entry_block, nested_ops
from hotdesk.models.cf import ASSERT
from hotdesk.models.dialects import SCALAR_DIALECTS
from hotdesk.models.generics import GENERIC
from hotdesk.models.hotdesk import FOREIGN
from hotdesk.models.linalg import inputs_of
from hotdesk.models.memory_effects import wholly_written
from hotdesk.models.memref import LOAD, VIEWS
from hotdesk.models.new_memory import ALLOC, DEALLOC
from hotdesk.passes.base import FunctionPass
from hotdesk.passes.payload_checks import can_check_apart, has_checks, needed_by_checks, split_checks

_AGAIN = VIEWS | {"memref.dim"}
"""Ops besides arithmetic that a check may be computed by once more."""
BYTES = 4096
"""What memory that is filled again may take."""


@dataclass(frozen=True, slots=True)
class MoveChecksFirst(FunctionPass):
    """Moves checks in front of what writes state and arguments (rules in the module docstring)."""

    name: ClassVar[str] = "hotdesk-move-checks-first"
    reasons: ClassVar[tuple[Reason, ...]] = (Reason.CHECKED_FIRST, Reason.WRITTEN_BEFORE_CHECK)

    def run_on(self, function: ir.Operation) -> list[Decision]:
        ops = [view.operation for view in entry_block(function).operations]
        if not any(map(_is_check, ops)) or not changed_arguments(function):
            return []
        mover = _CheckMover(EntryWrites(function))
        return [decision for op in ops if mover.is_late(op) for decision in mover.look_at(op)]


def _is_check(op: ir.Operation) -> bool:
    return op.name == ASSERT or (has_checks(op) and can_check_apart(op, numbers=True))


class _CheckMover:
    """Moves checks of a function, whose entry block has these ops."""

    def __init__(self, writes: EntryWrites) -> None:
        self._ops, self._places = writes.ops, writes.places
        self._program, self._origins = writes.program, writes.origins
        self._unknown, self._writes, self._first = writes.unknown, writes.at, writes.first
        self._stays = False  # something that came before and may end the call

    def is_late(self, op: ir.Operation) -> bool:
        """Whether an op stands behind the first write, or is the op that writes first."""
        return self._places[op] >= self._first

    def look_at(self, op: ir.Operation) -> list[Decision]:
        """Moves an op that is late, if it is a check and may; others that may end the call stay, as checks in loops do."""
        if _is_check(op):
            return [self._move(op)]
        self._stays |= op.name == FOREIGN or called_name(op) is not None or has_checks(op)
        return []

    def _move(self, check: ir.Operation) -> Decision:
        subject, source, again = f"check of {check.name}", source_of(check), set[int]()
        first = self._ops[self._first]
        there = self._are_there(_read_by(check), self._places[check], again)
        if not there or (self._stays and any(self._ops[place].name in VIEWS for place in again)):
            self._stays, because = True, (source, source_of(first))
            return Decision(subject, Outcome.ORDER_KEPT, Reason.WRITTEN_BEFORE_CHECK, because)
        point, copies = ir.InsertionPoint(first), dict[ir.Value, ir.Value]()
        done = [self._ops[place] for place in sorted(again)]
        for op in done:
            clone_with(op, copies, point)
        if check.name == ASSERT:
            clone_with(check, copies, point)
            del self._places[check]
            check.erase()
        else:
            split_checks(check, copies, first)
        for op in done:
            if op.name == ALLOC:
                create(DEALLOC, [copies[op.results[0]]], [], before=first)
        return Decision(subject, Outcome.MOVED, Reason.CHECKED_FIRST, (source,))

    def _are_there(self, values: Iterable[ir.Value], place: int, again: set[int]) -> bool:
        """Whether values, and the memory that they show, are in front of the first write as they are at a place.

        The places of the ops that have to be done again for it go to `again`.
        """
        return all(
            self._is_there(value, again) and (not is_memref(value.type) or self._is_filled(value, place, again))
            for value in values
        )

    def _is_there(self, value: ir.Value, again: set[int]) -> bool:
        op = defining_op(value)
        if op is None:
            return True
        place = self._places.get(op)
        if place is None or place < self._first or place in again:
            return place is not None
        if not (_is_small(op) if op.name == ALLOC else _is_done_again(op)):
            return False
        again.add(place)
        if op.name == LOAD and not self._is_filled(op.operands[0], place, again):
            return False
        return all(self._is_there(each, again) for each in op.operands)

    def _is_filled(self, memref: ir.Value, place: int, again: set[int]) -> bool:
        """Whether memory holds what it does at a place, or is filled by one op that may be done again."""
        memory = self._origins.of[self._program.numbers[memref]]
        if not memory.isdisjoint(self._unknown):
            return False
        known = (each for number in memory | self._unknown for each in self._writes.get(number, ()))
        written = {each for each in known if each < place}
        if max(written, default=-1) < self._first:
            return True
        if len(memory) != 1 or len(written) != 1:
            return False
        (number,), (filled,) = memory, written
        maker, whole = self._ops[filled], self._program.buffers[number]
        if filled in again:
            return True
        if whole.kind is not Kind.ALLOCATION or not _is_filling(maker):
            return False
        (target,) = wholly_written(maker)
        again.add(filled)
        read = [
            *(value for value in maker.operands if value != target),
            *(value for _, _, value in captured_operands(maker)),
        ]
        if _count(target) != _count(whole.value) or not self._is_there(target, again):
            return False
        return self._are_there(read, filled, again)


def _read_by(check: ir.Operation) -> list[ir.Value]:
    """What a check is computed from."""
    if check.name == ASSERT:
        return list(check.operands)
    inputs, outside = needed_by_checks(check)
    return [*(check.operands[i] for i in inputs), *outside]


def _is_done_again(op: ir.Operation) -> bool:
    """Whether an op may be done before a check in front of it: it divides by nothing that may be 0, and reads no other memory."""
    if len(op.regions) or len(op.results) != 1:
        return False
    if op.name == LOAD:
        memref, *places = op.operands
        known = [constant_of(place) for place in places]
        sizes = [0 if size is None else size for size in shape_of(memref.type)]
        return all(place is not None and 0 <= place < size for place, size in zip(known, sizes, strict=True))
    return not may_fail_early(op) and (op.name in _AGAIN or dialect_of(op.name) in SCALAR_DIALECTS)


def _is_small(op: ir.Operation) -> bool:
    """Whether an op allocates no more than `BYTES`."""
    kind = op.results[0].type
    return None not in shape_of(kind) and element_bytes(element_of(kind)) * (_count(op.results[0]) or 0) <= BYTES


def _is_filling(op: ir.Operation) -> bool:
    """Whether an op computes all elements of one memref by arithmetic that cannot fail."""
    if op.name != GENERIC or len(wholly_written(op)) != 1 or len(op.operands) != inputs_of(op) + 1:
        return False
    return not any(each.name in (LOAD, ASSERT) or may_fail_early(each) or len(each.regions) for each in nested_ops(op))


def _count(memref: ir.Value) -> int | None:
    """How many elements a memref has; None if that is open."""
    sizes = shape_of(memref.type)
    return None if None in sizes else prod(size for size in sizes if size is not None)
