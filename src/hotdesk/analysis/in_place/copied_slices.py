"""Which slices are copied so that what they are slices of can be overwritten.

    %s = tensor.extract_slice %x[0] [8] [1]          %s is a copy, 8 elements
    %y = linalg.exp outs(%x)                   ->    %y lies where %x lies, which would be copied else
    use %s                                           use %s

1. Where an op copies what it overwrites because a slice of it is read later, or by itself, the slice is copied instead, if it has
   fewer bytes. The slice that is nearest to the read counts. Where an op copies a slice that it overwrites, the slice is copied
   when it is taken: what writes to slices of it may do so there.
2. The function is analysed again (`search`), its slices being new memory. That may show further slices: there are `ROUNDS`.
3. The round that copies the fewest bytes is kept, the first of them if none copies fewer than without.
"""

from __future__ import annotations

from collections.abc import Iterator

from hotdesk.analysis.in_place.conflicts import value_read
from hotdesk.analysis.in_place.cost_of_copy import cost_of_copy
from hotdesk.analysis.in_place.inplace import InPlaceAnalysis
from hotdesk.analysis.in_place.interference import Clash
from hotdesk.analysis.tensors.program import OpRecord, TensorProgram

ROUNDS = 4
"""How often further slices are copied at the most."""


def slices_in_the_way(analysis: InPlaceAnalysis) -> dict[int, Clash | None]:
    """The slices by which something is read that would be overwritten otherwise, by the number of the op that takes them."""
    function = analysis.function
    found: dict[int, Clash | None] = {}
    copies = [
        (decision.clash, function.ops[decision.op].operands[decision.operand], function.ops[decision.op].block)
        for decision in analysis.decisions
        if not (decision.in_place or decision.fresh)
    ]
    copies.extend(
        (conflict.clash, edge.source, function.ops[edge.op].block)
        for edge, conflict in analysis.copies.items()
        if conflict is not None
    )
    for clash, value, block in copies:
        number = smaller_slice(function, clash, value, block)
        if number is not None:
            found.setdefault(number, clash)
    for number in _written_over(analysis):
        found.setdefault(number, None)
    return found


def smaller_slice(function: TensorProgram, clash: Clash | None, value: int, block: int) -> int | None:
    """The op that takes the slice by which a clash reads too late, if a copy has fewer bytes than one of `value` in a block."""
    number = None if clash is None else _slice_of(function, value_read(function, clash))
    if number is None:
        return None
    taken = function.ops[number]
    return (
        number if cost_of_copy(function, taken.results[0], taken.block) < cost_of_copy(function, value, block) else None
    )


def _written_over(analysis: InPlaceAnalysis) -> Iterator[int]:
    """The slices that ops copy to write a part of them, and of which slices are taken before."""
    function = analysis.function
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
