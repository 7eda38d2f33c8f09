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
be handed. So in a function with loops or branches the destinations that were chosen are premises on trial (`premise_trials`)
against its own: a loop that would copy more bytes keeps its own, and a function that still would keeps all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from hotdesk.analysis.in_place.copied_bytes import copied_bytes
from hotdesk.analysis.in_place.copied_slices import ROUNDS, smaller_slice
from hotdesk.analysis.in_place.displacement import find_displacement
from hotdesk.analysis.in_place.flow_copies import FlowCopies
from hotdesk.analysis.in_place.flow_edges import FlowEdges
from hotdesk.analysis.in_place.inplace import NO_PREMISES, InPlaceAnalysis, Premises, Tied, analyse_in_place, under
from hotdesk.analysis.in_place.places import Places
from hotdesk.analysis.in_place.premise_trials import try_premises
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
    settled: Collection[Tied] = (),
) -> list[DestinationDecision]:
    """Decides the tied operands of an op, in order, and puts results where they are to be written.

    `lent` are contents groups that have memory of the caller's in the end, so that they stay out of arguments; `settled` are
    operands that are decided already.
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


def choose_destinations(function: TensorProgram, *, apart: bool = True) -> Mapping[Tied, int]:
    """The operands that take the place of destinations without contents, by the op and the operand whose place it is.

    With `apart`, what the function returns stays out of its arguments.
    """
    chosen = _choose(function, apart=apart)
    if not chosen.destinations or not function.flows:
        return chosen.destinations
    own = analyse_in_place(function)
    return try_premises(own, _DestinationsTrial(own, chosen)).premises.destinations


class _DestinationsTrial:
    """The destinations that were chosen, and the slices that are copied for their sake, against those that a function has.

    Attributes:
        proposed: the value that takes the place of each operand.
    """

    attempts = 2

    def __init__(self, own: InPlaceAnalysis, chosen: Premises) -> None:
        self._chosen = chosen
        self._before = copied_bytes(own)
        self.proposed: Mapping[Tied, int] = chosen.destinations

    def premises(self, proposed: Mapping[Tied, int]) -> Premises:
        return replace(self._chosen, destinations=proposed)

    def worth_it(self, proposed: Mapping[Tied, int], found: InPlaceAnalysis) -> Mapping[Tied, int]:
        if self.is_better(proposed, found):
            return proposed
        ops, after = found.function.ops, copied_bytes(found)
        worse = [ops[loop] for loop, cost in after.items() if loop >= 0 and cost > self._before.get(loop, 0)]
        return {
            tied: value
            for tied, value in proposed.items()
            if not any(loop.number <= tied[0] < loop.end for loop in worse)
        }

    def is_better(self, proposed: Mapping[Tied, int], found: InPlaceAnalysis) -> bool:
        """Whether no more bytes are copied."""
        return sum(copied_bytes(found).values()) <= sum(self._before.values())


def _choose(function: TensorProgram, *, apart: bool) -> Premises:
    """The operands that are chosen, from the top, and the slices that are copied for the sake of state."""
    begun = whole = _begun(function)
    premises = NO_PREMISES
    for _ in range(ROUNDS):
        if not begun.slices:
            break
        premises = replace(premises, slices={**premises.slices, **dict.fromkeys(begun.slices)})
        begun = _begun(under(function, premises))
    if begun.slices or (premises.slices and not begun.states):
        premises, begun = NO_PREMISES, whole
    lent = _returned_groups(begun.function, begun.readers) if apart else frozenset[int]()
    dying = {
        (taken.op, taken.operand): taken.value
        for op in begun.function.ops
        for taken in decide_destination(begun.function, op, begun.places, begun.readers, lent, begun.states)
        if taken.fresh and taken.value is not None
    }
    return replace(premises, destinations={**begun.states, **dying})


@dataclass(frozen=True, slots=True)
class _Begun:
    """A function in which what becomes state is decided, and the slices in the way of more of that."""

    function: TensorProgram
    readers: Readers
    places: Places
    states: Mapping[Tied, int]
    slices: frozenset[int]


def _begun(function: TensorProgram) -> _Begun:
    readers = Readers(function)
    places = Places(function, readers)
    FlowCopies(function, places, readers, FlowEdges(function)).pass_forward()
    return _Begun(function, readers, places, *_in_state(function, places, readers))


def _in_state(function: TensorProgram, places: Places, readers: Readers) -> tuple[dict[Tied, int], frozenset[int]]:
    """The arguments that are state in whose memory their new contents are computed, in place of operands without contents; and
    the slices that have to be copied so that more may be.

    An insertion into an operand without contents leaves what is around its part as it is: that may be anything.
    """
    found: dict[Tied, int] = {}
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
