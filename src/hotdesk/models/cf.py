"""Branches between blocks: what they pass to the arguments of the blocks that they lead to; and assertions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hotdesk._bindings import ir
from hotdesk.ir.building import remade
from hotdesk.ir.types import is_tensor
from hotdesk.ir.walking import int_array, segment_sizes
from hotdesk.models.facts import no_facts
from hotdesk.models.model import Buffers, OpModel

ASSERT = "cf.assert"
"""Ends the call with an error if what it is given is false: a check."""
Branches = tuple[tuple[int, int, int], ...]


def _br(op: ir.Operation) -> Branches:
    return tuple((i, 0, i) for i in range(len(op.operands)))


def _cond_br(op: ir.Operation) -> Branches:
    """Operands: the condition, what the first successor gets, what the second one gets."""
    if len(op.operands) == 1:
        return ()
    _, first, second = segment_sizes(op)
    return (*((1 + i, 0, i) for i in range(first)), *((1 + first + i, 1, i) for i in range(second)))


def _switch(op: ir.Operation) -> Branches:
    """Operands: the flag, what the default successor gets, and what the others get, one after another."""
    default = segment_sizes(op)[1]
    counts = [default, *int_array(op.attributes["case_operand_segments"])]
    found: list[tuple[int, int, int]] = []
    operand = 1
    for successor, count in enumerate(counts):
        found.extend((operand + i, successor, i) for i in range(count))
        operand += count
    return tuple(found)


def branch_segments(op: ir.Operation, counts: Sequence[int]) -> dict[str, ir.Attribute]:
    """The attributes that say how many operands each successor of a branch gets, where one is passed so many to each."""
    if op.name == "cf.br":
        return {}
    if op.name != "cf.switch":
        return {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, *counts])}
    return {
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, counts[0], sum(counts[1:])]),
        "case_operand_segments": ir.DenseI32ArrayAttr.get(counts[1:]),
    }


def _bufferize(op: ir.Operation, buffers: Buffers) -> None:
    operands = [buffers.leaving(op, i) if is_tensor(v.type) else v for i, v in enumerate(op.operands)]
    buffers.replaced_by(remade(op, operands, []))


def _model(branches: Callable[[ir.Operation], Branches]) -> OpModel:
    return OpModel(no_facts, _bufferize, branches=branches, takes_scalars=True)


MODELS = {
    "cf.br": _model(_br),
    "cf.cond_br": _model(_cond_br),
    "cf.switch": _model(_switch),
    ASSERT: OpModel(no_facts),
}
