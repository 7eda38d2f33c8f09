"""Which calls may write a result over an argument that dies there, which may be larger or have other elements.

The result of a `func.call` is an allocation that it gets, and that nothing touched before. It gets the memory of an argument of
the call iff

1. the argument is an allocation of this function, the call gets it once and as a whole, and no other operand may be a part of it;
   no other result has its memory already (`no-dead-operand-of-same-size`, `not-writable-input`, `not-writable-constant`,
   `partial-view`, `read-by-same-op`, `already-overwritten`);
2. nothing touches the argument behind the call, nor the result before it; both are counted in the call's block (`read-later`,
   `different-block`);
3. the argument provably has as many bytes: numbers, or symbolic sizes by rule 2 of `analysis.allocations.sharing` (`too-small`,
   `size-not-proven`);
4. both are what rules 3 to 5 of `analysis.allocations.sharing` ask for: contiguous, ordinary memory in one space, freed as a
   whole or not at all. The memory gets the stricter alignment of the two;
5. the function that is called touches the argument before it touches the result, or reads it element by element where it writes
   that, keeps neither of them, and does not count on their alignment (rules 1 to 3 of `analysis.allocations.argument_order`)
   (`callee-keeps-argument`, `no-body`, `alignment-assumed`);
6. the peak does not rise, though the argument's memory is held as long as the result's (rule 6 of `sharing`) (`raises-peak`).

One result of each call does; the first argument that qualifies by rules 1, 2 and 5 is tried. Results that take over one another's
memory in a row all lie in that of the first argument.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hotdesk._bindings import ir
from hotdesk.analysis.allocations.argument_order import ArgumentOrder
from hotdesk.analysis.allocations.freeing_calls import FreeingCalls
from hotdesk.analysis.allocations.memory_slots import MemorySlot, shareable
from hotdesk.analysis.allocations.ranges import LiveRange, Unbounded
from hotdesk.analysis.allocations.sharing import Sharing
from hotdesk.analysis.allocations.uses import Allocation, Allocations
from hotdesk.analysis.memrefs.buffer_program import NOT_A_BUFFER, BufferOp, Kind
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.functions import callee_name
from hotdesk.ir.locations import source_of
from hotdesk.ir.op_maps import OpSet
from hotdesk.models.func import CALL

_FOREIGN = {
    Kind.ARGUMENT: Reason.NOT_WRITABLE_INPUT,
    Kind.GLOBAL: Reason.NOT_WRITABLE_CONSTANT,
    Kind.STACK: Reason.NOT_ORDINARY_MEMORY,
    Kind.VIEW: Reason.PARTIAL_VIEW,
}


@dataclass(frozen=True, slots=True)
class ReusedArgument:
    """Operand `result` of a call gets the memory of operand `argument`."""

    call: ir.Operation
    argument: int
    result: int


@dataclass(frozen=True, slots=True)
class _ArgumentRefusal:
    """Why an argument does not do, the op that is the reason, and how close it came."""

    rank: int
    reason: Reason
    op: ir.Operation


class ArgumentReuse:
    """The arguments that calls of one function reuse, and a decision for each result; the IR must not change meanwhile."""

    def __init__(self, function: ir.Operation, callees: Mapping[str, ArgumentOrder], freeing: FreeingCalls) -> None:
        self.allocations = Allocations(function, freeing)
        self._program, self._callees = self.allocations.program, callees
        self._owners = {each.buffer: each for each in self.allocations.on_heap}
        self._live: dict[int, LiveRange | Unbounded] = {}
        wanted: dict[int, tuple[ReusedArgument, Allocation]] = {}
        refused: list[tuple[BufferOp, Allocation, Reason, ir.Operation]] = []
        pairs: dict[int, int] = {}
        for op in self._program.ops:
            for number in self._results(op):
                taker = self._owners[op.operands[number]]
                found = self._find(op, number, taker)
                if isinstance(found, _ArgumentRefusal):
                    refused.append((op, taker, found.reason, found.op))
                    continue
                pairs[taker.buffer] = op.operands[found.argument]
                wanted[taker.buffer] = (found, taker)
                break
        sharing = Sharing(function, allocations=self.allocations, overwritten=pairs)
        self.slots: tuple[MemorySlot, ...] = tuple(slot for slot in sharing.slots if len(slot.users) > 1)
        self.found = tuple(reused for buffer, (reused, _) in wanted.items() if buffer not in sharing.refused)
        for buffer, (reused, taker) in wanted.items():
            because = sharing.refused.get(buffer)
            op = self._program.ops[self.allocations.positions[reused.call]]
            refused.append((op, taker, because or Reason.DIES_HERE, reused.call))
        refused.sort(key=lambda each: each[0].number)
        self.decisions = tuple(self._decision(*each) for each in refused)

    def _results(self, op: BufferOp) -> list[int]:
        """The operands of a call that are allocations which it is the first to touch."""
        if op.name != CALL:
            return []
        found = [n for n, buffer in enumerate(op.operands) if buffer in self._owners and op.operands.count(buffer) == 1]
        lives = [(n, self._range(op.operands[n])) for n in found]
        return [n for n, live in lives if isinstance(live, LiveRange) and _is_in(live, op) and live.lower == op.number]

    def _range(self, buffer: int) -> LiveRange | Unbounded:
        if buffer not in self._live:
            self._live[buffer] = shareable(self.allocations, self._owners[buffer])
        return self._live[buffer]

    def _find(self, op: BufferOp, result: int, taker: Allocation) -> ReusedArgument | _ArgumentRefusal:
        closest = _ArgumentRefusal(0, Reason.NO_DEAD_OPERAND_OF_SAME_SIZE, op.operation)
        if not set(taker.aliases).isdisjoint(op.operands[:result] + op.operands[result + 1 :]):
            return _ArgumentRefusal(1, Reason.READ_BY_SAME_OP, op.operation)
        for number, buffer in enumerate(op.operands):
            if number == result or buffer == NOT_A_BUFFER:
                continue
            refusal = self._why_not(op, number, result)
            if refusal is None:
                return ReusedArgument(op.operation, number, result)
            closest = max(closest, refusal, key=lambda each: each.rank)
        return closest

    def _why_not(self, op: BufferOp, argument: int, result: int) -> _ArgumentRefusal | None:
        """Rules 1, 2 and 5."""
        buffer = op.operands[argument]
        owner = self._owners.get(buffer)
        if owner is None:
            kind = self._program.buffers[buffer].kind
            return _ArgumentRefusal(1, _FOREIGN.get(kind, Reason.PARTIAL_VIEW), op.operation)
        if len([value for value in op.operands if value in owner.aliases]) > 1:
            return _ArgumentRefusal(2, Reason.READ_BY_SAME_OP, op.operation)
        live = self._range(buffer)
        if isinstance(live, Unbounded):
            return _ArgumentRefusal(2, live.reason, self._program.ops[live.op].operation)
        if live.upper > op.end:
            return _ArgumentRefusal(3, Reason.READ_LATER, self._later(owner, op))
        if not _is_in(live, op):
            return _ArgumentRefusal(3, Reason.DIFFERENT_BLOCK, op.operation)
        if live.lower >= op.number:
            return _ArgumentRefusal(2, Reason.NO_DEAD_OPERAND_OF_SAME_SIZE, op.operation)
        callee = self._callees.get(callee_name(op.operation))
        why = (Reason.NO_BODY, op.operation) if callee is None else callee.why_not(argument, result)
        return None if why is None else _ArgumentRefusal(4, *why)

    def _later(self, owner: Allocation, op: BufferOp) -> ir.Operation:
        later = [user for user in owner.users if user > op.number and user not in owner.frees]
        return self._program.ops[later[0]].operation if later else op.operation

    def _decision(self, op: BufferOp, taker: Allocation, reason: Reason, because: ir.Operation) -> Decision:
        sources = [source_of(each) for each in OpSet((op.operation, because))]
        outcome = Outcome.IN_PLACE if reason is Reason.DIES_HERE else Outcome.ALLOCATED
        return Decision(f"result of {CALL}", outcome, reason, tuple(sources), self.allocations.bytes(taker))


def _is_in(live: LiveRange, op: BufferOp) -> bool:
    """Whether a live range is counted in the block of an op."""
    return live.block == op.block and not live.spread
