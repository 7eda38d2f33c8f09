"""Computes values where they are inserted in the end, so that the insertion copies nothing.

    %e = tensor.empty() : tensor<4xf32>                %e = tensor.extract_slice %d[2] [4] [1]
    %a = linalg.map ins(%x) outs(%e)            ->     %a = linalg.map ins(%x) outs(%e)
    %r = tensor.insert_slice %a into %d[2] [4] [1]     %r = tensor.insert_slice %a into %d[2] [4] [1]

Legal iff rules 1 to 6 of `analysis.insertion.insertions` hold for the chain from a `tensor.empty` to the insertion; where only
the destination comes too late, the chain moves down to it. A value that is put into a whole destination
(`bufferization.materialize_in_destination`) takes all of it. One-shot bufferization then sees one buffer throughout.
`tensor.concat` and `tensor.pad` become insertions by `hotdesk-decompose-concat-and-pad`, which goes first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

from hotdesk._bindings import ir
from hotdesk.analysis.insertion.chain import Chain
from hotdesk.analysis.insertion.insertions import INSERTIONS, find_chain
from hotdesk.analysis.insertion.raised_peak import RaisedPeak
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.building import cast_to, create
from hotdesk.ir.locations import source_of
from hotdesk.ir.types import SLICE, is_memref
from hotdesk.ir.walking import defining_op, nested_ops, segment_sizes
from hotdesk.models.bufferization import MATERIALIZE, TO_TENSOR
from hotdesk.passes.base import FunctionPass
from hotdesk.program.symbolic import byte_size


@dataclass(frozen=True, slots=True)
class EliminateEmptyTensors(FunctionPass):
    """Replaces `tensor.empty` by the slice that its contents are inserted into (rules in `analysis.insertion.insertions`)."""

    name: ClassVar[str] = "hotdesk-eliminate-empty-tensors"
    reasons: ClassVar[tuple[Reason, ...]] = (
        Reason.WRITTEN_IN_DESTINATION,
        Reason.DESTINATION_LATER,
        Reason.DESTINATION_RAISES_PEAK,
        Reason.DESTINATION_SHARED,
        Reason.DIFFERENT_BLOCK,
        Reason.MULTIPLE_READERS,
        Reason.READ_BY_SAME_OP,
        Reason.READ_LATER,
    )

    def run_on(self, function: ir.Operation) -> Iterator[Decision]:
        held = RaisedPeak(function)
        for op in [op for op in nested_ops(function) if op.name in INSERTIONS]:
            found, size = find_chain(op, held), byte_size(op.operands[0], function)
            if found is not None:
                decision = _rewrite(found) if isinstance(found, Chain) else found
                yield replace(decision, bytes=size)


def _rewrite(chain: Chain) -> Decision:
    insertion, first = chain.insertion, chain.links[0]
    if chain.moves:
        anchor = insertion if insertion.block == first.block else cast(Any, insertion.parent)
        for link in chain.links:
            link.move_before(anchor)
    empty = first.operands[chain.operand]
    first.operands[chain.operand] = cast_to(_place(insertion, first), empty.type, first)
    op = defining_op(empty)
    if op is not None and next(iter(empty.uses), None) is None:
        op.erase()
    source = source_of(insertion)
    return Decision(f"source of {insertion.name}", Outcome.IN_PLACE, Reason.WRITTEN_IN_DESTINATION, (source,))


def _place(insertion: ir.Operation, before: ir.Operation) -> ir.Value:
    """The part of the destination that the insertion writes, as a tensor."""
    source, destination, *rest = insertion.operands
    if is_memref(destination.type):
        promises: dict[str, ir.Attribute] = {"restrict": ir.UnitAttr.get(), "writable": ir.UnitAttr.get()}
        return create(TO_TENSOR, [destination], [source.type], promises, before=before).results[0]
    if insertion.name == MATERIALIZE:
        return destination
    attributes: dict[str, ir.Attribute] = {name: insertion.attributes[name] for name in SLICE}
    attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([1, *segment_sizes(insertion)[-3:]])
    return create("tensor.extract_slice", [destination, *rest], [source.type], attributes, before=before).results[0]
