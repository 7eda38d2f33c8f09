"""Memory displacement: which operand that dies at an op its result can overwrite.

An operand qualifies iff, for an op that does not read its destination:

1. it is read element by element at the element being written (`read-by-same-op`);
2. it has the result's element type, memory space and, provably, sizes, and the types of both or of neither say them
   (`different-element-type`, `different-layout`, `other-memory-space`, `no-dead-operand-of-same-size`,
   `size-not-proven-equal`);
3. in-place analysis allows the write: it is writable and nobody reads it, or a view of it, later (`read-later`,
   `already-overwritten`, `not-writable-input`, `not-writable-weight`, `not-writable-constant`, `not-writable-memory`,
   `runs-in-parallel`);
4. it covers its whole buffer, so that a small result does not keep a large buffer alive (`partial-view`);
5. it does not lie in memory that the caller says the result must stay out of: arguments', for what a function returns in memory
   of its caller's (`result-slot`).

Of several, one in a writable argument's memory goes first: nobody else can use that. When none qualifies, the answer names the
operand that came closest and the first rule it failed, and says whether that was the only one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace

from hotdesk.analysis.in_place.interference import Clash
from hotdesk.analysis.in_place.places import Places
from hotdesk.analysis.tensors.program import NOT_A_TENSOR, OpRecord, TensorProgram
from hotdesk.analysis.tensors.readers import Readers
from hotdesk.explain import Reason
from hotdesk.ir.types import same_space, shape_of

_ELEMENTWISE = 3  # how close an operand comes that is not read element by element


@dataclass(frozen=True, slots=True)
class Displacement:
    """The value number of the operand to overwrite, or None with the reason why not and the op number behind it.

    `candidate` is the value that came closest, and `clash` what would be read too late if it were overwritten; `alone` says that
    it fails no other rule.
    """

    value: int | None
    reason: Reason
    conflict: int | None = None
    candidate: int | None = field(default=None, compare=False)
    clash: Clash | None = field(default=None, compare=False)
    alone: bool = field(default=False, compare=False)


def find_displacement(
    function: TensorProgram,
    op: OpRecord,
    result: int,
    places: Places,
    readers: Readers,
    apart: Collection[int] = (),
) -> Displacement:
    """The operand of `op` that result number `result` can overwrite (rules in the module docstring).

    `apart` are the places that the result must stay out of.
    """
    closest = Displacement(None, Reason.NO_DEAD_OPERAND_OF_SAME_SIZE)
    closest_rank = 0
    qualified: list[int] = []
    for number, value in enumerate(op.operands):
        if value == NOT_A_TENSOR or number not in op.facts.reads:
            continue
        failures = _failures(function, op, number, result, places, apart)
        first = next(failures, None)
        if readers.root[value] in readers.undefined and (first is None or first[0] > _ELEMENTWISE):
            continue
        if first is None:
            qualified.append(value)
        elif first[0] > closest_rank:
            closest_rank, closest = first[0], replace(first[1], alone=next(failures, None) is None)
    if not qualified:
        return closest
    chosen = qualified[0]
    if len(qualified) > 1:
        owned = {places.find(argument) for argument in function.writable_arguments}
        chosen = next((value for value in qualified if places.place_of(value) in owned), chosen)
    return Displacement(chosen, Reason.DIES_HERE)


def _failures(
    function: TensorProgram, op: OpRecord, number: int, result: int, places: Places, apart: Collection[int]
) -> Iterator[tuple[int, Displacement]]:
    """The rules that an operand fails, in their order; the later the first one comes, the closer the operand."""
    value, wanted = op.operands[number], function.values[op.results[result]]
    candidate = function.values[value]
    if candidate.shape != wanted.shape:
        yield 1, Displacement(None, _shape_reason(candidate.shape, wanted.shape), None, value)
    elif shape_of(candidate.value.type) != shape_of(wanted.value.type):
        yield 1, Displacement(None, Reason.SIZE_NOT_PROVEN_EQUAL, None, value)
    if candidate.element != wanted.element:
        yield 2, Displacement(None, Reason.DIFFERENT_ELEMENT_TYPE, None, value)
    if not same_space(function.space(value), function.space(wanted.number)):
        yield 2, Displacement(None, Reason.OTHER_MEMORY_SPACE, None, value)
    if number not in op.facts.elementwise:
        yield _ELEMENTWISE, Displacement(None, Reason.READ_BY_SAME_OP, op.number, value)
    conflict = places.conflict(op, number, value, result)
    if conflict is not None:
        yield 4, Displacement(None, conflict.reason, conflict.op, value, conflict.clash)
    if places.place_of(value) is None:
        yield 5, Displacement(None, Reason.PARTIAL_VIEW, None, value)
    if places.place_of(value) in apart:
        yield 6, Displacement(None, Reason.RESULT_SLOT, None, value)


def _shape_reason(candidate: tuple[object, ...], wanted: tuple[object, ...]) -> Reason:
    symbolic = len(candidate) == len(wanted) and any(
        a != b and not (isinstance(a, int) and isinstance(b, int)) for a, b in zip(candidate, wanted, strict=True)
    )
    return Reason.SIZE_NOT_PROVEN_EQUAL if symbolic else Reason.NO_DEAD_OPERAND_OF_SAME_SIZE
