"""What control flow passes on: where it lies, and where it is copied (rules 1, 3 and 4 of `inplace`).

Blocks that branch back to one before them are a loop too (`block_loops`).

A tensor that may come round a loop larger or smaller than it went in has memory of its own each time. So has one that would be
copied, where loops may yield new memory and an iteration makes some for it alone. Its place stands for one buffer now and another
one later, as do the places of arguments that change places among themselves; all that is made there anew has memory of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hotdesk.analysis.in_place.block_loops import BlockLoop, givers, traded
from hotdesk.analysis.in_place.circles import broken
from hotdesk.analysis.in_place.gathering import NOTHING_GATHERED, Gathering
from hotdesk.analysis.in_place.interference import Clash, Conflict
from hotdesk.analysis.in_place.passed_edges import PassedEdges
from hotdesk.analysis.in_place.places import Places
from hotdesk.analysis.tensors.program import FlowEdge, FunctionRecord, OpRecord
from hotdesk.analysis.tensors.readers import Readers
from hotdesk.explain import Reason


@dataclass(frozen=True, slots=True)
class FlowDecision:
    """Whether what an op passes on is copied into its target's place, why, and the number of the op behind the reason."""

    edge: FlowEdge
    copied: bool
    reason: Reason
    conflict: int | None = None
    clash: Clash | None = field(default=None, compare=False)


