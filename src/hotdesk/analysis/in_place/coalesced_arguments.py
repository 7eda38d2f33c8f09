"""Arguments of a loop coalesced in one buffer, since an iteration yields one tensor for all of them.

    scf.for iter_args(%x, %y) {           %z is new memory in each iteration, and in the next one both %x's and %y's:
      %z = f(%x, %y) outs(%e)       ->    nothing is copied, since nobody writes over one while the other is wanted
      scf.yield %z, %z }

The arguments, and the results of the loop that they become, are in one place then, which stands for one buffer now and another
one later. They may begin in memory of different tensors. Where %z lies with one of them already, the other ones are put there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from hotdesk.analysis.in_place.interference import Conflict
from hotdesk.analysis.in_place.places import Places
from hotdesk.program.records import FlowEdge


def coalesced_arguments(
    places: Places,
    yielded: Iterable[FlowEdge],
    results: Mapping[int, int],
    taken: Callable[[FlowEdge, Collection[int]], Conflict | None],
) -> Iterator[list[FlowEdge]]:
    """Groups of edges that pass on one tensor, whose targets are put into one place.

    Args:
        yielded: edges that may pass on memory which an iteration made, or kept.
        results: the result of the loop that each of its arguments becomes.
        taken: why memory is not passed on by an edge to its target, which may lie with these others.
    """
    alike: dict[tuple[int, int], list[FlowEdge]] = {}
    for edge in yielded:
        place = places.place_of(edge.source)
        if place is not None and _is_apart(places, edge, results):
            alike.setdefault((edge.op, place), []).append(edge)
    for edges in alike.values():
        targets = {edge.target for edge in edges}
        free = [edge for edge in edges if len(edges) > 1 and taken(edge, targets) is None]
        if len(free) < 2:
            continue
        first, *others = sorted(free, key=lambda edge: (not stays(places, edge), places.is_written(edge.target)))
        found = [first, *(other for other in others if _put_together(places, first, other, results))]
        if len(found) > 1:
            yield found


def stays(places: Places, edge: FlowEdge) -> bool:
    """Whether what is yielded lies with the argument that it becomes."""
    return places.locations(edge.source) == places.locations(edge.target)


def _put_together(places: Places, first: FlowEdge, other: FlowEdge, results: Mapping[int, int]) -> bool:
    """Whether the target of an edge, and the result that it becomes, lie with those of another one from now on."""
    here, there = [first.target, *_result(first, results)], [other.target, *_result(other, results)]
    if not all(places.may_meet(a, b) for a in here for b in there):
        return False
    for a, b in zip(here, there, strict=False):
        places.join(a, b)
    return True


def _is_apart(places: Places, edge: FlowEdge, results: Mapping[int, int]) -> bool:
    """Whether the target of an edge, and the result that it becomes, each have a place that may be written and gives no memory
    away: of its own, in one buffer, or the one in which that lies which is yielded."""
    values = [edge.target, *_result(edge, results)]
    found = [(value, places.place_of(value)) for value in values]
    return all(
        place is not None
        and (places.stay(place) or stays(places, edge))
        and not places.swaps.gives(value)
        and place not in places.read_only
        and not places.is_given(place)
        for value, place in found
    )


def _result(edge: FlowEdge, results: Mapping[int, int]) -> list[int]:
    return [results[edge.target]] if edge.target in results else []
