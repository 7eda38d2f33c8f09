"""The parallel copy at the end of an iteration: what a loop yields becomes its arguments, all of them at once.

1. *Coalesced*: arguments, and the results of the loop that they become, are in one buffer where an iteration yields one tensor
   for all of them and nobody writes over one while another is wanted. They may begin in memory of different tensors.

       scf.for iter_args(%x, %y) {           %z is new memory in each iteration, and in the next one both %x's and %y's:
         %z = f(%x, %y) outs(%e)       ->    nothing is copied
         scf.yield %z, %z }

2. *Moves of pointers*: an argument gets new memory, and what it had becomes another argument's, whose own may be passed on in
   turn. An argument whose memory is handed to nobody is dropped.

       scf.for iter_args(%x, %y) {           in the next iteration %x has the memory that %y has now, and %y has %z's
         %z = f(%x, %y) outs(%e)       ->
         scf.yield %y, %z }

3. *Cycles* of the copies left, each of which overwrites what another one still has to read, are broken by one argument that has
   new memory in each iteration: what is set aside for it is not copied again.

       scf.for iter_args(%y, %z) {                %n = copy of %k     set aside, since %y's memory is overwritten next
         %k = arith.select %c, %y, %x        ->   copy %z to %y's
         scf.yield %z, %k }                       copy %n to %z's     not if the next iteration takes %n for its %z

Coalescing of phis and sequentialisation of parallel copies after Boissinot et al., "Revisiting out-of-SSA translation for
correctness, code quality and efficiency" (CGO 2009); here a cycle costs a buffer, not a temporary for each run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from hotdesk.analysis.in_place.interference import Conflict
from hotdesk.analysis.in_place.places import Places
from hotdesk.analysis.tensors.program import TensorProgram
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


def cycle_breakers(
    places: Places,
    needed: Collection[int],
    copied: Sequence[FlowEdge],
    entering: Sequence[FlowEdge],
    results: Mapping[int, int],
) -> Iterator[FlowEdge]:
    """Of the edges that a loop copies, for each cycle one whose target is to have new memory in each iteration.

    Better one of which nobody reads what it ends with, and with which what enters can lie, since that may be written.

    Args:
        needed: the values that somebody reads.
        entering: the edges into the first iteration.
        results: the result of the loop that each of its arguments becomes.
    """
    fixed = {edge.target for edge in entering if places.why_read_only(edge.source) is not None}
    by_op: dict[int, list[FlowEdge]] = {}
    for edge in copied:
        if edge.target in needed and not places.moves(edge.target):
            by_op.setdefault(edge.op, []).append(edge)
    for edges in by_op.values():
        yield from _one_of_each_cycle(
            places, edges, lambda edge: (results.get(edge.target) in needed, edge.target in fixed)
        )


def _one_of_each_cycle(
    places: Places, edges: list[FlowEdge], rank: Callable[[FlowEdge], tuple[bool, bool]]
) -> Iterator[FlowEdge]:
    """Of each cycle of copies that overwrite what the next one reads, the one that ranks lowest."""
    read: dict[int, list[FlowEdge]] = {}
    for edge in edges:
        for place, _ in places.locations(edge.source):
            read.setdefault(place, []).append(edge)
    done: set[FlowEdge] = set()
    for start in edges:
        path = [] if start in done else [start]
        while path:
            filled = (place for place, _ in places.locations(path[-1].target))
            lost = (other for place in filled for other in read.get(place, ()) if other is not path[-1])
            following = next((other for other in lost if other not in done), None)
            if following is None:
                done.add(path.pop())
            elif following not in path:
                path.append(following)
            else:
                least = min(path[path.index(following) :], key=rank)
                yield least
                done.add(least)
                del path[path.index(least) :]
