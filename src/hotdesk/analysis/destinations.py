"""Which destinations without contents give way to an operand that dies there, for a whole function.

Each op is decided by itself, from the top (`takeovers`), with what control flow passes forward known. What comes round a loop is
not decided by then: a result that lies with one argument of a loop cannot lie with another one, to which it may be handed. So a
function with loops or branches is analysed with the destinations that were chosen and with its own; a loop that would copy more
bytes keeps its own, and a function that still would keeps all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hotdesk.analysis.endings import returned_groups
from hotdesk.analysis.inplace import InPlaceAnalysis, analyse_in_place
from hotdesk.analysis.passing import Passing
from hotdesk.analysis.places import Places
from hotdesk.analysis.program import FunctionRecord, OpRecord
from hotdesk.analysis.readers import Readers
from hotdesk.analysis.takeovers import take_over

Destinations = dict[tuple[int, int], int]
"""The value that becomes operand number so-and-so of an op, by (op, operand)."""
_OFTEN = 8
"""How often the body of a loop is taken to run."""
_SYMBOLIC = 1 << 20
"""The bytes that a tensor of symbolic size is taken to have."""


def choose_destinations(function: FunctionRecord, *, apart: bool = True) -> Destinations:
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


def _dying(function: FunctionRecord, *, apart: bool) -> Destinations:
    readers = Readers(function)
    places = Places(function, readers)
    Passing(function, places, readers.control).pass_forward()
    lent = returned_groups(function, readers, overwritten=True) if apart else frozenset[int]()
    return {
        (taken.op, taken.operand): taken.value
        for op in function.ops
        for taken in take_over(function, op, places, readers, lent)
        if taken.fresh and taken.value is not None
    }


def _with(function: FunctionRecord, chosen: Mapping[tuple[int, int], int]) -> FunctionRecord:
    ops = list(function.ops)
    for (number, operand), value in chosen.items():
        operands = list(ops[number].operands)
        operands[operand] = value
        ops[number] = replace(ops[number], operands=tuple(operands))
    return replace(function, ops=tuple(ops))


def _copied(function: FunctionRecord) -> dict[int, int]:
    """The bytes that bufferization would copy, by the number of the loop, or -1; what a loop copies counts several times."""
    analysis = analyse_in_place(function)
    found: dict[int, int] = {}
    for value, loop in (*_overwritten(function, analysis), *_passed(function, analysis)):
        size = function.values[value].bytes
        cost = (size if isinstance(size, int) else _SYMBOLIC) * _OFTEN ** _depth(function, loop)
        found[loop] = found.get(loop, 0) + cost
    return found


def _overwritten(function: FunctionRecord, analysis: InPlaceAnalysis) -> list[tuple[int, int]]:
    """The operands that are copied because they are overwritten, each with the loop around."""
    copied = [(function.ops[d.op], d.operand) for d in analysis.decisions if not (d.in_place or d.fresh)]
    return [
        (op.operands[operand], _loop(function, op.block))
        for op, operand in copied
        if operand in op.facts.reads or operand not in op.facts.overwrites
    ]


def _passed(function: FunctionRecord, analysis: InPlaceAnalysis) -> list[tuple[int, int]]:
    """What control flow copies, each with the loop that it enters or comes round."""
    return [
        (flow.edge.source, _loop(function, function.values[flow.edge.target].block))
        for flow in analysis.flows.values()
        if flow.copied
    ]


def _loop(function: FunctionRecord, block: int) -> int:
    """The innermost loop around a block, or -1."""
    parent = function.blocks[block].parent
    while parent >= 0 and not _repeats(function.ops[parent]):
        parent = function.blocks[function.ops[parent].block].parent
    return parent


def _repeats(op: OpRecord) -> bool:
    return op.flow is not None and (bool(op.flow.follows) or op.flow.parallel)


def _depth(function: FunctionRecord, loop: int) -> int:
    depth = 0
    while loop >= 0:
        depth, loop = depth + 1, _loop(function, function.ops[loop].block)
    return depth
