"""Where ops in destination-passing style write: over which operand, in place or by displacement, and why not over another.

Of one op (`decide_destination`): an operand with contents is overwritten iff in-place analysis finds nothing that would be lost.
One without contents (a `tensor.empty`) gives way to an operand that dies there, by the rules of `displacement`; a part of one
does not, because an insertion puts the result there.

New contents of an argument that is state are computed in its memory, and its operand without contents gives way to the argument,
if in-place analysis finds nothing that would be lost. That is decided in front of all else, so that nothing else is put there
meanwhile: it would be in the way, and the new contents would be copied. What would be lost is no obstacle where it
is read by a slice of fewer bytes than the state, of which a copy is taken first (`copied_slices`; bufferization asks again).

Of a function (`choose_destinations`): its ops are decided from the top, with what control flow passes forward known. What comes
round a loop is not decided by then: a result that lies with one argument of a loop cannot lie with another one, to which it may
be handed. So a function with loops or branches is analysed with the destinations that were chosen and with its own; a loop that
would copy more bytes keeps its own, and a function that still would keeps all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from hotdesk.analysis.in_place.copied_bytes import copied_bytes
from hotdesk.analysis.in_place.copied_slices import smaller_slice
from hotdesk.analysis.in_place.displacement import find_displacement
from hotdesk.analysis.in_place.flow_copies import FlowCopies
from hotdesk.analysis.in_place.flow_edges import FlowEdges
from hotdesk.analysis.in_place.inplace import analyse_in_place, with_slices
from hotdesk.analysis.in_place.places import Places
from hotdesk.analysis.tensors.extents import WHOLE
from hotdesk.analysis.tensors.program import NOT_A_TENSOR, OpRecord, TensorProgram
from hotdesk.analysis.tensors.readers import Readers
from hotdesk.explain import Reason
from hotdesk.graphs import reached
from hotdesk.ir.signature import signature


@dataclass(frozen=True, slots=True)
class DestinationDecision:
    """At op `op`, result number `result` is written over value `value`, or over nothing that exists if that is None.

    `operand` is the operand tied to the result. If `fresh`, it has no contents, and `value` is to take its place; otherwise
    `value` is the operand itself. `conflict` is the op behind the reason.
    """

    op: int
    operand: int
    result: int
    value: int | None
    reason: Reason
    conflict: int | None = None
    fresh: bool = False


def decide_destination(
    function: TensorProgram,
    op: OpRecord,
    places: Places,
    readers: Readers,
    lent: Collection[int] = (),
    settled: Collection[tuple[int, int]] = (),
) -> list[DestinationDecision]:
    """Decides the tied operands of an op, in order, and puts results where they are to be written.

    `lent` are contents groups that have memory of the caller's in the end, so that they stay out of arguments; `settled` are
    operands that are decided already, as (op, operand).
    """
    found: list[DestinationDecision] = []
    for operand, result in op.facts.ties:
        if (op.number, operand) in settled:
            continue
        if readers.root[op.operands[operand]] in readers.undefined:
            returned = readers.root[op.results[result]] in lent
            apart = {places.find(argument) for argument in function.writable_arguments} if returned else ()
            taken = _displaced(function, op, operand, result, places, readers, apart)
        else:
            taken = _overwritten(op, operand, result, places)
        if taken.value is not None:
            places.join(taken.value, op.results[result])
        found.append(taken)
    return found


def _overwritten(op: OpRecord, operand: int, result: int, places: Places) -> DestinationDecision:
    value = op.operands[operand]
    conflict = places.conflict(op, operand, value, result)
    if conflict is not None:
        return DestinationDecision(op.number, operand, result, None, conflict.reason, conflict.op)
    return DestinationDecision(op.number, operand, result, value, Reason.DIES_HERE)


def _displaced(
    function: TensorProgram,
    op: OpRecord,
    operand: int,
    result: int,
    places: Places,
    readers: Readers,
    apart: Collection[int],
) -> DestinationDecision:
    if readers.extent[op.operands[operand]] is not WHOLE:
        return DestinationDecision(op.number, operand, result, None, Reason.WRITTEN_IN_DESTINATION, fresh=True)
    found = find_displacement(function, op, result, places, readers, apart)
    if found.value is not None and operand in op.facts.reads:
        return DestinationDecision(op.number, operand, result, None, Reason.OVERWRITTEN_UNREAD, fresh=True)
    return DestinationDecision(op.number, operand, result, found.value, found.reason, found.conflict, fresh=True)


Destinations = dict[tuple[int, int], int]
"""The value that becomes operand number so-and-so of an op, by (op, operand)."""


def choose_destinations(function: TensorProgram, *, apart: bool = True) -> Destinations:
    """The operands that take the place of destinations without contents.

    With `apart`, what the function returns stays out of its arguments.
    """
    chosen, slices = _dying(function, apart=apart)
    if not chosen or not function.flows:
        return chosen
    before, after = _copied(function), _copied(_with(with_slices(function, slices), chosen))
    if sum(after.values()) <= sum(before.values()):
        return chosen
    worse = [function.ops[loop] for loop, cost in after.items() if loop >= 0 and cost > before.get(loop, 0)]
    rest = {key: value for key, value in chosen.items() if not any(loop.number <= key[0] < loop.end for loop in worse)}
    after = _copied(_with(with_slices(function, slices), rest))
    return rest if sum(after.values()) <= sum(before.values()) else {}


_ROUNDS = 4
"""In which slices are found that are copied so that state can be written."""


def _dying(function: TensorProgram, *, apart: bool) -> tuple[Destinations, frozenset[int]]:
    """The operands that are chosen, from the top, and the slices that are copied for the sake of state."""
    begun = _begun(function)
    slices = frozenset[int]()
    for _ in range(_ROUNDS):
        if not begun.slices:
            break
        slices |= begun.slices
        begun = _begun(with_slices(function, slices))
    if begun.slices or (slices and not begun.states):
        slices, begun = frozenset[int](), _begun(function)
    lent = _returned_groups(begun.function, begun.readers) if apart else frozenset[int]()
    chosen = begun.states | {
        (taken.op, taken.operand): taken.value
        for op in begun.function.ops
        for taken in decide_destination(begun.function, op, begun.places, begun.readers, lent, begun.states)
        if taken.fresh and taken.value is not None
    }
    return chosen, slices


@dataclass(frozen=True, slots=True)
class _Begun:
    """A function in which what becomes state is decided, and the slices in the way of more of that."""

    function: TensorProgram
    readers: Readers
    places: Places
    states: Destinations
    slices: frozenset[int]


def _begun(function: TensorProgram) -> _Begun:
    readers = Readers(function)
    places = Places(function, readers)
    FlowCopies(function, places, readers, FlowEdges(function)).pass_forward()
    return _Begun(function, readers, places, *_in_state(function, places, readers))


def _in_state(function: TensorProgram, places: Places, readers: Readers) -> tuple[Destinations, frozenset[int]]:
    """The arguments that are state in whose memory their new contents are computed, in place of operands without contents; and
    the slices that have to be copied so that more may be.

    An insertion into an operand without contents leaves what is around its part as it is: that may be anything.
    """
    found: Destinations = {}
    slices: set[int] = set()
    wanted = _states(function, readers)
    for op in function.ops if wanted else ():
        for operand, result in op.facts.ties:
            value = op.operands[operand]
            state = wanted.get(readers.root[op.results[result]])
            reads = operand in op.facts.reads and (op.facts.part is None or op.facts.part.container != operand)
            if state is None or reads or readers.extent[value] is not WHOLE:
                continue
            alike = function.values[state].value.type == function.values[op.results[result]].value.type
            if not alike or readers.root[value] not in readers.undefined:
                continue
            conflict = places.conflict(op, operand, state, result)
            if conflict is None:
                places.join(state, op.results[result])
                found[op.number, operand] = state
            elif (number := smaller_slice(function, conflict.clash, state, op.block)) is not None:
                slices.add(number)
    return found, frozenset(slices)


def _states(function: TensorProgram, readers: Readers) -> dict[int, int]:
    """The arguments that are state, by the contents groups that ops write over each other up to the new contents."""
    ties: dict[int, list[int]] = {}
    for op in function.ops:
        for operand, result in op.facts.ties:
            ties.setdefault(op.results[result], []).append(readers.root[op.operands[operand]])
    found: dict[int, int] = {}
    for number, formal in enumerate(signature(function.function).arguments):
        end = NOT_A_TENSOR if formal.state is None else function.end.operands[formal.state]
        if end != NOT_A_TENSOR and readers.extent[end] is WHOLE:
            groups = reached([readers.root[end]], lambda group: ties.get(group, ()))
            found |= dict.fromkeys(groups, function.arguments[number])
    return found


def _with(function: TensorProgram, chosen: Mapping[tuple[int, int], int]) -> TensorProgram:
    ops = list(function.ops)
    for (number, operand), value in chosen.items():
        operands = list(ops[number].operands)
        operands[operand] = value
        ops[number] = replace(ops[number], operands=tuple(operands))
    return replace(function, ops=tuple(ops))


def _copied(function: TensorProgram) -> dict[int, int]:
    return copied_bytes(analyse_in_place(function))


def _returned_groups(function: TensorProgram, readers: Readers) -> frozenset[int]:
    """The contents groups that control flow, choices and views lead, all of them, to a result of the function, and those that
    such a result may be written over, by ops that are tied to them."""
    sources: dict[int, list[int]] = {}
    for edge in function.flows:
        sources.setdefault(edge.target, []).append(edge.source)
    for op in function.ops:
        for operand, result in (*op.facts.choices, *op.facts.ties):
            sources.setdefault(op.results[result], []).append(op.operands[operand])
    ends = [value for op in function.returns for value in op.operands]

    def groups(values: Iterable[int]) -> Iterable[int]:
        return (readers.root[value] for value in values if value != NOT_A_TENSOR and readers.extent[value] is WHOLE)

    return frozenset(reached(groups(ends), lambda group: groups(sources.get(group, ()))))
