"""Which slices are copied so that what they are slices of can be overwritten.

    %s = tensor.extract_slice %x[0] [8] [1]          %s is a copy, 8 elements
    %y = linalg.exp outs(%x)                   ->    %y lies where %x lies, which would be copied else
    use %s                                           use %s

1. Where an op copies what it overwrites because a slice of it is read later, or by itself, the slice is copied instead, if it has
   fewer bytes. The slice that is nearest to the read counts. Where an op copies a slice that it overwrites, the slice is copied
   when it is taken: what writes to slices of it may do so there.
2. The function is analysed again, its slices being new memory. That may show further slices; there are a few rounds.
3. The round that copies the fewest bytes is kept, the first of them if none copies fewer than without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from hotdesk.analysis.in_place.conflicts import value_read
from hotdesk.analysis.in_place.copied_bytes import copied_with_results
from hotdesk.analysis.in_place.cost_of_copy import cost_of_copy
from hotdesk.analysis.in_place.inplace import InPlaceAnalysis
from hotdesk.analysis.in_place.interference import Clash
from hotdesk.analysis.tensors.program import OpRecord, TensorProgram
from hotdesk.models.facts import Facts

_ROUNDS = 4


def copy_slices(
    function: TensorProgram, analyse: Callable[[TensorProgram], InPlaceAnalysis]
) -> tuple[TensorProgram, InPlaceAnalysis]:
    """The function with slices that are copies, and its analysis, whose `slices` has the conflict that each copy avoids."""
    best = function, analyse(function)
    least = copied_with_results(*best)
    current, chosen = best, dict[int, Clash | None]()
    for _ in range(_ROUNDS):
        found = _in_the_way(*current)
        if not found:
            break
        chosen |= found
        changed = _with_copies(function, chosen)
        current = changed, replace(analyse(changed), slices=dict(chosen))
        cost = copied_with_results(*current) + sum(_cost(function, number) for number in chosen)
        if cost < least:
            best, least = current, cost
    return best


def _in_the_way(function: TensorProgram, analysis: InPlaceAnalysis) -> dict[int, Clash | None]:
    """The slices by which something is read that would be overwritten otherwise, by the number of the op that takes them."""
    found: dict[int, Clash | None] = {}
    copies = [
        (decision.clash, function.ops[decision.op].operands[decision.operand], function.ops[decision.op].block)
        for decision in analysis.decisions
        if not (decision.in_place or decision.fresh)
    ]
    copies.extend(
        (flow.clash, flow.edge.source, function.ops[flow.edge.op].block)
        for flow in analysis.flows.values()
        if flow.copied
    )
    for clash, value, block in copies:
        number = None if clash is None else _slice_of(function, value_read(function, clash))
        if number is not None and _cost(function, number) < cost_of_copy(function, value, block):
            found.setdefault(number, clash)
    for number in _written_over(function, analysis):
        found.setdefault(number, None)
    return found


def _written_over(function: TensorProgram, analysis: InPlaceAnalysis) -> Iterator[int]:
    """The slices that ops copy to write a part of them, and of which slices are taken before."""
    sliced = {op.operands[op.facts.part.container] for op in function.ops if op.facts.part is not None and _takes(op)}
    for decision in analysis.decisions:
        op = function.ops[decision.op]
        value = op.operands[decision.operand]
        producer = function.values[value].producer
        if decision.in_place or decision.fresh or op.facts.part is None or producer < 0 or value not in sliced:
            continue
        if _takes(function.ops[producer]) and function.ops[producer].block == op.block:
            yield producer


def _slice_of(function: TensorProgram, value: int) -> int | None:
    """The op that takes a slice of which a value is a view, or None."""
    while (producer := function.values[value].producer) >= 0:
        op = function.ops[producer]
        seen = next((operand for operand, result in op.facts.views if op.results[result] == value), None)
        if seen is None:
            return None
        if _takes(op):
            return producer
        value = op.operands[seen]
    return None


def _takes(op: OpRecord) -> bool:
    """Whether an op takes a slice of a tensor."""
    return op.facts.part is not None and op.facts.part.source is None and bool(op.facts.views)


def _cost(function: TensorProgram, number: int) -> int:
    op = function.ops[number]
    return cost_of_copy(function, op.results[0], op.block)


def _with_copies(function: TensorProgram, chosen: Mapping[int, Clash | None]) -> TensorProgram:
    """The function with slices that are new memory."""
    ops = list(function.ops)
    for number in chosen:
        ops[number] = replace(ops[number], facts=Facts(reads=frozenset({0})))
    return replace(function, ops=tuple(ops))
