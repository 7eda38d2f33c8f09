"""What a loop hands on as several of its arguments at a time, in one buffer.

    scf.for iter_args(%x, %y) {           %z is new memory in each iteration, and in the next one both %x's and %y's:
      %z = f(%x, %y) outs(%e)       ->    nothing is copied, since nobody writes over one while the other is wanted
      scf.yield %z, %z }

The arguments, and the results of the loop that they become, are in one place then, which stands for one buffer now and another
one later. They may begin in memory of different tensors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from hotdesk.analysis.in_place.places import Places
from hotdesk.analysis.tensors.program import FlowEdge


def handed_together(
    places: Places, yielded: Iterable[FlowEdge], results: Mapping[int, int]
) -> Iterator[list[FlowEdge]]:
    """Groups of edges that hand on one tensor, whose targets are put into one place.

    Args:
        yielded: edges that may hand on memory which an iteration made.
        results: the result of the loop that each of its arguments becomes.
    """
    alike: dict[tuple[int, int], list[FlowEdge]] = {}
    for edge in yielded:
        place = places.place_of(edge.source)
        if place is not None and _is_apart(places, [edge.target, *_result(edge, results)]):
            alike.setdefault((edge.op, place), []).append(edge)
    for edges in alike.values():
        first, *others = sorted(edges, key=lambda edge: places.is_written(edge.target))
        found = [first, *(other for other in others if _put_together(places, first, other, results))]
        if len(found) > 1:
            yield found


def _put_together(places: Places, first: FlowEdge, other: FlowEdge, results: Mapping[int, int]) -> bool:
    """Whether the target of an edge, and the result that it becomes, lie with those of another one from now on."""
    here, there = [first.target, *_result(first, results)], [other.target, *_result(other, results)]
    if not all(places.may_meet(a, b) for a in here for b in there):
        return False
    for a, b in zip(here, there, strict=False):
        places.join(a, b)
    return True


def _is_apart(places: Places, values: Iterable[int]) -> bool:
    """Whether each of these has a place of its own that stays, and may be written."""
    found = [places.place_of(value) for value in values]
    return all(
        place is not None and places.stay(place) and place not in places.read_only and not places.is_given(place)
        for place in found
    )


def _result(edge: FlowEdge, results: Mapping[int, int]) -> list[int]:
    return [results[edge.target]] if edge.target in results else []
