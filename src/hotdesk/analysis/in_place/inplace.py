"""Which results overwrite their operands, and where what control flow passes on is copied.

1. A value that a branch yields, that is selected, or that a loop hands to its results is passed on as it lies: no copy. It may
   come to be in one of several places. Where that would cost a copy later, it is *merged* (`merges`): it has a place of
   its own, and what does not fit in there is copied on its path alone.
2. What an op overwrites for itself alone is decided first: it gets a copy if anybody wants the contents later. Then
   every tied operand is decided once, in the order a heuristic gives: its op writes in place iff the operand's memory may be
   written and `Places` finds nothing that would be lost. An operand without contents gives no memory: its result has a place of
   its own. Parts of it do, if an insertion puts the result there: all parts are computed in one buffer.
3. What a loop yields to its next iteration lies where the argument lies, if nothing is lost by it. Arguments that change places
   among themselves are passed on as they lie, and so is what an iteration made, to several arguments too, and the memory of an
   argument that gets such; what else does not fit is copied into the argument's place.
4. What enters a loop lies where the argument lies, if nothing is lost by all that is written there; else it is copied once, in
   front of the loop.
5. Results that name one destination without contents share a buffer, where that costs nothing (`reuse`).

Each decision costs a look at the neighbours of a value in its place, so the analysis is near linear in uses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hotdesk.analysis.in_place.displacement import find_displacement
from hotdesk.analysis.in_place.flow_copies import FlowCopies
from hotdesk.analysis.in_place.flow_edges import FlowEdges
from hotdesk.analysis.in_place.interference import Clash, Conflict
from hotdesk.analysis.in_place.merges import Apart
from hotdesk.analysis.in_place.orders import Tie, top_down
from hotdesk.analysis.in_place.places import Places
from hotdesk.analysis.in_place.reuse import SharedDestinations
from hotdesk.analysis.tensors.extents import WHOLE
from hotdesk.analysis.tensors.program import OpRecord, TensorProgram
from hotdesk.analysis.tensors.readers import Readers
from hotdesk.explain import Reason
from hotdesk.models.facts import Facts
from hotdesk.program.records import FlowEdge

Tied = tuple[int, int]
"""The number of an op, and of an operand that it may write over."""


@dataclass(frozen=True, slots=True)
class Premises:
    """What an analysis takes as settled before it decides anything.

    Attributes:
        order: in which order tied operands are decided.
        copy_before_write: no operand with contents is overwritten, whoever reads it.
        anew: loops may yield memory that an iteration made (`flow_copies`).
        merged: values that are one of several, in memory of their own (`merges`).
        given_up: operands that ops overwrite unread and are not written over, and why (`writes_given_up`).
        staying: arguments of loops that must each be in one buffer.
        slices: ops whose slice is copied, each with what would be read too late otherwise, if that is why (`copied_slices`).
        destinations: the values that take the place of operands without contents (`destinations`).
    """

    order: Callable[[Sequence[Tie]], list[Tie]] = top_down
    copy_before_write: bool = False
    anew: bool = False
    merged: Mapping[int, Apart] = field(default_factory=dict[int, Apart])
    given_up: Mapping[Tied, Reason] = field(default_factory=dict[Tied, Reason])
    staying: frozenset[int] = frozenset()
    slices: Mapping[int, Clash | None] = field(default_factory=dict[int, Clash | None])
    destinations: Mapping[Tied, int] = field(default_factory=dict[Tied, int])


NO_PREMISES = Premises()


@dataclass(frozen=True, slots=True)
class OperandDecision:
    """Whether a tied operand is written in place, why, and the number of the op behind the reason.

    `fresh` says that its contents were undefined: a new buffer is written, and the reason says why no operand that dies here
    was overwritten instead; `candidate` is the operand that came closest, and `alone` whether the reason is all that is in its
    way. `clash` is what would have been read too late.
    """

    op: int
    operand: int
    in_place: bool
    reason: Reason
    conflict: int | None = None
    fresh: bool = False
    candidate: int | None = field(default=None, compare=False)
    clash: Clash | None = field(default=None, compare=False)
    alone: bool = field(default=True, compare=False)


@dataclass(frozen=True, slots=True)
class InPlaceAnalysis:
    """The decisions of a function in program order, by (op, operand) too, and of what is passed on, under some premises.

    Attributes:
        function: the function that was analysed, as the premises have it (`under`).
        copies: why what control flow passes on along an edge is copied; None if it is passed on as it lies.
        merged: the values that are one of several, in memory of their own.
    """

    function: TensorProgram
    premises: Premises
    decisions: tuple[OperandDecision, ...]
    by_operand: dict[Tied, OperandDecision]
    copies: dict[FlowEdge, Conflict | None]
    places: Places
    readers: Readers
    edges: FlowEdges
    merged: frozenset[int]

    @property
    def slices(self) -> Mapping[int, Clash | None]:
        """The ops whose slice is copied, as in the premises."""
        return self.premises.slices


def analyse_in_place(function: TensorProgram, premises: Premises = NO_PREMISES) -> InPlaceAnalysis:
    """Decides every tied operand and everything that control flow passes on.

    Where loops may not yield memory that an iteration made, the function is analysed again with those of their arguments staying
    that other loops would have put in several buffers (`FlowCopies.wandering`).
    """
    function = under(function, premises)
    return _analyse(function, premises, Readers(function), FlowEdges(function))


def analyse_again(first: InPlaceAnalysis, premises: Premises) -> InPlaceAnalysis:
    """The analysis of the same function under other premises, with the slices and destinations of the first and perhaps more."""
    known = first.premises
    if premises.slices == known.slices and premises.destinations == known.destinations:
        return _analyse(first.function, premises, first.readers, first.edges)
    function = under(first.function, premises)
    return _analyse(function, premises, Readers(function), first.edges)


def under(function: TensorProgram, premises: Premises) -> TensorProgram:
    """The function as premises have it: ops whose slice is copied read it and make new memory; destinations are operands."""
    ops = list(function.ops)
    for number in premises.slices:
        ops[number] = replace(ops[number], facts=Facts(reads=frozenset({0})))
    for (number, operand), value in premises.destinations.items():
        operands = list(ops[number].operands)
        operands[operand] = value
        ops[number] = replace(ops[number], operands=tuple(operands))
    return replace(function, ops=tuple(ops)) if premises.slices or premises.destinations else function


def _analyse(function: TensorProgram, premises: Premises, readers: Readers, edges: FlowEdges) -> InPlaceAnalysis:
    staying = premises.staying
    while True:
        places = Places(function, readers, staying)
        flows = FlowCopies(function, places, readers, edges, premises.merged, anew=premises.anew)
        flows.pass_forward()
        found = _operands(function, places, readers, premises)
        for decision in found:
            op = function.ops[decision.op]
            result = dict(op.facts.ties).get(decision.operand)
            if result is not None and (decision.fresh or not decision.in_place):
                places.make(op.results[result])
        flows.pass_around()
        moved = frozenset[int]() if premises.anew else flows.wandering() - staying
        if not moved:
            break
        staying |= moved
    if not premises.copy_before_write:
        found = _reused(function, found, SharedDestinations(function, places, readers))
    by_operand = {(d.op, d.operand): d for d in found}
    merged = frozenset(premises.merged) - flows.merges.failed
    return InPlaceAnalysis(function, premises, tuple(found), by_operand, flows.copies, places, readers, edges, merged)


def _operands(function: TensorProgram, places: Places, readers: Readers, premises: Premises) -> list[OperandDecision]:
    """The decisions about operands that ops overwrite for themselves alone, then about tied ones; in program order."""
    ties = [(op, operand, result) for op in function.ops for operand, result in op.facts.ties]
    clobbers = [(op, operand) for op in function.ops for operand in sorted(op.facts.clobbers)]
    if premises.copy_before_write:
        found = [_copy(readers, op, operand) for op, operand in clobbers]
        found.extend(_copy(readers, op, operand) for op, operand, _ in ties)
    else:
        found = [_overwrite(places, readers, op, operand) for op, operand in clobbers]
        for op, operand, result in premises.order(ties):
            given_up = premises.given_up.get((op.number, operand))
            found.append(
                _decide(function, places, readers, op, operand, result)
                if given_up is None
                else OperandDecision(op.number, operand, False, given_up)
            )
    return sorted(found, key=lambda decision: (decision.op, decision.operand))


def _reused(
    function: TensorProgram, decisions: list[OperandDecision], reuse: SharedDestinations
) -> list[OperandDecision]:
    """The decisions, where a fresh buffer is one that another result was written into before."""
    fresh = {(d.op, d.operand) for d in decisions if d.fresh and d.in_place}
    shared = reuse.share([(op, i, r) for op in function.ops for i, r in op.facts.ties if (op.number, i) in fresh])
    return [
        OperandDecision(d.op, d.operand, True, Reason.OVERWRITTEN_UNREAD, fresh=True)
        if (d.op, d.operand) in shared
        else d
        for d in decisions
    ]


def _copy(readers: Readers, op: OpRecord, operand: int) -> OperandDecision:
    undefined = readers.root[op.operands[operand]] in readers.undefined
    return OperandDecision(op.number, operand, undefined, Reason.NOT_ANALYSED, fresh=undefined)


def _overwrite(places: Places, readers: Readers, op: OpRecord, operand: int) -> OperandDecision:
    """Whether an op that overwrites an operand for itself alone gets the operand, or a copy."""
    conflict = places.clobber(op, operand)
    if conflict is None:
        return OperandDecision(op.number, operand, True, Reason.DIES_HERE)
    fresh = readers.root[op.operands[operand]] in readers.undefined
    return OperandDecision(op.number, operand, False, conflict.reason, conflict.op, fresh, clash=conflict.clash)


def _decide(
    function: TensorProgram, places: Places, readers: Readers, op: OpRecord, operand: int, result: int
) -> OperandDecision:
    value = op.operands[operand]
    if readers.root[value] in readers.undefined:
        # Operands are displaced in front of the analysis (`destinations`): this tells why none was, and decides nothing.
        missed = find_displacement(function, op, result, places, readers)
        reason = Reason.OVERWRITTEN_UNREAD if missed.value is not None else missed.reason
        candidate = missed.value if missed.value is not None else missed.candidate
        inserted = op.facts.part is not None and op.facts.part.source is not None
        into_part = readers.extent[value] is not WHOLE
        joined = (inserted or into_part) and places.conflict(op, operand, value, result) is None
        if joined:
            places.join(value, op.results[result])
        if joined and into_part:
            return OperandDecision(op.number, operand, True, Reason.WRITTEN_IN_DESTINATION)
        alone = missed.value is not None or missed.alone
        return OperandDecision(op.number, operand, True, reason, missed.conflict, True, candidate, missed.clash, alone)
    conflict = places.conflict(op, operand, value, result)
    if conflict is not None:
        return OperandDecision(op.number, operand, False, conflict.reason, conflict.op, clash=conflict.clash)
    places.join(value, op.results[result])
    return OperandDecision(op.number, operand, True, Reason.DIES_HERE)
