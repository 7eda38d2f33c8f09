"""Which destinations without contents give way to an operand that dies there, for a whole function.

Each op is decided by itself, from the top (`destination_decisions`), with what control flow passes forward known. What comes
round a loop is not decided by then: a result that lies with one argument of a loop cannot lie with another one, to which it may
be handed. So a function with loops or branches is analysed with the destinations that were chosen and with its own; a loop that
would copy more bytes keeps its own, and a function that still would keeps all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from hotdesk.analysis.in_place.copied_bytes import copied_bytes
from hotdesk.analysis.in_place.destination_decisions import decide_destination
from hotdesk.analysis.in_place.flow_copies import FlowCopies
from hotdesk.analysis.in_place.inplace import analyse_in_place
from hotdesk.analysis.in_place.places import Places
from hotdesk.analysis.tensors.extents import WHOLE
from hotdesk.analysis.tensors.program import NOT_A_TENSOR, TensorProgram
from hotdesk.analysis.tensors.readers import Readers
from hotdesk.program.graphs import reached

Destinations = dict[tuple[int, int], int]
"""The value that becomes operand number so-and-so of an op, by (op, operand)."""


def choose_destinations(function: TensorProgram, *, apart: bool = True) -> Destinations:
    """The operands that take the place of destinations without contents.

    With `apart`, what the function returns stays out of its arguments.
    """
    chosen = _dying(function, apart=apart)
    if not chosen or not function.flows:
        return chosen
    before, after = _copied(function), _copied(_with(function, chosen))
    if sum(after.values()) <= sum(before.values()):
        return chosen
    worse = [function.ops[loop] for loop, cost in after.items() if loop >= 0 and cost > before.get(loop, 0)]
    rest = {key: value for key, value in chosen.items() if not any(loop.number <= key[0] < loop.end for loop in worse)}
    return rest if sum(_copied(_with(function, rest)).values()) <= sum(before.values()) else {}


def _dying(function: TensorProgram, *, apart: bool) -> Destinations:
    readers = Readers(function)
    places = Places(function, readers)
    FlowCopies(function, places, readers).pass_forward()
    lent = _returned_groups(function, readers, overwritten=True) if apart else frozenset[int]()
    return {
        (taken.op, taken.operand): taken.value
        for op in function.ops
        for taken in decide_destination(function, op, places, readers, lent)
        if taken.fresh and taken.value is not None
    }


def _with(function: TensorProgram, chosen: Mapping[tuple[int, int], int]) -> TensorProgram:
    ops = list(function.ops)
    for (number, operand), value in chosen.items():
        operands = list(ops[number].operands)
        operands[operand] = value
        ops[number] = replace(ops[number], operands=tuple(operands))
    return replace(function, ops=tuple(ops))


def _copied(function: TensorProgram) -> dict[int, int]:
    return copied_bytes(function, analyse_in_place(function))


def _returned_groups(function: TensorProgram, readers: Readers, *, overwritten: bool) -> frozenset[int]:
    """The contents groups that control flow, choices and views lead, all of them, to a result of the function.

    With `overwritten` also those that such a result may be written over, by ops that are tied to them.
    """
    sources: dict[int, list[int]] = {}
    for edge in function.flows:
        sources.setdefault(edge.target, []).append(edge.source)
    for op in function.ops:
        for operand, result in (*op.facts.choices, *(op.facts.ties if overwritten else ())):
            sources.setdefault(op.results[result], []).append(op.operands[operand])
    ends = [value for op in function.returns for value in op.operands]

    def groups(values: Iterable[int]) -> Iterable[int]:
        return (readers.root[value] for value in values if value != NOT_A_TENSOR and readers.extent[value] is WHOLE)

    return frozenset(reached(groups(ends), lambda group: groups(sources.get(group, ()))))
