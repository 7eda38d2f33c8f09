"""Copies at the entry of loops whose arguments swap buffers or get new ones, and what enters without one, never to be written.

Whoever writes to any memory that an argument's may become writes to what entered: so that is copied when somebody still wants it,
or when it enters as another argument too. If nobody does, it is lent: it enters as it is, and is not written any more.
"""

from __future__ import annotations

from collections.abc import Iterable

from hotdesk.analysis.in_place.interference import Conflict
from hotdesk.analysis.in_place.places import Places
from hotdesk.analysis.tensors.program import TensorProgram
from hotdesk.explain import Reason
from hotdesk.program.records import FlowEdge


def givers(places: Places, entering: Iterable[FlowEdge]) -> frozenset[int]:
    """The arguments that give their memory to others, asked before anything enters their loop."""
    return frozenset(edge.target for edge in entering if places.swaps.gives(edge.target))


def why_not_swapped(function: TensorProgram, places: Places, edge: FlowEdge, giving: frozenset[int]) -> Conflict | None:
    """Why the memory of what enters a loop must not become another argument's there: somebody still wants it as it is.

    That may be another argument of the loop that has entered with the same memory, unless it only becomes that of such ones.
    `giving` are those that give theirs away.
    """
    block, place = function.values[edge.target].block, places.place_of(edge.source)
    sharing = {a for each, _ in places.locations(edge.source) for a in places.arguments_in(each, block)}
    sharing.add(edge.target)
    if len(sharing) > 1:
        led = {value for argument in sharing & giving for value in places.swaps.led_to(argument)}
        together = (place, places.place_of(edge.target))
        if led and (place is None or any(places.place_of(value) not in together for value in led)):
            return Conflict(Reason.ALREADY_OVERWRITTEN, edge.op)
    if edge.target not in giving:
        return None
    if place is None:
        return Conflict(Reason.PARTIAL_VIEW)
    return places.wanted(edge.source, function.ops[edge.op])


def lend(places: Places, refused: Iterable[FlowEdge]) -> list[FlowEdge]:
    """Of edges that would be copied in front of a loop, those that enter as they are, since nobody writes where that leads to."""
    lent = [edge for edge in refused if _is_lent(places, edge)]
    for edge in lent:
        for value in (edge.target, *places.swaps.led_to(edge.target)):
            places.read_only.setdefault(places.find(value), Reason.READ_LATER)
    return lent


def _is_lent(places: Places, edge: FlowEdge) -> bool:
    led = places.swaps.led_to(edge.target)
    if not led or places.place_of(edge.source) is None:
        return False
    if any(map(places.is_written, (edge.source, edge.target, *led))):
        return False
    if places.may_join(edge.source, edge.target) is not None:
        return False
    places.join(edge.source, edge.target)
    return True
