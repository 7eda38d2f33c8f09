"""Loops of blocks that `cf` branches make: which tensors go round one in the same memory, and which are copied on the way.

1. What comes back to an argument of the first block lies where the argument lies, if it has the same size, all that lies there is
   made inside the loop, no other argument lies there, and nothing is lost.
2. Else its memory is passed on, if that is another argument's or was made inside the loop, and the same branch hands it to
   nobody else. Then a place stands for one buffer now and another one later, and what is made there anew has memory of its own.
3. Else an argument over which nobody writes lies wherever what it gets lies, if nothing is lost.
4. Else it is copied into new memory, at the branch.
5. What enters the loop lies where the argument lies, if nothing is lost. If the argument gives its memory to others, what enters
   is copied when somebody still wants it, or when it enters as another argument too, unless nobody writes to any memory that it
   may become.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from hotdesk.analysis.in_place.interference import Conflict
from hotdesk.analysis.in_place.loop_entry import givers, lend, why_not_swapped
from hotdesk.analysis.in_place.places import Places
from hotdesk.analysis.tensors.program import TensorProgram
from hotdesk.explain import Reason
from hotdesk.program.dominance import Dominance
from hotdesk.program.records import FlowEdge


class BlockLoop:
    """One loop of blocks: decides the branches into it, and those back to its first block.

    Attributes:
        copied: why what a branch passes on is copied, for those where it is.
        passed: branches that pass on memory as it is, from one place to another.
    """

    def __init__(
        self, function: TensorProgram, places: Places, dominance: Dominance, edges: Sequence[FlowEdge]
    ) -> None:
        self._function = function
        self._places = places
        self._dominance = dominance
        self._head = function.blocks[function.values[edges[0].target].block]
        self._back = [edge for edge in edges if function.ops[edge.op].block >= self._head.number]
        self._entering = [edge for edge in edges if function.ops[edge.op].block < self._head.number]
        self.copied: dict[FlowEdge, Conflict] = {}
        self.passed: set[FlowEdge] = set()

    def decide(self) -> None:
        for edge in self._back:
            self._decide_back_edge(edge)
        for branch in _branches(self._back):
            self._swap_buffers(branch)
        for target in dict.fromkeys(edge.target for edge in self._back):
            self._choose(target)
        self._places.scatter(edge.target for edge in self.copied)
        giving = givers(self._places, self._entering)
        refused = [edge for edge in self._entering if edge not in self.passed and not self._enter(edge, giving)]
        for edge in lend(self._places, refused):
            del self.copied[edge]
        ways = Counter(edge.target for edge in self._entering)
        several = [edge for edge in self._entering if ways[edge.target] > 1]
        apart = [edge for edge in several if edge in self.copied or not self._is_as_large(edge)]
        self._places.scatter(edge.target for edge in apart)

    def _decide_back_edge(self, edge: FlowEdge) -> None:
        """An edge to the next iteration: in the place of the argument, if that can be."""
        places = self._places
        if places.locations(edge.source) == places.locations(edge.target):
            return
        conflict = self._outside(edge) or places.may_join(edge.source, edge.target)
        if conflict is None:
            places.join(edge.source, edge.target)
        else:
            self.copied[edge] = conflict

    def _outside(self, edge: FlowEdge) -> Conflict | None:
        """Whether what comes back has another size, or lies with what is made outside the loop or is another argument there."""
        place = self._places.place_of(edge.source)
        if place is None:
            return Conflict(Reason.PARTIAL_VIEW)
        if not self._is_as_large(edge):
            return Conflict(Reason.SIZE_NOT_PROVEN_EQUAL, self._head.first)
        if not self._is_inside(place):
            return Conflict(Reason.READ_LATER, self._head.first)
        if any(argument != edge.target for argument in self._arguments_in(place)):
            return Conflict(Reason.ALREADY_OVERWRITTEN, self._head.first)
        return None

    def _is_as_large(self, edge: FlowEdge) -> bool:
        """Whether what a branch passes on has the sizes of the argument that it becomes."""
        return self._function.values[edge.source].shape == self._function.values[edge.target].shape

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
        settled = [edge for edge in branch if edge not in self.copied]
        taken = {place for edge in settled for place, _ in places.locations(edge.source)}
        for edge in branch:
            source, target = places.place_of(edge.source), places.place_of(edge.target)
            if edge not in self.copied or source is None or target is None or source in taken:
                continue
            if source in places.read_only or not self._is_inside(source):
                continue
            del self.copied[edge]
            self.passed.add(edge)
            taken.add(source)
            places.move((edge.source, edge.target))
            for argument in self._arguments_in(source):
                places.swaps.add(argument, edge.target)

    def _choose(self, target: int) -> None:
        """Lets an argument lie wherever what it gets lies, if nobody writes over it."""
        places = self._places
        edges = [edge for edge in (*self._back, *self._entering) if edge.target == target]
        own = places.place_of(target)
        if own is None or not any(edge in self.copied for edge in edges):
            return
        if places.is_written(target) or not places.stay(own):
            return
        others = [edge for edge in edges if places.place_of(edge.source) != own]
        if any(places.moves(edge.source) or places.may_join(edge.source, target) is not None for edge in others):
            return
        places.choose([edge.source for edge in others], target, merge=False)
        for edge in edges:
            self.copied.pop(edge, None)
            self.passed.add(edge)

    def _enter(self, edge: FlowEdge, giving: frozenset[int]) -> bool:
        """Whether what enters the first iteration lies in the place of the argument."""
        places = self._places
        conflict = places.may_join(edge.source, edge.target) or why_not_swapped(self._function, places, edge, giving)
        if conflict is None:
            places.join(edge.source, edge.target)
        else:
            self.copied[edge] = conflict
            places.know(edge.target, self._function.ops[edge.op])
        return conflict is None


def _branches(edges: Iterable[FlowEdge]) -> Iterator[list[FlowEdge]]:
    """The edges of each branch: what one op passes to one of its successors, which has each of its arguments once."""
    found: list[FlowEdge] = []
    for edge in sorted(edges, key=lambda edge: (edge.op, edge.operand)):
        if found and (edge.op != found[0].op or any(edge.target == other.target for other in found)):
            yield found
            found = []
        found.append(edge)
    if found:
        yield found
