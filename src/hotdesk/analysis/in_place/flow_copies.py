"""Phi copies: where what control flow passes on lies, and where it is copied (rules 1, 3 and 4 of `inplace`).

Forward it lies where it lay, or is merged (`merges`); around loops it is up to `region_loops`, and to `block_loops` where
blocks branch back to one before them.
"""

from __future__ import annotations

from collections.abc import Mapping

from hotdesk.analysis.in_place.block_loops import BlockLoop
from hotdesk.analysis.in_place.flow_edges import FlowEdges
from hotdesk.analysis.in_place.interference import Conflict
from hotdesk.analysis.in_place.merges import NOTHING_MERGED, Apart, Merges
from hotdesk.analysis.in_place.places import Places
from hotdesk.analysis.in_place.region_loops import RegionLoop
from hotdesk.analysis.tensors.program import TensorProgram
from hotdesk.analysis.tensors.readers import Readers
from hotdesk.program.records import FlowEdge


class FlowCopies:
    """What control flow passes on: forward before everything else, around loops and into them afterwards.

    Args:
        merged: values that are one of several, in memory of their own (`merges`).
        anew: loops may yield memory that an iteration made, where they would copy it back otherwise.

    Attributes:
        copies: why what an edge passes on is copied; None if it is passed on as it lies.
    """

    def __init__(
        self,
        function: TensorProgram,
        places: Places,
        readers: Readers,
        edges: FlowEdges,
        merged: Mapping[int, Apart] = NOTHING_MERGED,
        *,
        anew: bool = False,
    ) -> None:
        self._function = function
        self._anew = anew
        self._places = places
        self._needed = readers.needed
        self._dominance = readers.dominance
        self._edges = edges
        self._merged = merged
        self._unsettled: set[int] = set()
        self.copies: dict[FlowEdge, Conflict | None] = {}
        self.merges = Merges(function, places, self._edges, merged)
        for loop, around in self._edges.around.items():
            for edge in around:
                places.come_round(edge.target, 2 * loop + 1)
        for head, back in self._edges.heads.items():
            for edge in back:
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
            if target not in self._merged
        }
        for target in sorted(chosen, key=lambda value: self._function.values[value].order):
            self._places.choose(chosen[target], target)
            self.copies.update(dict.fromkeys(self._edges.forward.get(target, ())))

    def pass_around(self) -> None:
        """From the inside out; in one region, loops of blocks from the last."""
        loops = [(self._function.ops[loop].end, 0, loop, self._close) for loop in self._edges.around]
        loops.extend((self._ends(head), -head, head, self._close_blocks) for head in self._edges.heads)
        loops.extend((self.merges.ready(target), 0, target, self._merge) for target in sorted(self._merged))
        for _, _, number, decide in sorted(loops, key=lambda each: each[:2]):
            decide(number)

    def wandering(self) -> frozenset[int]:
        """Arguments of loops over regions that are in one buffer now and in another one later because of other loops, which swap.

        Either iterations copy to them, or hand them what a loop inside has swapped. Not those that may change their size: these
        have new memory each time.
        """
        values, found = self._function.values, set(self._unsettled)
        for loop, edges in self._edges.around.items():
            entered = {edge.target for edge in edges if edge.op == loop}
            for edge in edges:
                copied = edge.op != loop and edge.target in entered and self.copies[edge] is not None
                alike = values[edge.source].shape == values[edge.target].shape
                if copied and alike and self._places.moves(edge.target):
                    found.add(edge.target)
        return frozenset(found)

    def _ends(self, block: int) -> int:
        """The number after the last op of the region that a block is in."""
        return self._function.blocks[self._function.region_of(block)[-1]].end

    def _close(self, number: int) -> None:
        self._places.settle(2 * number + 1)
        loop = RegionLoop(
            self._function,
            self._places,
            self._needed,
            self._function.ops[number],
            self._edges.around[number],
            merged=self._merged,
            anew=self._anew,
        )
        loop.decide()
        self.copies.update(loop.copies)
        self._unsettled |= loop.unsettled

    def _close_blocks(self, number: int) -> None:
        self._places.settle(self._begin(number))
        loop = BlockLoop(self._function, self._places, self._dominance, self._edges.heads[number])
        loop.decide()
        self.copies.update(loop.copies)

    def _merge(self, number: int) -> None:
        self.copies.update(self.merges.settle(number))
