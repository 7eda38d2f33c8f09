"""Memory displacement: an op whose destination is undefined writes over an operand that dies there.

    %e = tensor.empty()
    %r = linalg.generic ins(%x) outs(%e)        ->        %r = linalg.generic ins(%x) outs(%x)

Legal iff the op does not read its destination, and for the operand `%x`:

1. it is read element by element at the element being written;
2. it has the result's element type and, provably, its sizes;
3. in-place analysis allows the write: it is writable and nobody reads it, or a view of it, later;
4. it covers its whole buffer, so that a small result does not keep a large buffer alive.

An op none of whose operands qualifies keeps its own destination; the decision says which operand came closest and why not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.analysis.inplace import BufferState, Readers, conflict_of, find_readers
from hotdesk.analysis.program import NOT_A_TENSOR, FunctionRecord, OpRecord, read_function
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.passes.base import Pass


@dataclass(frozen=True, slots=True)
class ChooseDestinations(Pass):
    """Gives ops with undefined destinations an operand that dies there (rules in the module docstring)."""

    name: ClassVar[str] = "hotdesk-choose-destinations"

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        decisions: list[Decision] = []
        for function in module.body.operations:
            if function.operation.name == "func.func":
                decisions.extend(_choose(read_function(function.operation)))
        return tuple(decisions)


def _choose(function: FunctionRecord) -> list[Decision]:
    readers = find_readers(function)
    state = BufferState(function)
    decisions: list[Decision] = []
    for op in function.ops:
        in_place: dict[int, bool] = {}
        for operand, result in op.facts.ties:
            value = op.operands[operand]
            in_place[operand] = conflict_of(op, operand, value, readers, state) is None
            if value not in state.undefined or operand in op.facts.reads:
                if in_place[operand]:
                    state.taken[readers.root[value]] = op.number
                continue
            chosen, reason, conflict = _best_operand(function, op, result, readers, state)
            subject = f"{op.name} result {result}" if len(op.results) > 1 else op.name
            size = function.values[op.results[result]].bytes
            because = (op.source, *([function.ops[conflict].source] if conflict is not None else []))
            if chosen is None:
                state.taken[readers.root[value]] = op.number
                decisions.append(Decision(subject, Outcome.ALLOCATED, reason, because, size))
                continue
            op.operation.operands[operand] = function.values[chosen].value
            decisions.append(Decision(subject, Outcome.IN_PLACE, reason, because, size))
            in_place[operand] = True
            state.taken[readers.root[chosen]] = op.number
        state.step(op, in_place)
    return decisions


def _best_operand(
    function: FunctionRecord, op: OpRecord, result: int, readers: Readers, state: BufferState
) -> tuple[int | None, Reason, int | None]:
    """The operand to overwrite and why, or None with the reason of the operand that came closest."""
    wanted = function.values[op.results[result]]
    closest: tuple[int, Reason, int | None] = (0, Reason.NO_DEAD_OPERAND_OF_SAME_SIZE, None)
    for number in range(len(op.operands)):
        value = op.operands[number]
        if value == NOT_A_TENSOR or number not in op.facts.reads:
            continue
        candidate = function.values[value]
        conflict = conflict_of(op, number, value, readers, state)
        if candidate.shape != wanted.shape:
            rank, refusal = 1, (_shape_reason(candidate.shape, wanted.shape), None)
        elif candidate.element != wanted.element:
            rank, refusal = 2, (Reason.DIFFERENT_ELEMENT_TYPE, None)
        elif number not in op.facts.elementwise:
            rank, refusal = 3, (Reason.READ_BY_SAME_OP, op.number)
        elif conflict is not None:
            rank, refusal = 4, conflict
        elif value not in state.whole:
            rank, refusal = 5, (Reason.PARTIAL_VIEW, None)
        else:
            return value, Reason.DIES_HERE, None
        if rank > closest[0]:
            closest = (rank, *refusal)
    return None, closest[1], closest[2]


def _shape_reason(candidate: tuple[object, ...], wanted: tuple[object, ...]) -> Reason:
    symbolic = len(candidate) == len(wanted) and any(
        a != b and not (isinstance(a, int) and isinstance(b, int)) for a, b in zip(candidate, wanted, strict=True)
    )
    return Reason.SIZE_NOT_PROVEN_EQUAL if symbolic else Reason.NO_DEAD_OPERAND_OF_SAME_SIZE


