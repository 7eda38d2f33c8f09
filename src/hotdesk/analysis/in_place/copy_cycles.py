"""Cycles of the parallel copy at the end of an iteration: each of its copies overwrites what another one still has to read.

    scf.for iter_args(%y, %z) {                %n = copy of %k     set aside, since %y's memory is overwritten next
      %k = arith.select %c, %y, %x        ->   copy %z to %y's
      scf.yield %z, %k }                       copy %n to %z's     not if the next iteration takes %n for its %z

Each cycle is broken by one argument that has new memory in each iteration: what is set aside for it is not copied again.

Sequentialisation of parallel copies after Boissinot et al., 2009; here a cycle costs a buffer, not a temporary for each run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from hotdesk.analysis.in_place.places import Places
from hotdesk.program.records import FlowEdge


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
        yield from _broken(places, edges, lambda edge: (results.get(edge.target) in needed, edge.target in fixed))


def _broken(places: Places, edges: list[FlowEdge], rank: Callable[[FlowEdge], tuple[bool, bool]]) -> Iterator[FlowEdge]:
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
