"""Takes away the memrefs that control passes on and nobody uses, so that nobody has to own them.

    %r:2 = scf.if %p -> (memref<8xf32>, f32) { … yield %a, %s }      ->      %r = scf.if %p -> (f32) { … yield %s }

1. Unused are block arguments and results that get their memrefs from the same operands (`analysis.ownership.slots`), if no op
   has one as an operand other than to pass it on to unused ones, around a loop too.
2. All ops that pass them on are of `scf` or branches of `cf`: of another op's operands and results it is not known how they go
   together.
3. Views and choices of which nothing is used go first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.buffer_program import BufferOp, BufferProgram, Kind
from hotdesk.analysis.ownership.slots import Key, OwnershipSlot, OwnershipSlots
from hotdesk.graphs import reached
from hotdesk.ir.building import remade
from hotdesk.ir.walking import dialect_of
from hotdesk.models.control_flow import ENDS, PASSING
from hotdesk.passes.buffers.branch_edges import operand_parts, passes_more, remade_branch


def drop_unused(program: BufferProgram, slots: OwnershipSlots) -> bool:
    """Takes away what is passed on and not used in a function that was just read; whether there was any."""
    gone = _unused_views(program)
    unused = _unused(program, slots, gone)
    for number in sorted(gone, reverse=True):
        if not unused:
            program.ops[number].operation.erase()
    if unused:
        _Narrowing(program, unused, gone).run()
    return bool(unused or gone)


def _unused_views(program: BufferProgram) -> set[int]:
    """Ops that do nothing but show memory to nobody (3)."""
    gone: set[int] = set()
    for buffer in reversed(program.buffers):
        if buffer.kind not in (Kind.VIEW, Kind.CHOICE) or not gone.issuperset(program.users[buffer.number]):
            continue
        op = program.ops[buffer.producer]
        if dialect_of(op.name) in ("memref", "arith") and all(
            next(iter(result.uses), None) is None or number == buffer.number
            for number, result in zip(op.results, op.operation.results, strict=True)
        ):
            gone.add(op.number)
    return gone


def _unused(program: BufferProgram, slots: OwnershipSlots, gone: set[int]) -> list[OwnershipSlot]:
    """The slots of which nothing is used (1, 2): all but those that are used, and those that pass on to such."""
    plain = {slot.number: slot for slot in slots.slots if slot.returned < 0 and _is_plain(program, slot)}

    def sources(number: int) -> Iterator[int]:
        found = (slots.of_target.get(slots.source[key]) for key in plain[number].keys)
        return (slot.number for slot in found if slot is not None and slot.number in plain)

    used = reached((slot.number for slot in plain.values() if _is_used(program, slots, slot, plain, gone)), sources)
    return [slot for slot in plain.values() if slot.number not in used]


def _is_plain(program: BufferProgram, slot: OwnershipSlot) -> bool:
    return all(_is_passing(program, program.ops[op]) for op, _ in slot.keys) and all(
        program.buffers[target].kind is Kind.PASSED for target in slot.targets
    )


def _is_passing(program: BufferProgram, op: BufferOp) -> bool:
    if program.blocks[op.block].last == op.number and program.blocks[op.block].branches:
        return passes_more(op.operation)
    parent = program.blocks[op.block].parent
    return op.name in PASSING or (op.name in ENDS and parent >= 0 and program.ops[parent].name in PASSING)


def _is_used(
    program: BufferProgram, slots: OwnershipSlots, slot: OwnershipSlot, plain: Collection[int], gone: Collection[int]
) -> bool:
    """Whether an op uses a target of a slot, but to pass it into a plain slot."""
    for target in slot.targets:
        for user in program.users[target]:
            if user in gone:
                continue
            places = [i for i, value in enumerate(program.ops[user].operands) if value == target]
            keys: list[Key] = [(user, i) for i in places]
            passed_by = [slots.of_key.get(key) for key in keys]
            if not keys or any(each is None or each.number not in plain for each in passed_by):
                return True
    return False


class _Narrowing:
    """Makes ops again without some operands and results; from the last op, so that what goes has no uses left."""

    def __init__(self, program: BufferProgram, unused: Sequence[OwnershipSlot], gone: set[int]) -> None:
        self._program, self._gone = program, gone
        self._operands: dict[int, set[int]] = {}
        self._results: dict[int, set[int]] = {}
        self._arguments: dict[int, set[int]] = {}
        for slot in unused:
            for op, operand in slot.keys:
                self._operands.setdefault(op, set()).add(operand)
            for buffer in (program.buffers[target] for target in slot.targets):
                if buffer.producer >= 0:
                    self._results.setdefault(buffer.producer, set()).add(buffer.position)
                else:
                    self._arguments.setdefault(buffer.block, set()).add(buffer.position)

    def run(self) -> None:
        blocks = {number: self._block(number) for number in self._arguments}
        for number in sorted({*self._operands, *self._results, *self._gone}, reverse=True):
            op = self._program.ops[number]
            if number in self._gone:
                op.operation.erase()
            elif passes_more(op.operation):
                self._branch(op.operation, self._operands[number])
            else:
                self._narrow(op.operation, self._operands.get(number, set()), self._results.get(number, set()))
        for number, arguments in self._arguments.items():
            for index in sorted(arguments, reverse=True):
                cast(Any, blocks[number]).erase_argument(index)

    def _block(self, number: int) -> ir.Block:
        argument = next(value for value in self._program.blocks[number].arguments if value >= 0)
        return cast(ir.Block, self._program.buffers[argument].value.owner)

    def _branch(self, old: ir.Operation, dropped: set[int]) -> None:
        deciding, parts = operand_parts(old)
        at = len(deciding)
        rest: list[list[ir.Value]] = []
        for part in parts:
            rest.append([value for i, value in enumerate(part, at) if i not in dropped])
            at += len(part)
        remade_branch(old, rest)
        old.erase()

    def _narrow(self, old: ir.Operation, operands: set[int], results: set[int]) -> None:
        kept = [result for i, result in enumerate(old.results) if i not in results]
        passed = [value for i, value in enumerate(old.operands) if i not in operands]
        new = remade(old, passed, [r.type for r in kept])
        for before, after in zip(kept, new.results, strict=True):
            before.replace_all_uses_with(after)
        old.erase()
