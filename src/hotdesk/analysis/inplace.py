"""Which results overwrite their operands, and where what control flow passes on is copied.

1. A value that a branch yields, that is selected, or that a loop hands to its results is passed on as it lies: no copy.
2. Every tied operand is decided once, in the order a heuristic gives: its op writes in place iff the operand's memory may be
   written and `Places` finds nothing that would be lost. An operand without contents gives no memory: its result has a place of
   its own.
3. What a loop yields to its next iteration lies where the argument lies, if nothing is lost by it. Arguments that change places
   among themselves are passed on as they lie; what else does not fit is copied into the argument's place.
4. What enters a loop lies where the argument lies, if nothing is lost by all that is written there; else it is copied once, in
   front of the loop.

Each decision costs a look at the neighbours of a value in its place, so the analysis is near linear in uses.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from hotdesk.analysis.displacement import find_displacement
from hotdesk.analysis.places import Conflict, Places
from hotdesk.analysis.program import FlowEdge, FunctionRecord, OpRecord
from hotdesk.analysis.readers import Readers
from hotdesk.explain import Reason

Tie = tuple[OpRecord, int, int]


@dataclass(frozen=True, slots=True)
class OperandDecision:
    """Whether a tied operand is written in place, why, and the number of the op behind the reason.

    `fresh` says that its contents were undefined: a new buffer is written, and the reason says why no operand that dies here
    was overwritten instead.
    """

    op: int
    operand: int
    in_place: bool
    reason: Reason
    conflict: int | None = None
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class FlowDecision:
    """Whether what an op passes on is copied into its target's place, why, and the number of the op behind the reason."""

    edge: FlowEdge
    copied: bool
    reason: Reason
    conflict: int | None = None


@dataclass(frozen=True, slots=True)
class InPlaceAnalysis:
    """The decisions of a function in program order, by (op, operand) too, and by (op, target) of what is passed on."""

    decisions: tuple[OperandDecision, ...]
    by_operand: dict[tuple[int, int], OperandDecision]
    flows: dict[tuple[int, int], FlowDecision] = field(default_factory=dict[tuple[int, int], FlowDecision])
    places: Places | None = None
    readers: Readers | None = None


def top_down(ties: Sequence[Tie]) -> list[Tie]:
    """In the order of the text."""
    return list(ties)


def bottom_up(ties: Sequence[Tie]) -> list[Tie]:
    """Later ops first, the operands of each from the left."""
    return sorted(ties, key=lambda tie: (-tie[0].number, tie[1]))


def largest_first(ties: Sequence[Tie], function: FunctionRecord) -> list[Tie]:
    """Where copies would cost most bytes first; symbolic sizes after numbers, in the order of the text."""

    def cost(tie: Tie) -> int:
        size = function.values[tie[0].results[tie[2]]].bytes
        return -size if isinstance(size, int) else 0

    return sorted(ties, key=cost)


def shuffled(seed: int) -> Callable[[Sequence[Tie]], list[Tie]]:
    """In an order drawn from a seed, to find what depends on the order."""

    def order(ties: Sequence[Tie]) -> list[Tie]:
        drawn = list(ties)
        random.Random(seed).shuffle(drawn)
        return drawn

    return order


HEURISTICS = ("top-down", "bottom-up", "bottom-up-from-terminators", "largest-first", "fuzzer")


def from_terminators(ties: Sequence[Tie], function: FunctionRecord) -> list[Tie]:
    """What a region hands out first, with what it was made from in the region; then the rest bottom up."""
    makers = {value: tie for tie in ties for value in (tie[0].results[tie[2]],)}
    chosen: dict[tuple[int, int], Tie] = {}
    for op in function.ops:
        if op.number + 1 != function.blocks[op.block].end or op.flow is not None:
            continue
        waiting = [value for value in op.operands if value in makers]
        while waiting:
            tie = makers[waiting.pop()]
            key = (tie[0].number, tie[1])
            if key not in chosen and tie[0].block == op.block:
                chosen[key] = tie
                waiting.extend(value for value in tie[0].operands if value in makers)
    return [*chosen.values(), *(tie for tie in bottom_up(ties) if (tie[0].number, tie[1]) not in chosen)]


