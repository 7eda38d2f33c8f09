"""Memory displacement: which operand that dies at an op its result can overwrite.

An operand qualifies iff, for an op that does not read its destination:

1. it is read element by element at the element being written;
2. it has the result's element type, memory space and, provably, sizes, and the types of both or of neither say them;
3. in-place analysis allows the write: it is writable and nobody reads it, or a view of it, later;
4. it covers its whole buffer, so that a small result does not keep a large buffer alive;
5. it does not lie in memory that the caller says the result must stay out of: arguments', for what a function returns in memory
   of its caller's.

Of several, one in a writable argument's memory goes first: nobody else can use that. When none qualifies, the answer names the
operand that came closest and the rule it failed.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from hotdesk.analysis.in_place.interference import Clash
from hotdesk.analysis.in_place.places import Places
from hotdesk.analysis.tensors.program import NOT_A_TENSOR, FunctionRecord, OpRecord
from hotdesk.analysis.tensors.readers import Readers
from hotdesk.explain import Reason
from hotdesk.ir.types import same_space, shape_of


@dataclass(frozen=True, slots=True)
class Displacement:
    """The value number of the operand to overwrite, or None with the reason why not and the op number behind it.

    `candidate` is the value that came closest, and `clash` what would be read too late if it were overwritten.
    """

    value: int | None
    reason: Reason
    conflict: int | None = None
    candidate: int | None = field(default=None, compare=False)
    clash: Clash | None = field(default=None, compare=False)


def find_displacement(
    function: FunctionRecord,
    op: OpRecord,
    result: int,
    places: Places,
    readers: Readers,
    apart: Collection[int] = (),
) -> Displacement:
    """The operand of `op` that result number `result` can overwrite (rules in the module docstring).

    `apart` are the places that the result must stay out of.
    """
    wanted = function.values[op.results[result]]
    closest = Displacement(None, Reason.NO_DEAD_OPERAND_OF_SAME_SIZE)
    closest_rank = 0
    qualified: list[int] = []
    for number, value in enumerate(op.operands):
        if value == NOT_A_TENSOR or number not in op.facts.reads:
            continue
        candidate = function.values[value]
        if candidate.shape != wanted.shape:
            rank, refusal = 1, Displacement(None, _shape_reason(candidate.shape, wanted.shape), None, value)
        elif shape_of(candidate.value.type) != shape_of(wanted.value.type):
            rank, refusal = 1, Displacement(None, Reason.SIZE_NOT_PROVEN_EQUAL, None, value)
        elif candidate.element != wanted.element:
            rank, refusal = 2, Displacement(None, Reason.DIFFERENT_ELEMENT_TYPE, None, value)
        elif not same_space(function.space(value), function.space(wanted.number)):
            rank, refusal = 2, Displacement(None, Reason.OTHER_MEMORY_SPACE, None, value)
        elif number not in op.facts.elementwise:
            rank, refusal = 3, Displacement(None, Reason.READ_BY_SAME_OP, op.number, value)
        elif readers.root[value] in readers.undefined:
            continue
        elif (conflict := places.conflict(op, number, value, result)) is not None:
            rank, refusal = 4, Displacement(None, conflict.reason, conflict.op, value, conflict.clash)
        elif places.place_of(value) is None:
            rank, refusal = 5, Displacement(None, Reason.PARTIAL_VIEW, None, value)
        elif places.place_of(value) in apart:
            rank, refusal = 6, Displacement(None, Reason.RESULT_SLOT, None, value)
        else:
            qualified.append(value)
            continue
        if rank > closest_rank:
            closest_rank, closest = rank, refusal
    if not qualified:
        return closest
    owned = {places.find(argument) for argument in function.writable_arguments}
    return Displacement(next((v for v in qualified if places.place_of(v) in owned), qualified[0]), Reason.DIES_HERE)


def _shape_reason(candidate: tuple[object, ...], wanted: tuple[object, ...]) -> Reason:
    symbolic = len(candidate) == len(wanted) and any(
        a != b and not (isinstance(a, int) and isinstance(b, int)) for a, b in zip(candidate, wanted, strict=True)
    )
    return Reason.SIZE_NOT_PROVEN_EQUAL if symbolic else Reason.NO_DEAD_OPERAND_OF_SAME_SIZE
