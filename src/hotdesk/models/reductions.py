"""Reductions of `scf.parallel`: of scalars as they are, of tensors one iteration after the other.

    %r = scf.parallel (%i) = … init (%z) {              %r = scf.for %i = … iter_args(%a = %z) {
      %v = …                                              %v = …
      scf.reduce(%v) {                             ->     %s = add(%a, %v)
      ^bb0(%a, %b): %s = add(%a, %b)                      scf.yield %s }
        scf.reduce.return %s } }

In which order values are reduced is left open, so one after another is as good as any. Iterations that ran at one time would all
write the tensor that they reduce into; in a loop it is one buffer, and each iteration may write over what the last one made.
"""

from __future__ import annotations

from collections.abc import Sequence

from hotdesk._bindings import ir
from hotdesk.ir.building import create
from hotdesk.ir.types import is_tensor
from hotdesk.ir.walking import segment_sizes
from hotdesk.models.facts import Facts, Flow
from hotdesk.models.model import OpModel
from hotdesk.models.payloads import inlined


def expand_parallel(op: ir.Operation) -> list[ir.Value] | None:
    """Loops, one in the other, that carry what is reduced; None if no tensor is."""
    if not any(is_tensor(result.type) for result in op.results):
        return None
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
        return _iteration(op, positions, carried, before)
    types = [value.type for value in carried]
    loop = create("scf.for", [*bounds[0], *carried], types, regions=1, before=before)
    kinds = [ir.IndexType.get(), *types]
    block = loop.regions[0].blocks.append(*kinds, arg_locs=[op.location] * len(kinds))
    position, *given = block.arguments
    with ir.InsertionPoint(block), op.location:
        end = ir.Operation.create("scf.yield", operands=given).operation
    for number, value in enumerate(_nest(bounds[1:], [*positions, position], given, op, end)):
        end.operands[number] = value
    return list(loop.results)


def _iteration(
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


def reduction_facts(op: ir.Operation) -> Facts:
    """Before there are loops: tensors that are reduced are read."""
    return Facts(reads=frozenset(i for i, value in enumerate(op.operands) if is_tensor(value.type)))


def _reduce_flow(op: ir.Operation) -> Flow:
    return Flow()


MODELS = {
    "scf.reduce": OpModel(reduction_facts, flow=_reduce_flow),
    "scf.reduce.return": OpModel(reduction_facts),
}
