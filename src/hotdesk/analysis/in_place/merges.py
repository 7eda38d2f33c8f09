"""Merges: phis with a buffer of their own, into which each path writes or copies the tensor that it has.

A merged result of a branch, argument of a block or selected tensor lies in one place. What becomes it lies there too if nothing
is lost by it; else it is copied there, on the path on which it is taken.

    %r = scf.if %c -> tensor<8xf32> {           %m = memref.alloc()
      scf.yield %x                              scf.if %c {
    } else {                                      copy %x to %m
      %n = f(%x) outs(%e)                       } else {
      scf.yield %n                                f(%x) outs(%m)
    }                                           }
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from hotdesk.analysis.in_place.flow_edges import FlowEdges
from hotdesk.analysis.in_place.interference import Conflict
from hotdesk.analysis.in_place.places import Places
from hotdesk.analysis.tensors.program import NOT_A_TENSOR, TensorProgram
from hotdesk.explain import Reason
from hotdesk.models.control_flow import CHOOSING, way_of
from hotdesk.program.records import FlowEdge


class Apart(NamedTuple):
    """What memory a merged value must stay out of.

    Attributes:
        given: what the function was given, since the value is a result.
        loop: what was in use before this loop, since the loop yields the value; -1 if none does.
    """

    given: bool = False
    loop: int = -1


NOTHING_MERGED: Mapping[int, Apart] = {}


class Merges:
    """Decides what lies where merged values do.

    Args:
        apart: the merged values, each with what memory it must stay out of.

    Attributes:
        failed: merged values of which a copy would destroy what is still read.
    """

    def __init__(self, function: TensorProgram, places: Places, edges: FlowEdges, apart: Mapping[int, Apart]) -> None:
        self._function = function
        self._places = places
        self._edges = edges
        self._apart = apart
        self.failed: set[int] = set()
        self._copied: set[tuple[int, int]] = set()  # ops that copy something to a target on one way, and the target

    def ready(self, target: int) -> int:
        """The number of the first op behind all that becomes a merged value."""
        return (self._function.values[target].order + 1) // 2

    def settle(self, target: int) -> dict[FlowEdge, Conflict | None]:
        """Puts what becomes a value where it lies; why each that is copied there is."""
        edges = self._edges.to(target)
        found = {edge: self._refusal(edge) for edge in edges}
        for edge in edges:
            if found[edge] is not None:
                self._copy(edge)
        for edge in edges:
            if found[edge] is not None:
                continue
            found[edge] = self._refusal(edge)
            if found[edge] is None:
                self._places.join(edge.source, target)
            else:
                self._copy(edge)
        return found

    def _refusal(self, edge: FlowEdge) -> Conflict | None:
        place = self._places.place_of(edge.source)
        if place is None:
            return Conflict(Reason.PARTIAL_VIEW)
        given, loop = self._apart[edge.target]
        if given and self._places.is_given(place):
            return Conflict(Reason.RETURNED_INPUT)
        if any(occupant.order <= 2 * loop for occupant in self._places.occupants(place)[:1]):
            return Conflict(Reason.READ_LATER, loop)
        reason = self._places.why_read_only(edge.source)
        if reason is not None:
            return Conflict(reason)
        return self._places.may_join(edge.source, edge.target)

    def _copy(self, edge: FlowEdge) -> None:
        op = self._function.ops[edge.op]
        self._places.make_at(edge.target, op)
        alone = self._alone(edge)
        if alone and (edge.op, edge.target) in self._copied:  # on another way of a switch
            place = self._places.place_of(edge.target)
            done = all(other != place for other, _ in self._places.locations(edge.source))
        else:
            done = self._places.copy_over(edge.source, edge.target, op, op.number + 1 if alone else op.number)
        if not done:
            self.failed.add(edge.target)
        elif alone:
            self._copied.add((edge.op, edge.target))

    def _alone(self, edge: FlowEdge) -> bool:
        """Whether an op passes on one of its tensors only, and the others on another way."""
        op = self._function.ops[edge.op]
        if op.name not in CHOOSING:
            return False
        way = way_of(op.operation, edge.operand)
        others = (i for i, v in enumerate(op.operands) if v != NOT_A_TENSOR and i != edge.operand)
        return all(way_of(op.operation, other) != way for other in others)
