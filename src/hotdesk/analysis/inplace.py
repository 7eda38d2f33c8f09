"""Which results overwrite their operands: read-after-write conflicts over views, for straight-line code.

A *contents group* is a tensor together with every view of it, now or later in the program: all of them show the same contents.
Writing into an operand's buffer replaces the contents of its group, so an op may write in place iff:

1. the buffer may be written: it is no constant, no weight, and no argument that was not donated;
2. no op after it reads a member of the group (the result is a group of its own, with the new contents);
3. the op itself reads the group only through the written operand, or through an operand that is the very same value and is
   read element by element at the element about to be written;
4. or the contents are undefined, and nobody could miss them;
5. and no earlier op has written in place into the group: its buffer holds that op's result now.

Contents that earlier writes into the same buffer replaced need no check: rule 2 held when they were replaced, so nobody reads
them any more. Decisions are taken in program order; each costs the readers of one group, so the analysis is linear in uses.

Not covered: branches and loops; disjoint slices of one buffer (a write to a slice conflicts with every later read of the whole).
"""

from __future__ import annotations

from dataclasses import dataclass

from hotdesk.analysis.displacement import find_displacement
from hotdesk.analysis.program import FunctionRecord, OpRecord
from hotdesk.analysis.readers import BufferState, Readers, conflict_of, find_readers
from hotdesk.explain import Reason


@dataclass(frozen=True, slots=True)
class OperandDecision:
    """Whether a tied operand is written in place, why, and the number of the op behind the reason.

    `fresh` says that its contents were undefined: a new buffer is written, and the reason says why no operand that dies here
    was overwritten instead.
    """

    op: int
    operand: int
    in_place: bool
    reason: Reason
    conflict: int | None = None
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class InPlaceAnalysis:
    """The decisions of a function in program order, by (op, operand) too."""

    decisions: tuple[OperandDecision, ...]
    by_operand: dict[tuple[int, int], OperandDecision]


def analyse_in_place(function: FunctionRecord) -> InPlaceAnalysis:
    """Decides every tied operand of a function, in program order."""
    readers = find_readers(function)
    state = BufferState(function)
    decisions: list[OperandDecision] = []
    for op in function.ops:
        in_place: dict[int, bool] = {}
        for operand, result in op.facts.ties:
            value = op.operands[operand]
            conflict = conflict_of(op, operand, value, readers, state)
            in_place[operand] = conflict is None
            if conflict is None:
                state.taken[readers.root[value]] = op.number
                decisions.append(_granted(function, op, operand, result, readers, state))
            else:
                decisions.append(OperandDecision(op.number, operand, False, *conflict))
        state.step(op, in_place)
    return InPlaceAnalysis(tuple(decisions), {(d.op, d.operand): d for d in decisions})


def _granted(
    function: FunctionRecord, op: OpRecord, operand: int, result: int, readers: Readers, state: BufferState
) -> OperandDecision:
    if op.operands[operand] not in state.undefined:
        return OperandDecision(op.number, operand, True, Reason.DIES_HERE)
    missed = find_displacement(function, op, result, readers, state)
    reason = Reason.OVERWRITTEN_UNREAD if missed.value is not None else missed.reason
    return OperandDecision(op.number, operand, True, reason, missed.conflict, fresh=True)
