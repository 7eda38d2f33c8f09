"""Parallel loops: `scf.parallel`, which reduces, and `scf.forall`, whose threads insert parts of shared tensors.

`scf.parallel` reduces scalars as it stands, and tensors one iteration after the other:

    %r = scf.parallel (%i) = … init (%z) {              %r = scf.for %i = … iter_args(%a = %z) {
      %v = …                                              %v = …
      scf.reduce(%v) {                             ->     %s = add(%a, %v)
      ^bb0(%a, %b): %s = add(%a, %b)                      scf.yield %s }
        scf.reduce.return %s } }

In which order values are reduced is left open, so one after another is as good as any. Iterations that ran at one time would all
write the tensor that they reduce into; in a loop it is one buffer, and each iteration may write over what the last one made.

A result of `scf.forall` is written over the operand that it begins with, as by an op in destination-passing style; inside, the
operand is seen as it was before the loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.building import loop, remade
from hotdesk.ir.types import DYNAMIC, is_tensor, shape_of
from hotdesk.ir.walking import attributes_of, int_array, segment_sizes
from hotdesk.models.facts import Facts, Flow, no_facts, reads_tensors
from hotdesk.models.model import Buffers, OpModel
from hotdesk.models.payloads import inlined
from hotdesk.models.rewrites import bufferize_region_op
from hotdesk.models.tensor_slices import slice_of, subview

# scf.parallel


def _expand_parallel(op: ir.Operation) -> list[ir.Value] | None:
    """Loops, one in the other, that carry what is reduced; None if no tensor is."""
    return reduced_in_loops(op) if any(is_tensor(result.type) for result in op.results) else None


def reduced_in_loops(op: ir.Operation) -> list[ir.Value]:
    """The results of a `scf.parallel`, reduced in loops one in the other in front of it, which it leaves its body to."""
    count = segment_sizes(op)[0]
    bounds = [list(op.operands[i : 3 * count : count]) for i in range(count)]
    return _nest(bounds, [], list(op.operands[3 * count :]), op, op)


def _nest(
    bounds: Sequence[Sequence[ir.Value]],
    positions: list[ir.Value],
    carried: Sequence[ir.Value],
    op: ir.Operation,
    before: ir.Operation,
) -> list[ir.Value]:
    """What is carried after loops over the bounds, in front of an op."""
    if not bounds:
        return reduced_iteration(op, positions, carried, before)
    made, position, given, end = loop(bounds[0], carried, before)
    for number, value in enumerate(_nest(bounds[1:], [*positions, position], given, op, end)):
        end.operands[number] = value
    return list(made.results)


def reduced_iteration(
    op: ir.Operation, positions: list[ir.Value], carried: Sequence[ir.Value], before: ir.Operation
) -> list[ir.Value]:
    """One iteration in front of an op: the body, and each of its values reduced into what is carried."""
    body = op.regions[0].blocks[0]
    reduce = list(body.operations)[-1].operation
    values = inlined(body, positions, before)
    return [
        inlined(region.blocks[0], [old, value], before)[0]
        for region, old, value in zip(reduce.regions, carried, values, strict=True)
    ]


def _nothing_passed(op: ir.Operation) -> Flow:
    return Flow()


_LOOP = frozenset({(0, 0)})


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
    segments = ir.DenseI32ArrayAttr.get([*segment_sizes(op)[:3], 0])
    attributes = {**attributes_of(op), "operandSegmentSizes": segments}
    new = remade(op, list(op.operands)[: _shared(op).start], [], attributes)
    buffers.drop_arguments(block, loops)
    buffers.replaced_by(new)


def _insert_facts(op: ir.Operation) -> Facts:
    return Facts(reads=frozenset({0}), part=slice_of(op, 1, 0))


def _bufferize_insert(op: ir.Operation, buffers: Buffers) -> None:
    """A copy in front of the end of the body, where nothing but insertions may stand."""
    buffers.buffer(op.operands[0])
    if not buffers.lies_there(op):
        end = cast(Any, op.parent).operation
        part = subview(buffers.inserted_into(op), op, shape_of(op.operands[0].type), before=end)
        buffers.copy_into(part, op, 0, before=end)


MODELS = {
    "scf.parallel": OpModel(reads_tensors, _bufferize_parallel, _parallel_flow, expand=_expand_parallel),
    "scf.reduce": OpModel(reads_tensors, flow=_nothing_passed),
    "scf.reduce.return": OpModel(reads_tensors),
    "scf.forall": OpModel(_forall_facts, _bufferize_forall, _forall_flow),
    "scf.forall.in_parallel": OpModel(no_facts, flow=_nothing_passed),
    "tensor.parallel_insert_slice": OpModel(_insert_facts, _bufferize_insert),
}
