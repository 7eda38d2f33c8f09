"""Phi copies that become moves of a pointer: an argument of a loop gets new memory, and what it had becomes another argument's.

    scf.for iter_args(%x, %y) {           in the next iteration %x has the memory that %y has now, and %y has %z's:
      %z = f(%x, %y) outs(%e)       ->    nothing is copied
      scf.yield %y, %z }

So it goes on: what gives its memory away may get another one's. An argument whose memory is handed to nobody is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from hotdesk.analysis.in_place.interference import Conflict
from hotdesk.analysis.in_place.places import Places
from hotdesk.analysis.tensors.program import TensorProgram
from hotdesk.program.records import FlowEdge


def pointer_moves(
    function: TensorProgram,
    places: Places,
    copied: Sequence[FlowEdge],
    kept: Sequence[FlowEdge],
    taken: Callable[[FlowEdge, Collection[int]], Conflict | None],
) -> Iterator[tuple[FlowEdge, list[int]]]:
    """Edges that need not be copied, each with the arguments whose memory its target gets.

    Args:
        copied: the edges of one loop that would be copied, to the next iteration.
        kept: its other ones, which pass on memory as it is.
        taken: why memory is not passed on by an edge to its target, although it is free of what these arguments hold.
    """
    used = {place for edge in kept for place, _ in places.locations(edge.source)}
    giving = {edge.target for edge in kept}
    waiting: dict[int, list[FlowEdge]] = {}
    for edge in copied:
        place = places.place_of(edge.source)
        if place is not None:
            waiting.setdefault(place, []).append(edge)
    free = [place for place in waiting if place not in used]
    while free:
        place = free.pop()
        block = function.values[waiting[place][0].target].block
        givers = list(places.arguments_in(place, block))
        edge = next((each for each in waiting[place] if taken(each, givers) is None), None)
        if edge is None or not givers or not giving.issuperset(givers):
            continue
        used.add(place)
        giving.add(edge.target)
        left = places.place_of(edge.target)
        if left in waiting and left not in used:
            free.append(left)
        yield edge, givers