def heuristic(name: str, function: FunctionRecord, seed: int = 0) -> Callable[[Sequence[Tie]], list[Tie]]:
    """The order of that name, one of `HEURISTICS`."""
    orders: dict[str, Callable[[Sequence[Tie]], list[Tie]]] = {
        "top-down": top_down,
        "bottom-up": bottom_up,
        "bottom-up-from-terminators": lambda ties: from_terminators(ties, function),
        "largest-first": lambda ties: largest_first(ties, function),
        "fuzzer": shuffled(seed),
    }
    return orders[name]


def analyse_in_place(
    function: FunctionRecord, order: Callable[[Sequence[Tie]], list[Tie]] = top_down
) -> InPlaceAnalysis:
    """Decides every tied operand and everything that control flow passes on."""
    readers = Readers(function)
    places = Places(function, readers)
    loops = _Loops(function, places)
    loops.pass_forward()
    ties = [(op, operand, result) for op in function.ops for operand, result in op.facts.ties]
    found = [_decide(function, places, readers, *tie) for tie in order(ties)]
    found.sort(key=lambda decision: (decision.op, decision.operand))
    loops.pass_around()
    return InPlaceAnalysis(tuple(found), {(d.op, d.operand): d for d in found}, loops.decisions, places, readers)


def _decide(
    function: FunctionRecord, places: Places, readers: Readers, op: OpRecord, operand: int, result: int
) -> OperandDecision:
    value = op.operands[operand]
    if readers.root[value] in readers.undefined:
        missed = find_displacement(function, op, result, places, readers)
        reason = Reason.OVERWRITTEN_UNREAD if missed.value is not None else missed.reason
        return OperandDecision(op.number, operand, True, reason, missed.conflict, fresh=True)
    conflict = places.conflict(op, operand, value, result)
    if conflict is not None:
        return OperandDecision(op.number, operand, False, conflict.reason, conflict.op)
    places.join(value, op.results[result])
    return OperandDecision(op.number, operand, True, Reason.DIES_HERE)


