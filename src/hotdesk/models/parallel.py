"""Parallel loops: `scf.parallel`, which reduces (`reductions`), and `scf.forall`, whose threads insert parts of shared tensors.

A result of `scf.forall` is written over the operand that it begins with, as by an op in destination-passing style; inside, the
operand is seen as it was before the loop.
"""

from __future__ import annotations

from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.building import create
from hotdesk.ir.types import DYNAMIC, shape_of
from hotdesk.ir.walking import int_array, segment_sizes
from hotdesk.models import reductions
from hotdesk.models.facts import Facts, Flow, no_facts
from hotdesk.models.model import Buffers, OpModel
from hotdesk.models.reductions import expand_parallel, reduction_facts
from hotdesk.models.rewrites import bufferize_region_op
from hotdesk.models.tensor_slices import slice_of, subview

_LOOP = frozenset({(0, 0)})


# scf.parallel


def _parallel_flow(op: ir.Operation) -> Flow:
    return Flow(follows=_LOOP, parallel=True)


def _bufferize_parallel(op: ir.Operation, buffers: Buffers) -> None:
    bufferize_region_op(op, Flow(), buffers)


# scf.forall


def _shared(op: ir.Operation) -> range:
    """The operands that results begin with."""
    return range(len(op.operands) - len(op.results), len(op.operands))


def _forall_facts(op: ir.Operation) -> Facts:
    return Facts(reads=frozenset(_shared(op)), ties=tuple((operand, i) for i, operand in enumerate(_shared(op))))


def _forall_flow(op: ir.Operation) -> Flow:
    loops = len(op.regions[0].blocks[0].arguments) - len(op.results)
    shows = tuple((operand, 0, loops + i) for i, operand in enumerate(_shared(op)))
    if _is_one_thread(op):
        return Flow(shows=shows, runs=True)
    return Flow(follows=_LOOP, shows=shows, parallel=True)


def _is_one_thread(op: ir.Operation) -> bool:
    """Whether the body runs once, by numbers."""
    lows, highs, steps = (int_array(op.attributes[f"static{name}"]) for name in ("LowerBound", "UpperBound", "Step"))
    known = DYNAMIC not in (*lows, *highs, *steps)
    return known and all(low < high <= low + step for low, high, step in zip(lows, highs, steps, strict=True))


def _bufferize_forall(op: ir.Operation, buffers: Buffers) -> None:
    block = op.regions[0].blocks[0]
    loops = len(block.arguments) - len(op.results)
    for i, operand in enumerate(_shared(op)):
        before = buffers.contents(op, operand)
        after = buffers.destination(op, operand)
        buffers.assign(op.results[i], after)
        buffers.assign(block.arguments[loops + i], after if before is None else before)
    attributes = {name: op.attributes[name] for name in op.attributes}
    attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([*segment_sizes(op)[:3], 0])
    new = create(op.name, list(op.operands)[: _shared(op).start], [], attributes, regions=1, before=op)
    block.append_to(new.regions[0])
    buffers.drop_arguments(block, loops)
    buffers.replaced_by(new)


def _threads_flow(op: ir.Operation) -> Flow:
    return Flow()


def _insert_facts(op: ir.Operation) -> Facts:
    return Facts(reads=frozenset({0}), part=slice_of(op, 1, 0))


def _bufferize_insert(op: ir.Operation, buffers: Buffers) -> None:
    """A copy in front of the end of the body, where nothing but insertions may stand."""
    buffers.buffer(op.operands[0])
    if not buffers.lies_there(op):
        end = cast(Any, op.parent).operation
        part = subview(buffers.inserted_into(op), op, 2, shape_of(op.operands[0].type), before=end)
        buffers.copy_into(part, op, 0, before=end)


MODELS = {
    "scf.parallel": OpModel(reduction_facts, _bufferize_parallel, _parallel_flow, expand=expand_parallel),
    **reductions.MODELS,
    "scf.forall": OpModel(_forall_facts, _bufferize_forall, _forall_flow),
    "scf.forall.in_parallel": OpModel(no_facts, flow=_threads_flow),
    "tensor.parallel_insert_slice": OpModel(_insert_facts, _bufferize_insert),
}
