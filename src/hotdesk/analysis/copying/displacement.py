"""Memory displacement on buffers: which results are written over an operand that dies there, without a copy.

The result of an op is an allocation that it writes, and that nothing touched before. It gets an operand's memory iff

1. the op reads the operand element by element at the element being written (`Facts.elementwise`, which is the rule on tensors),
   does not read what the result held, and touches the operand's memory in no other way (`read-by-same-op`);
2. both have one type, and neither is a part of a buffer (`no-dead-operand-of-same-size`, `different-element-type`,
   `different-layout`, `other-memory-space`, `partial-view`, `other-type`);
3. nothing touches the operand's memory after the op: it is an allocation of the op's block that stays there, or the block frees
   it behind the op, wherever it was made, in front of what uses the result. Arguments and globals belong to somebody
   else (`read-later`, `different-block`, `not-writable-input`, `not-writable-constant`, `leaves-scope`, `destination-later`);
4. it is clear who frees: the result's deallocations free the operand's memory, so that the operand's go. If nothing frees the
   result, and it stays in its block, nothing frees the operand either (`freed-elsewhere`, `freed-by-another-op`);
5. the result's memory may be other memory (`models.new_memory`), and no op counts on its alignment; what is on the
   stack is not used for what is on the heap, nor the other way (`alignment-assumed`, `not-ordinary-memory`,
   `does-more-than-allocate`, `asynchronous`, `not-known-to-move`).

The first operand that qualifies is taken. Results that take over one another's memory in a row end in that of the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.analysis.allocations.freeing_calls import FreeingCalls
from hotdesk.analysis.allocations.retyping import TypeFit, fit_of
from hotdesk.analysis.allocations.uses import Allocation, bytes_of
from hotdesk.analysis.copying.context import CopyContext
from hotdesk.analysis.copying.copies import Copy
from hotdesk.analysis.memrefs.aliasing import Alias
from hotdesk.analysis.memrefs.buffer_program import BufferOp, Kind
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.types import is_memref, same_space, shape_of
from hotdesk.models.generics import is_linalg
from hotdesk.models.memory_effects import Effects, copy_of, overwritten, payload_effects, read_as_written

_FOREIGN = {Kind.ARGUMENT: Reason.NOT_WRITABLE_INPUT, Kind.GLOBAL: Reason.NOT_WRITABLE_CONSTANT}


@dataclass(frozen=True, slots=True)
class Displaced:
    """The uses of allocation `result` become those of `memref`; `erased` are the deallocations that go."""

    result: ir.Operation
    memref: ir.Value
    erased: tuple[ir.Operation, ...]


@dataclass(frozen=True, slots=True)
class _OperandRefusal:
    """Why an operand does not do, the op that is the reason, and how close it came."""

    rank: int
    reason: Reason
    op: int


class Displacements:
    """What is displaced in one function, and a decision for each result; the IR must not change meanwhile."""

    def __init__(self, function: ir.Operation, freeing: FreeingCalls | None = None) -> None:
        self._context = CopyContext(function, freeing=freeing)
        self._memory, self._program = self._context.memory, self._context.program
        self._taken: set[int] = set()
        self.found: list[Displaced] = []
        self.decisions: list[Decision] = []
        for op in self._program.ops:
            if is_linalg(op.operation) and copy_of(op.operation) is None:
                for target in self._results(op):
                    self._decide(op, target)

    def _results(self, op: BufferOp) -> Iterator[Allocation]:
        """The allocations that an op is the first to touch, and writes; only of ops that read memory."""
        operands, results = list(op.operation.operands), overwritten(op.operation)
        inputs = [value for i, value in enumerate(operands) if i not in results and is_memref(value.type)]
        if not inputs or payload_effects(op.operation) != Effects():
            return
        for value in (operands[i] for i in sorted(results)):
            number = self._program.numbers[value]
            owner = self._memory.owner(number)
            if owner is None or owner.buffer != number or operands.count(value) > 1:
                continue
            if self._memory.next_touching({number}, 0, op.number) is None:
                yield owner

    def _decide(self, op: BufferOp, target: Allocation) -> None:
        closest = _OperandRefusal(0, Reason.NO_DEAD_OPERAND_OF_SAME_SIZE, op.number)
        for operand, value in enumerate(op.operation.operands):
            number = self._program.numbers.get(value)
            if number is None or number == target.buffer or not is_memref(value.type) or number in self._taken:
                continue
            found = self._displaced(op, operand, number, target)
            if isinstance(found, Displaced):
                self._taken.add(number)
                self.found.append(found)
                self._say(op, target, Outcome.IN_PLACE, Reason.DIES_HERE, op.number)
                return
            closest = max(closest, found, key=lambda refusal: refusal.rank)
        self._say(op, target, Outcome.ALLOCATED, closest.reason, closest.op)

    def _displaced(self, op: BufferOp, operand: int, source: int, target: Allocation) -> Displaced | _OperandRefusal:
        context, program, here = self._context, self._program, op.number
        value = context.value(source)
        unlike = _why_unlike(value.type, context.value(target.buffer).type)
        if unlike is not None:
            return _OperandRefusal(1 if unlike is Reason.NO_DEAD_OPERAND_OF_SAME_SIZE else 2, unlike, here)
        if operand not in read_as_written(op.operation) or self._is_touched_otherwise(op, source, target):
            return _OperandRefusal(3, Reason.READ_BY_SAME_OP, here)
        foreign = _FOREIGN.get(program.buffers[program.root(source)].kind)
        if foreign is not None:
            return _OperandRefusal(4, foreign, here)
        pair = Copy(here, source, target.buffer)
        owner, freed = self._memory.owner(source), context.freed_here(pair, target)
        if owner is not None and context.aliases.relation(context.value(owner.buffer), value) is not Alias.MUST:
            return _OperandRefusal(5, Reason.PARTIAL_VIEW, here)
        later = self._memory.next_touching(self._memory.classes(source), here + 1, freed or len(program.ops))
        if later is not None:
            return _OperandRefusal(6, Reason.READ_LATER, later)
        return self._displaced_dead(pair, owner, target, freed)

    def _displaced_dead(
        self, pair: Copy, owner: Allocation | None, target: Allocation, freed: int | None
    ) -> Displaced | _OperandRefusal:
        """Rules 3 to 5, for an operand that nothing touches any more as far as its block tells."""
        context, memory, ops = self._context, self._memory, self._program.ops
        stays = memory.is_viewed_only(target) and not memory.leaves(target)
        if not context.is_here(target, pair):
            return _OperandRefusal(6, Reason.DIFFERENT_BLOCK, target.op)
        if kept := context.why_kept(target):
            return _OperandRefusal(6, kept, target.op)
        if min(target.users) <= context.defined(pair.source, pair):
            return _OperandRefusal(6, Reason.DESTINATION_LATER, min(target.users))
        fit = fit_of(self._program, target, pair.source, stays=stays)
        if fit is not TypeFit.SAME:
            reason, because = (Reason.OTHER_TYPE, target.op) if isinstance(fit, TypeFit) else fit
            return _OperandRefusal(6, reason, because)
        erased: tuple[int, ...] = () if freed is None else (freed,)
        if freed is None:
            if owner is None or owner.buffer != pair.source or not context.is_here(owner, pair):
                return _OperandRefusal(6, Reason.DIFFERENT_BLOCK, pair.op)
            if memory.leaves(owner) or not memory.is_viewed_only(owner):
                return _OperandRefusal(6, Reason.LEAVES_SCOPE, max(owner.users))
            if context.is_heap(owner) != context.is_heap(target):
                return _OperandRefusal(6, Reason.NOT_ORDINARY_MEMORY, owner.op)
            if context.is_heap(owner) and not context.are_freed_alike(owner, target):
                return _OperandRefusal(6, Reason.FREED_BY_ANOTHER_OP, owner.op)
            if owner.frees:
                return _OperandRefusal(6, Reason.FREED_ELSEWHERE, owner.frees[0])
        elif not context.is_heap(target):
            return _OperandRefusal(6, Reason.NOT_ORDINARY_MEMORY, target.op)
        if erased and not target.frees and stays:
            return _OperandRefusal(6, Reason.FREED_ELSEWHERE, erased[0])
        return Displaced(ops[target.op].operation, context.value(pair.source), tuple(ops[n].operation for n in erased))

    def _is_touched_otherwise(self, op: BufferOp, source: int, target: Allocation) -> bool:
        """Whether an op touches memory of an operand by another memref, or by the same one otherwise than element by element.

        What was there before the result was allocated is not the result, whatever comes round a loop as either.
        """
        context, classes, value = self._context, self._memory.classes(source), self._context.value(source)
        elementwise, result = read_as_written(op.operation), context.value(target.buffer)
        earlier = context.defined(source, Copy(op.number, source, target.buffer)) < target.op
        for number, other in enumerate(op.operation.operands):
            if (
                not is_memref(other.type)
                or not self._memory.classes_of(other) & classes
                or (earlier and other == result)
            ):
                continue
            same = other == value and number in elementwise
            if not same and not context.aliases.relation(other, value).apart:
                return True
        return False

    def _say(self, op: BufferOp, target: Allocation, outcome: Outcome, reason: Reason, because: int) -> None:
        allocations = self._memory.allocations
        sources = tuple(map(allocations.source, dict.fromkeys((op.number, because))))
        size = bytes_of(self._context.value(target.buffer), allocations.sizes)
        self.decisions.append(Decision(f"result of {op.name}", outcome, reason, sources, size))


def _why_unlike(candidate: ir.Type, wanted: ir.Type) -> Reason | None:
    """Rule 2: why an operand's type is not the result's."""
    if candidate == wanted:
        return None
    a, b = cast(Any, candidate), cast(Any, wanted)
    if not (isinstance(a, ir.MemRefType) and isinstance(b, ir.MemRefType)) or shape_of(a) != shape_of(b):
        return Reason.NO_DEAD_OPERAND_OF_SAME_SIZE
    if a.element_type != b.element_type:
        return Reason.DIFFERENT_ELEMENT_TYPE
    return Reason.OTHER_MEMORY_SPACE if not same_space(a.memory_space, b.memory_space) else Reason.DIFFERENT_LAYOUT
