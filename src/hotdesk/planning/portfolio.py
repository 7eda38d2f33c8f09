"""Strategies: heuristics in a fixed order, then search, of which the smallest arena is kept.

No heuristic wins everywhere: offset-first packing leads on hard instances, greedy by size on very large ones. The
portfolio runs them cheapest first and stops at the first that meets the lower bound, which most real programs allow.
What remains is given to a seeded local search and, in the strategy "exact", to the searches of `exact.py`, which find
what is hard to find or prove that it is not there. Parts that cuts in time leave independent are planned by themselves.

`STRATEGIES` maps a name to a function of an instance and a `Request`; `plan` accepts any of its names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from hotdesk.planning.deadline import Deadline
from hotdesk.planning.decompose import solve_parts
from hotdesk.planning.exact import QUICK, THOROUGH, WHOLE, Rung, improve
from hotdesk.planning.greedy import GREEDY_ORDERS, greedy, greedy_below
from hotdesk.planning.instance import Instance, Layout, Prover
from hotdesk.planning.search import search
from hotdesk.planning.skyline import SKYLINE_ORDERS, find_neighbours, skyline
from hotdesk.planning.swept import skyline_swept

DEFAULT_EFFORT = 100_000
"""Placements the search may make: a third of a second on hard problems, nothing where a heuristic meets the bound."""

_LARGEST_GREEDY = 40_000
"""Buffers up to which greedy placement, which takes time in proportion to their square, takes seconds."""

_CLOSE = 1.01
"""How far above the floor a greedy layout of a dense instance is good enough."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a strategy may spend: see `planner.plan`."""

    seed: int
    effort: int
    deadline: Deadline


Strategy = Callable[[Instance, Request], Layout]
"""From an instance and a request to a layout; deterministic in both where there is no deadline."""


def _portfolio(instance: Instance, request: Request) -> Layout:
    """The smallest of all layouts, the earliest among equals; nothing is tried after one that meets the floor."""
    found: list[Layout] = []
    for layout in _layouts(instance, request, found):
        found.append(layout)
        if layout.arena <= instance.floor or request.deadline.passed():
            break
    return min(found, key=lambda layout: layout.arena)


def _layouts(instance: Instance, request: Request, found: Sequence[Layout]) -> Iterator[Layout]:
    """Layouts as they are asked for, in a fixed order, later ones only where they beat those `found` so far.

    An instance too dense for lists of neighbours gets no local search, and greedy layouts before skylines, which are left
    out where those are close to the floor: without the lists, long live ranges cost them minutes.
    """
    if instance.is_dense:
        yield from _without_lists(instance, found)
        return
    around = find_neighbours(instance)
    for name, order in SKYLINE_ORDERS.items():
        yield skyline(instance, around, order(instance), name)
    yield from _greedy_layouts(instance, found)
    if request.effort:
        yield search(instance, around, request.seed, request.effort, found, request.deadline)


def _without_lists(instance: Instance, found: Sequence[Layout]) -> Iterator[Layout]:
    if instance.obstacles or len(instance) <= _LARGEST_GREEDY:
        yield from _greedy_layouts(instance, found)
    if instance.obstacles or (found and min(layout.arena for layout in found) <= instance.floor * _CLOSE):
        return
    for name, order in SKYLINE_ORDERS.items():
        if layout := skyline_swept(instance, order(instance), name, _ceiling(found)):
            yield layout


def _greedy_layouts(instance: Instance, found: Sequence[Layout]) -> Iterator[Layout]:
    for name, order in GREEDY_ORDERS.items():
        if layout := greedy_below(instance, order(instance), name, _ceiling(found)):
            yield layout


def _ceiling(found: Sequence[Layout]) -> int | None:
    return min(layout.arena for layout in found) - 1 if found else None


def _skyline(instance: Instance, name: str) -> Layout:
    order = SKYLINE_ORDERS[name](instance)
    if instance.is_dense and not instance.obstacles and (layout := skyline_swept(instance, order, name)):
        return layout
    return skyline(instance, find_neighbours(instance), order, name)


def _search(instance: Instance, request: Request) -> Layout:
    return search(instance, find_neighbours(instance), request.seed, request.effort, deadline=request.deadline)


def _exact(instance: Instance, request: Request, prover: Prover | None) -> Layout:
    """The portfolio, then the rungs of `prover` or all, quick ones first, until the floor is met."""
    heuristic = replace(request, effort=min(request.effort, DEFAULT_EFFORT))
    best = solve_parts(instance, lambda part: _portfolio(part, heuristic))

    def climb(part: Instance, known: Layout, rungs: Sequence[Rung], *, bisect: bool) -> Layout:
        own = [rung for rung in rungs if prover in (None, rung.name)]
        return improve(part, known, rungs=own, bisect=bisect, budget=request.effort, deadline=request.deadline)

    if best.arena > instance.floor:
        best = _better(best, solve_parts(instance, lambda p: climb(p, _portfolio(p, heuristic), QUICK, bisect=False)))
    if instance.floor < best.arena and instance.floor >= best.proven:
        best = _better(best, climb(instance, best, WHOLE, bisect=False))
    if instance.floor < best.arena and best.arena > best.proven:
        best = _better(best, solve_parts(instance, lambda p: climb(p, _portfolio(p, heuristic), THOROUGH, bisect=True)))
    return best


def _better(first: Layout, second: Layout) -> Layout:
    """The smaller of two layouts, with the stronger of their proofs."""
    best = min(first, second, key=lambda layout: layout.arena)
    proof = max(first, second, key=lambda layout: layout.proven)
    return replace(best, proven=proof.proven, prover=proof.prover, witness=proof.witness)


def _in_parts(instance: Instance, request: Request, strategy: Strategy) -> Layout:
    return solve_parts(instance, lambda part: strategy(part, request))


PROVERS: dict[str, Prover | None] = {"exact": None, "beam": "beam", "cp-sat": "cp-sat"}
"""The strategies that end with exact searches, and which of these each uses."""

_SINGLE: dict[str, Strategy] = {
    **{name: lambda instance, _, name=name: _skyline(instance, name) for name in SKYLINE_ORDERS},
    **{
        name: lambda instance, _, name=name: greedy(instance, GREEDY_ORDERS[name](instance), name)
        for name in GREEDY_ORDERS
    },
    "search": _search,
}

STRATEGIES: dict[str, Strategy] = {
    "portfolio": lambda instance, request: _in_parts(instance, request, _portfolio),
    **{name: lambda instance, request, by=by: _exact(instance, request, by) for name, by in PROVERS.items()},
    **{name: lambda instance, request, one=one: _in_parts(instance, request, one) for name, one in _SINGLE.items()},
}
"""Strategies by name. All but the portfolio and those of `PROVERS` build exactly one kind of layout."""
