"""Occupants of a place: contents that lie there, with the part they take and what defining them writes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hotdesk.analysis.tensors.extents import WHOLE, Extent, within
from hotdesk.analysis.tensors.program import NOT_A_TENSOR, OpRecord, TensorProgram
from hotdesk.analysis.tensors.readers import Readers


@dataclass(slots=True)
class Occupant:
    """A contents group in a place, or a copy into it.

    Attributes:
        group: whose contents they are.
        order, block: when and where they are defined.
        after: number of the first op that runs later.
        extent: the part of the place they take.
        written: the part that defining them writes; None if control flow passes them on.
        source: the group whose elements an insertion writes.
        writer: the op that writes it.
        copied: an operand is copied here before the op reads the others; so it is taken to be until the op is decided in place.
        sealed: everything that was in the place before is dead once they are defined.
        filled: the result that this is the copy of an operand for, in front of a parallel loop.
        passed: a terminator copies it here, for what comes next.
    """

    group: int
    order: int
    block: int
    after: int
    extent: Extent = WHOLE
    written: Extent | None = None
    source: int | None = None
    writer: int | None = None
    copied: bool = False
    sealed: bool = False
    filled: int | None = None
    passed: bool = False


def first_occupant(function: TensorProgram, readers: Readers, group: int, writer: OpRecord | None) -> Occupant:
    """A group in the place of its own where it begins; `writer` is the op that writes it, if one does."""
    value = function.values[group]
    first = (value.order + 1) // 2
    if writer is None:
        return Occupant(group, value.order, value.block, first)
    occupant = Occupant(group, value.order, value.block, first, WHOLE, WHOLE, writer=writer.number)
    occupant.copied = needs_contents(readers, writer, value.position)
    return occupant


def needs_contents(readers: Readers, op: OpRecord, result: int) -> bool:
    """Whether an operand has to be copied for a result if it is not overwritten."""
    operand = op.facts.tied_to(result)
    if operand is None or readers.root[op.operands[operand]] in readers.undefined:
        return False
    return op.facts.needs(operand)


def inserted(readers: Readers, op: OpRecord) -> Occupant:
    """What an insertion in a parallel loop writes into the loop's result."""
    part = op.facts.part
    assert part is not None
    assert part.source is not None
    source = op.operands[part.source]
    whole = readers.root[source] if readers.extent[source] is WHOLE else None
    written = readers.part(op)
    return Occupant(NOT_A_TENSOR, 2 * op.number, op.block, op.end, WHOLE, written, whole, op.number)


def order_of(occupant: Occupant) -> int:
    """When it is defined, to sort by."""
    return occupant.order


def moved(occupant: Occupant, extent: Extent) -> Occupant:
    """The same occupant in the part `extent` of another place."""
    return replace(occupant, extent=within(extent, occupant.extent))


def writers_of(function: TensorProgram) -> dict[int, OpRecord]:
    """The op that writes each value which is written when it is made: results of ops that are neither views nor passed on."""
    writers: dict[int, OpRecord] = {}
    for op in function.ops:
        shown = {result for _, result in (*op.facts.views, *op.facts.choices)}
        if op.flow is not None:
            continue
        for result, value in enumerate(op.results):
            if value != NOT_A_TENSOR and result not in shown:
                writers[value] = op
    return writers
