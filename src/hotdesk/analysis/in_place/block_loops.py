"""Loops of blocks that `cf` branches make: which tensors go round one in the same memory, and which are copied on the way.

1. What comes back to an argument of the first block lies where the argument lies, if it has the same size, all that lies there is
   made inside the loop, no other argument lies there, and nothing is lost.
2. Else its memory is passed on, if that is another argument's or was made inside the loop, and the same branch hands it to
   nobody else. Then a place stands for one buffer now and another one later, and what is made there anew has memory of its own.
3. Else an argument over which nobody writes lies wherever what it gets lies, if nothing is lost.
4. Else it is copied into new memory, at the branch.
5. What enters the loop lies where the argument lies, if nothing is lost (`loop_phis`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from hotdesk.analysis.in_place.interference import Conflict
from hotdesk.analysis.in_place.loop_phis import LoopPhis
from hotdesk.analysis.in_place.places import Places
from hotdesk.analysis.tensors.program import TensorProgram
from hotdesk.explain import Reason
from hotdesk.program.dominance import Dominance
from hotdesk.program.records import FlowEdge


class BlockLoop(LoopPhis):
    """One loop of blocks: decides the branches into it, and those back to its first block."""

    def __init__(
        self, function: TensorProgram, places: Places, dominance: Dominance, edges: Sequence[FlowEdge]
    ) -> None:
        self._dominance = dominance
        self._head = head = function.blocks[function.values[edges[0].target].block]
        back = [edge for edge in edges if function.ops[edge.op].block >= head.number]
        entering = [edge for edge in edges if function.ops[edge.op].block < head.number]
        super().__init__(function, places, entering, back)

    def decide(self) -> None:
        for edge in self._back:
            self._decide_back_edge(edge)
        for branch in _branches(self._back):
            self._swap_buffers(branch)
        by_target: dict[int, list[FlowEdge]] = {}
        for edge in (*self._back, *self._entering):
            by_target.setdefault(edge.target, []).append(edge)
        for target, edges in by_target.items():
            self._choose(target, edges)
        self._places.scatter(edge.target for edge in self._copied(self._back))
        self._find_givers()
        for edge in self._entering:
            if edge not in self.copies:
                self._enter(edge)
        self._lend()
        ways = Counter(edge.target for edge in self._entering)
        apart = [edge for edge in self._entering if self.copies[edge] is not None or self._changes_size(edge)]
        self._places.scatter(edge.target for edge in apart if ways[edge.target] > 1)

    def _decide_back_edge(self, edge: FlowEdge) -> None:
        """An edge to the next iteration: in the place of the argument, if that can be."""
        places = self._places
        conflict = None
        if places.locations(edge.source) != places.locations(edge.target):
            conflict = self._outside(edge) or places.may_join(edge.source, edge.target)
            if conflict is None:
                places.join(edge.source, edge.target)
        self.copies[edge] = conflict

    def _outside(self, edge: FlowEdge) -> Conflict | None:
        """Whether what comes back has another size, or lies with what is made outside the loop or is another argument there."""
        place = self._places.place_of(edge.source)
        if place is None:
            return Conflict(Reason.PARTIAL_VIEW)
        if self._changes_size(edge):
            return Conflict(Reason.SIZE_NOT_PROVEN_EQUAL, self._head.first)
        if not self._is_inside(place):
            return Conflict(Reason.READ_LATER, self._head.first)
        if any(argument != edge.target for argument in self._arguments_in(place)):
            return Conflict(Reason.ALREADY_OVERWRITTEN, self._head.first)
        return None

    def _is_inside(self, place: int) -> bool:
        """Whether all that lies in a place is made in the loop."""
        begin = 2 * self._head.first
        return all(
            self._dominance.is_defined(self._head.number, begin, occupant.block, occupant.order)
            for occupant in self._places.occupants(place)
        )

    def _arguments_in(self, place: int) -> Iterator[int]:
        """The arguments of the first block that lie in a place."""
        return self._places.arguments_in(place, self._head.number)

    def _swap_buffers(self, branch: Sequence[FlowEdge]) -> None:
        """The edges of one branch back: what would be copied is passed on where that can be."""
        places = self._places
        copied = self._copied(branch)
        taken = {place for edge in branch if self.copies[edge] is None for place, _ in places.locations(edge.source)}
        for edge in copied:
            source, target = places.place_of(edge.source), places.place_of(edge.target)
            if source is None or target is None or source in taken:
                continue
            if source in places.read_only or not self._is_inside(source):
                continue
            self.copies[edge] = None
            taken.add(source)
            places.move((edge.source, edge.target))
            for argument in self._arguments_in(source):
                places.swaps.add(argument, edge.target)

    def _choose(self, target: int, edges: Sequence[FlowEdge]) -> None:
        """Lets an argument lie wherever what it gets lies, if nobody writes over it."""
        places = self._places
        own = places.place_of(target)
        if own is None or not self._copied(edges):
            return
        if places.is_written(target) or not places.stay(own):
            return
        others = [edge for edge in edges if places.place_of(edge.source) != own]
        if any(places.moves(edge.source) or places.may_join(edge.source, target) is not None for edge in others):
            return
        places.choose([edge.source for edge in others], target, merge=False)
        self.copies.update(dict.fromkeys(edges))

    def _enter(self, edge: FlowEdge) -> None:
        """An edge into the first iteration: in the place of the argument, if that can be."""
        conflict = self.copies[edge] = self._why_not_entered(edge)
        if conflict is None:
            self._places.join(edge.source, edge.target)
        else:
            self._places.know(edge.target, self._function.ops[edge.op])


def _branches(edges: Iterable[FlowEdge]) -> Iterator[list[FlowEdge]]:
    """The edges of each branch: what one op passes to one of its successors, which has each of its arguments once."""
    found: dict[int, FlowEdge] = {}
    for edge in sorted(edges, key=lambda edge: (edge.op, edge.operand)):
        if edge.target in found or any(edge.op != other.op for other in list(found.values())[:1]):
            yield list(found.values())
            found = {}
        found[edge.target] = edge
    if found:
        yield list(found.values())