class Passing:
    """What control flow passes on: forward before everything else, around loops and into them afterwards.

    Args:
        gathered: values that are one of several, in memory of their own (`gathering`).
        anew: loops may yield memory that an iteration made, where they would copy it back otherwise.
    """

    def __init__(
        self,
        function: FunctionRecord,
        places: Places,
        readers: Readers,
        gathered: Mapping[int, bool] = NOTHING_GATHERED,
        *,
        anew: bool = False,
    ) -> None:
        self._function = function
        self._anew = anew
        self._places = places
        self._needed = readers.needed
        self._control = readers.control
        self.decisions: dict[FlowEdge, FlowDecision] = {}
        self._edges = PassedEdges(function, readers.control)
        self._gathered = gathered
        self.gathering = Gathering(function, places, self._edges, gathered)
        for loop, edges in self._edges.around.items():
            for edge in edges:
                places.come_round(edge.target, 2 * loop + 1)
        for head, edges in self._edges.heads.items():
            for edge in edges:
                places.come_round(edge.target, self._begin(head))

    def _begin(self, head: int) -> int:
        """When a loop of blocks begins."""
        return 2 * self._function.blocks[head].first

    def pass_forward(self) -> None:
        """Choices of ops and of control flow in the order of their results, so that what one chooses from is decided by then."""
        chosen = {
            target: [edge.source for edge in edges]
            for found in (self._edges.forward, self._edges.choices)
            for target, edges in found.items()
            if target not in self._gathered
        }
        for target in sorted(chosen, key=lambda value: self._function.values[value].order):
            self._places.choose(chosen[target], target)
            for edge in self._edges.forward.get(target, ()):
                self.decisions[edge] = FlowDecision(edge, False, Reason.ARGUMENT_AS_IS)

    def pass_around(self) -> None:
        """From the inside out; in one region, loops of blocks from the last."""
        loops = [(self._function.ops[loop].end, 0, loop, self._close) for loop in self._edges.around]
        loops.extend((self._control.end_of_region(head), -head, head, self._close_blocks) for head in self._edges.heads)
        loops.extend((self.gathering.ready(target), 0, target, self._gather) for target in sorted(self._gathered))
        for _, _, number, decide in sorted(loops, key=lambda each: each[:2]):
            decide(number)

    def _close(self, number: int) -> None:
        self._places.settle(2 * number + 1)
        self._decide(self._function.ops[number], self._edges.around[number])

    def _close_blocks(self, number: int) -> None:
        self._places.settle(self._begin(number))
        self._decide_branches(self._edges.heads[number])

    def _gather(self, number: int) -> None:
        for edge, conflict in self.gathering.settle(number).items():
            self._note(edge, conflict)

    def _decide(self, loop: OpRecord, edges: list[FlowEdge]) -> None:
        entering = [edge for edge in edges if edge.op == loop.number and self._edges.is_argument(edge.target)]
        yielded = [edge for edge in edges if edge.op != loop.number and self._edges.is_argument(edge.target)]
        results = self._results(loop, edges, yielded)
        rotating = self._rotation(yielded)
        for edge in yielded:
            if edge.target in rotating:
                self.decisions[edge] = FlowDecision(edge, False, Reason.ARGUMENT_AS_IS)
            else:
                self._lead_back(loop, edge, yielded)
        if self._anew:
            copied = [edge for edge in yielded if self.decisions[edge].copied]
            self._places.move(edge.target for edge in broken(self._places, self._needed, copied, entering, results))
        for edge in yielded:
            if self.decisions[edge].copied and not self._places.moves(edge.target):
                self._places.copy_into(edge.target, self._function.ops[edge.op])
        for argument, result in results.items():
            self._places.choose([argument], result)
        for edge in edges:
            if not self._edges.is_argument(edge.target):
                self.decisions[edge] = FlowDecision(edge, False, Reason.ARGUMENT_AS_IS)
        giving = givers(self._places, entering)
        for edge in entering:
            self._enter(edge, giving)

    def _decide_branches(self, edges: list[FlowEdge]) -> None:
        """Branches into a loop of blocks, and those back to its first one."""
        loop = BlockLoop(self._function, self._places, self._control, edges)
        loop.decide()
        for edge in edges:
            conflict = loop.copied.get(edge)
            if conflict is not None:
                self.decisions[edge] = FlowDecision(edge, True, conflict.reason, conflict.op, conflict.clash)
            else:
                reason = Reason.ARGUMENT_AS_IS if edge in loop.handed else Reason.DIES_HERE
                self.decisions[edge] = FlowDecision(edge, False, reason)

    def _results(self, loop: OpRecord, edges: list[FlowEdge], yielded: list[FlowEdge]) -> dict[int, int]:
        """The result of the loop that each of its arguments becomes."""
        arguments = {(edge.op, edge.operand): edge.target for edge in yielded}
        ends = [edge for edge in edges if not self._edges.is_argument(edge.target) and edge.op != loop.number]
        return {arguments[edge.op, edge.operand]: edge.target for edge in ends}

    def _rotation(self, yielded: list[FlowEdge]) -> frozenset[int]:
        """Arguments that lie, when an iteration ends, each where another one of them lies.

        They change buffers, and each place goes with its argument: what a result of the loop comes from lies in its place.
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
        for target in found:
            giver = leads[target]
            if giver is not None:
                self._places.trades.add(giver, target)
        self._places.move(found)
        return frozenset(found)

    def _lead_back(self, loop: OpRecord, edge: FlowEdge, yielded: list[FlowEdge]) -> None:
        """An edge to the next iteration: in place, or copied."""
        places, target = self._places, edge.target
        if places.locations(edge.source) == places.locations(target):
            self.decisions[edge] = FlowDecision(edge, False, Reason.DIES_HERE)
            return
        source = places.place_of(edge.source)
        conflict = Conflict(Reason.PARTIAL_VIEW) if source is None else self._taken(loop, source, target)
        alone = conflict or self._shared(loop, edge, yielded)
        if self._function.values[edge.source].shape != self._function.values[target].shape:
            places.move((target,))
            self._lead_on(loop, edge, alone)
            return
        conflict = conflict or places.may_join(edge.source, target)
        if conflict is not None and alone is None and self._anew:
            places.move((target,))
            self._lead_on(loop, edge, None)
            return
        self._settle(edge, conflict)

    def _shared(self, loop: OpRecord, edge: FlowEdge, yielded: list[FlowEdge]) -> Conflict | None:
        """Whether memory that an iteration made for what it yields is also that of something else that it yields."""
        made = self._places.place_of(edge.source)
        others = [other.source for other in yielded if other is not edge]
        if any(place == made for other in others for place, _ in self._places.locations(other)):
            return Conflict(Reason.ALREADY_OVERWRITTEN, loop.number)
        return None

    def _lead_on(self, loop: OpRecord, edge: FlowEdge, conflict: Conflict | None) -> None:
        """An edge to the next iteration in memory of the tensor's own: what was made for it alone, or a copy."""
        if conflict is None:
            self._places.hand_on(edge.source, loop)
            self.decisions[edge] = FlowDecision(edge, False, Reason.ARGUMENT_AS_IS)
        else:
            self.decisions[edge] = FlowDecision(edge, True, conflict.reason, conflict.op)

    def _settle(self, edge: FlowEdge, conflict: Conflict | None) -> None:
        if conflict is None:
            self._places.join(edge.source, edge.target)
        self._note(edge, conflict)

    def _note(self, edge: FlowEdge, conflict: Conflict | None) -> None:
        if conflict is None:
            self.decisions[edge] = FlowDecision(edge, False, Reason.DIES_HERE)
        else:
            self.decisions[edge] = FlowDecision(edge, True, conflict.reason, conflict.op, conflict.clash)

    def _taken(self, loop: OpRecord, place: int, target: int) -> Conflict | None:
        """Whether a place may not be written, was there before the loop, or has another of the loop's arguments."""
        values = self._function.values
        if place in self._places.read_only:
            return Conflict(self._places.read_only[place])
        for occupant in self._places.occupants(place):
            if occupant.order <= 2 * loop.number:
                return Conflict(Reason.READ_LATER, loop.number)
            if occupant.group >= 0 and occupant.group != target:
                value = values[occupant.group]
                if value.producer is None and self._function.blocks[value.block].parent == loop.number:
                    return Conflict(Reason.ALREADY_OVERWRITTEN, loop.number)
        return None

    def _enter(self, edge: FlowEdge, giving: frozenset[int]) -> None:
        """An edge into the first iteration: in place, or copied in front of the loop."""
        places = self._places
        conflict = places.may_join(edge.source, edge.target) or traded(self._function, places, edge, giving)
        self._settle(edge, conflict)
