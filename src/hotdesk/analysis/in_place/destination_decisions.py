"""Where ops in destination-passing style write: over which operand, in place or by displacement, and why not over another.

An operand with contents is overwritten iff in-place analysis finds nothing that would be lost. One without contents (a
`tensor.empty`) gives way to an operand that dies there, by the rules of `displacement`; a part of one does not, because an
insertion puts the result there.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from hotdesk.analysis.in_place.displacement import find_displacement
from hotdesk.analysis.in_place.places import Places
from hotdesk.analysis.tensors.extents import WHOLE
from hotdesk.analysis.tensors.program import OpRecord, TensorProgram
from hotdesk.analysis.tensors.readers import Readers
from hotdesk.explain import Reason


@dataclass(frozen=True, slots=True)
class DestinationDecision:
    """At op `op`, result number `result` is written over value `value`, or over nothing that exists if that is None.

    `operand` is the operand tied to the result. If `fresh`, it has no contents, and `value` is to take its place; otherwise
    `value` is the operand itself. `conflict` is the op behind the reason.
    """

    op: int
    operand: int
    result: int
    value: int | None
    reason: Reason
    conflict: int | None = None
    fresh: bool = False


def decide_destination(
    function: TensorProgram,
    op: OpRecord,
    places: Places,
    readers: Readers,
    lent: Collection[int] = (),
) -> list[DestinationDecision]:
    """Decides the tied operands of an op, in order, and puts results where they are to be written.

    `lent` are contents groups that have memory of the caller's in the end, so that they stay out of arguments.
    """
    found: list[DestinationDecision] = []
    for operand, result in op.facts.ties:
        if readers.root[op.operands[operand]] in readers.undefined:
            returned = readers.root[op.results[result]] in lent
            apart = {places.find(argument) for argument in function.writable_arguments} if returned else ()
            taken = _displaced(function, op, operand, result, places, readers, apart)
        else:
            taken = _overwritten(op, operand, result, places)
        if taken.value is not None:
            places.join(taken.value, op.results[result])
        found.append(taken)
    return found


def _overwritten(op: OpRecord, operand: int, result: int, places: Places) -> DestinationDecision:
    value = op.operands[operand]
    conflict = places.conflict(op, operand, value, result)
    if conflict is not None:
        return DestinationDecision(op.number, operand, result, None, conflict.reason, conflict.op)
    return DestinationDecision(op.number, operand, result, value, Reason.DIES_HERE)


def _displaced(
    function: TensorProgram,
    op: OpRecord,
    operand: int,
    result: int,
    places: Places,
    readers: Readers,
    apart: Collection[int],
) -> DestinationDecision:
    if readers.extent[op.operands[operand]] is not WHOLE:
        return DestinationDecision(op.number, operand, result, None, Reason.WRITTEN_IN_DESTINATION, fresh=True)
    found = find_displacement(function, op, result, places, readers, apart)
    if found.value is not None and operand in op.facts.reads:
        return DestinationDecision(op.number, operand, result, None, Reason.OVERWRITTEN_UNREAD, fresh=True)
    return DestinationDecision(op.number, operand, result, found.value, found.reason, found.conflict, fresh=True)