class _Loops:
    """What control flow passes on: forward before everything else, around loops and into them afterwards."""

    def __init__(self, function: FunctionRecord, places: Places) -> None:
        self._function = function
        self._places = places
        self.decisions: dict[tuple[int, int], FlowDecision] = {}
        self._around: dict[int, list[FlowEdge]] = {}  # edges to arguments of a loop's regions, by the loop's number
        self._forward: dict[int, list[FlowEdge]] = {}  # other edges, by target
        for edge in function.flows:
            loop = self._loop(edge)
            if loop is None:
                self._forward.setdefault(edge.target, []).append(edge)
            else:
                self._around.setdefault(loop, []).append(edge)
                places.undecided.add(edge.target)

    def _loop(self, edge: FlowEdge) -> int | None:
        """The loop whose argument an edge leads to, or whose result the argument becomes."""
        target = self._function.values[edge.target]
        if target.producer is not None:
            flow = self._function.ops[target.producer].flow
            skipped = flow is not None and any(result == target.result for _, result in flow.skips)
            return target.producer if skipped else None
        block = self._function.blocks[target.block]
        if block.parent < 0:
            return None
        flow = self._function.ops[block.parent].flow
        if flow is None or not any(region == block.region for _, region in flow.follows):
            return None
        entered = any(region == block.region and argument == target.result for _, region, argument in flow.entries)
        return block.parent if entered else None

    def pass_forward(self) -> None:
        for op in self._function.ops:
            for result in dict.fromkeys(result for _, result in op.facts.choices):
                sources = [op.operands[operand] for operand, chosen in op.facts.choices if chosen == result]
                self._places.choose(sources, op.results[result])
        for target, edges in sorted(self._forward.items(), key=lambda item: self._function.values[item[0]].order):
            self._places.choose([edge.source for edge in edges], target)
            for edge in edges:
                self.decisions[edge.op, target] = FlowDecision(edge, False, Reason.ARGUMENT_AS_IS)

    def pass_around(self) -> None:
        for loop in sorted(self._around, key=lambda number: self._function.ops[number].end):
            self._decide(self._function.ops[loop], self._around[loop])

    def _decide(self, loop: OpRecord, edges: list[FlowEdge]) -> None:
        entering = [edge for edge in edges if edge.op == loop.number and self._is_argument(edge.target)]
        yielded = [edge for edge in edges if edge.op != loop.number and self._is_argument(edge.target)]
        results = self._results(loop, edges, yielded)
        rotating = self._rotation(yielded, results)
        for edge in yielded:
            if edge.target in rotating:
                self.decisions[edge.op, edge.target] = FlowDecision(edge, False, Reason.ARGUMENT_AS_IS)
            else:
                self._lead_back(loop, edge)
        for edge in yielded:
            if self.decisions[edge.op, edge.target].copied:
                self._places.copy_into(edge.target, self._function.ops[edge.op])
        for argument, result in results.items():
            self._places.choose(sorted(rotating) if argument in rotating else [argument], result, merge=False)
        for edge in edges:
            if not self._is_argument(edge.target):
                self.decisions[edge.op, edge.target] = FlowDecision(edge, False, Reason.ARGUMENT_AS_IS)
        for edge in entering:
            self._enter(loop, edge, rotating)

    def _results(self, loop: OpRecord, edges: list[FlowEdge], yielded: list[FlowEdge]) -> dict[int, int]:
        """The result of the loop that each of its arguments becomes."""
        arguments = {(edge.op, edge.operand): edge.target for edge in yielded}
        ends = [edge for edge in edges if not self._is_argument(edge.target) and edge.op != loop.number]
        return {arguments[edge.op, edge.operand]: edge.target for edge in ends}

    def _is_argument(self, value: int) -> bool:
        return self._function.values[value].producer is None

    def _rotation(self, yielded: list[FlowEdge], results: dict[int, int]) -> frozenset[int]:
        """Arguments that lie, when an iteration ends, each where another one of them lies.

        Which of their places a result lies in is not known, so what is written to one result must not be missed in another.
        """
        home = {self._places.place_of(edge.target): edge.target for edge in yielded}
        if None in home:
            return frozenset()
        leads = {edge.target: home.get(self._places.place_of(edge.source)) for edge in yielded}
        found: set[int] = set()
        for target in leads:
            cycle: list[int] = []
            step: int | None = target
            while step is not None and step not in cycle:
                cycle.append(step)
                step = leads.get(step)
            if step == target and len(cycle) > 1:
                found.update(cycle)
        ends = [results[argument] for argument in found if argument in results]
        apart = all(self._places.may_meet(a, b) for a, b in combinations(ends, 2))
        return frozenset(found) if len(ends) == len(found) and apart else frozenset()

    def _lead_back(self, loop: OpRecord, edge: FlowEdge) -> None:
        """An edge to the next iteration: in place, or copied."""
        places, target = self._places, edge.target
        if places.locations(edge.source) == places.locations(target):
            self.decisions[edge.op, target] = FlowDecision(edge, False, Reason.DIES_HERE)
            return
        source = places.place_of(edge.source)
        conflict: Conflict | None = Conflict(Reason.PARTIAL_VIEW)
        if source is not None:
            conflict = self._taken(loop, source, target) or places.may_join(edge.source, target)
        if conflict is None:
            places.join(edge.source, target)
        self.decisions[edge.op, target] = FlowDecision(
            edge,
            conflict is not None,
            conflict.reason if conflict else Reason.DIES_HERE,
            conflict.op if conflict else None,
        )

    def _taken(self, loop: OpRecord, place: int, target: int) -> Conflict | None:
        """Whether a place may not be written, was there before the loop, or has another of the loop's arguments."""
        values = self._function.values
        if place in self._places.read_only:
            return Conflict(self._places.read_only[place])
        for occupant in self._places.occupants(place):
            if occupant.order < 2 * loop.number:
                return Conflict(Reason.READ_LATER, loop.number, occupant.group)
            if occupant.group >= 0 and occupant.group != target:
                value = values[occupant.group]
                if value.producer is None and self._function.blocks[value.block].parent == loop.number:
                    return Conflict(Reason.ALREADY_OVERWRITTEN, loop.number, occupant.group)
        return None

    def _enter(self, loop: OpRecord, edge: FlowEdge, rotating: frozenset[int]) -> None:
        """An edge into the first iteration: in place, or copied in front of the loop."""
        places, target = self._places, edge.target
        conflict = places.may_join(edge.source, target)
        if conflict is None and target in rotating:
            conflict = places.wanted(edge.source, loop)
        if conflict is None:
            places.join(edge.source, target)
        self.decisions[edge.op, target] = FlowDecision(
            edge,
            conflict is not None,
            conflict.reason if conflict else Reason.DIES_HERE,
            conflict.op if conflict else None,
        )
