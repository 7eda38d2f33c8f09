"""Strategies: heuristics in a fixed order, then search, of which the smallest arena is kept.

No heuristic wins everywhere: offset-first packing leads on hard instances, greedy by size on very large ones. The
portfolio runs them cheapest first and stops at the first that meets the lower bound, which most real programs allow.
What remains is given to a seeded local search, and a small beam then asks for the bound and closes what gap it can. In the
strategy "exact" all the searches of `exact.py` find what is hard to find or prove that it is not there. Parts that cuts in
time leave independent are planned by themselves.

`STRATEGIES` maps a name to a function of an instance and a `Request`; `plan` accepts any of its names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from hotdesk.planning.deadline import Deadline
from hotdesk.planning.decompose import solve_parts
from hotdesk.planning.exact import CLOSING, QUICK, THOROUGH, WHOLE, Rung, improve
from hotdesk.planning.greedy import GREEDY_ORDERS, greedy_below
from hotdesk.planning.instance import Instance, Layout, Prover
from hotdesk.planning.layers import plan_layers
from hotdesk.planning.online import online
from hotdesk.planning.search import search
from hotdesk.planning.skyline import SKYLINE_ORDERS, find_neighbours, skyline
from hotdesk.planning.swept import LOOK, skyline_swept

NO_REUSE = "no-reuse"
"""The name of plans in which no two buffers share a byte."""

DEFAULT_EFFORT = 100_000
"""Placements the search may make: a third of a second on hard problems, nothing where a heuristic meets the bound."""

_CLOSING_NODES = 20_000
"""Nodes of the searches that close what gap is left: some tenths of a second, where no heuristic meets the bound."""

_CLOSING_LARGEST = 300
"""Buffers, pinned ones too, up to which so few nodes may settle something."""

_GREEDY_WORK = 1_600_000_000
"""Looks of one buffer at another that greedy placement may take, all orders together: some seconds, some 30 without `numba`."""

_SWEPT_WORK = 12_000_000_000
"""Steps that one skyline without lists of neighbours may read: some ten seconds."""

_SWEPT_LOOKS = 12
"""Looks at each buffer that one may take before greedy placement has its turn: enough where live ranges are short."""

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
    return min(found, key=lambda layout: layout.arena) if found else _at_once(instance)


def _closed(instance: Instance, request: Request) -> Layout:
    """The portfolio's, or where its gap is open what so few nodes find below it; and what they prove."""
    best = _portfolio(instance, request)
    if best.arena <= instance.floor or len(instance) + len(instance.obstacles) > _CLOSING_LARGEST:
        return best
    nodes = min(_CLOSING_NODES, request.effort)
    return improve(instance, best, rungs=CLOSING, bisect=True, budget=nodes, deadline=request.deadline)


def _layouts(instance: Instance, request: Request, found: Sequence[Layout]) -> Iterator[Layout]:
    """Layouts as they are asked for, in a fixed order, later ones only where they beat those `found` so far.

    An instance with too many buffers or pairs for lists of neighbours gets no local search.
    """
    if instance.is_dense:
        yield from _without_lists(instance, request, found)
        return
    around = find_neighbours(instance)
    for name, order in SKYLINE_ORDERS.items():
        yield skyline(instance, around, order(instance), name)
    yield from _greedy_layouts(instance, request, found)
    if layout := plan_layers(instance, lambda part: _portfolio(part, request)):
        yield layout
    if request.effort:
        yield search(instance, around, request.seed, request.effort, found, request.deadline)


def _without_lists(instance: Instance, request: Request, found: Sequence[Layout]) -> Iterator[Layout]:
    """Skylines if they are done soon, layers, greedy layouts, and where none of these is close to the floor, long skylines.

    Without lists a skyline looks at a buffer again and again, which takes minutes where many live long.
    """
    yield from _swept_layouts(instance, request, found, LOOK * _SWEPT_LOOKS * len(instance))
    soon = bool(found)
    if layout := plan_layers(instance, lambda part: _portfolio(part, request)):
        yield layout
    for layout in _greedy_layouts(instance, request, found):
        yield layout
        if layout.arena <= instance.floor * _CLOSE:
            return
    if not soon:
        yield from _swept_layouts(instance, request, found, _SWEPT_WORK)


def _swept_layouts(instance: Instance, request: Request, found: Sequence[Layout], work: int) -> Iterator[Layout]:
    """One for each order that gets below what is found; none where the first of all layouts takes too much work."""
    for name, order in SKYLINE_ORDERS.items():
        ceiling = _ceiling(found)
        if layout := skyline_swept(instance, order(instance), name, ceiling, work, request.deadline):
            yield layout
        elif ceiling is None:
            return


def _greedy_layouts(instance: Instance, request: Request, found: Sequence[Layout]) -> Iterator[Layout]:
    """As many orders as the work allows, each of which takes time in proportion to the square of the buffers."""
    each = max(len(instance) ** 2 // 2, 1)
    for name, order in list(GREEDY_ORDERS.items())[: _GREEDY_WORK // each]:
        if layout := greedy_below(instance, order(instance), name, _ceiling(found), request.deadline):
            yield layout


def _ceiling(found: Sequence[Layout]) -> int | None:
    return min(layout.arena for layout in found) - 1 if found else None


def _at_once(instance: Instance) -> Layout:
    """What there is where nothing else was found in time: what an allocator would do, or no two buffers share a byte."""
    if not instance.obstacles:
        return online(instance)
    offsets = [0] * len(instance)
    top = max(o.top for o in instance.obstacles)
    for i in sorted(range(len(instance)), key=lambda i: -instance.alignment[i]):
        offsets[i] = top + -top % instance.alignment[i]
        top = offsets[i] + instance.size[i]
    return Layout(tuple(offsets), top, NO_REUSE)


def _skyline(instance: Instance, request: Request, name: str) -> Layout:
    order = SKYLINE_ORDERS[name](instance)
    if instance.is_dense:
        return skyline_swept(instance, order, name, deadline=request.deadline) or _at_once(instance)
    return skyline(instance, find_neighbours(instance), order, name)


def _greedy(instance: Instance, request: Request, name: str) -> Layout:
    order = GREEDY_ORDERS[name](instance)
    return greedy_below(instance, order, name, deadline=request.deadline) or _at_once(instance)


def _search(instance: Instance, request: Request) -> Layout:
    """The local search, or where it had to list too many neighbours, what there is without."""
    if instance.is_dense:
        return _portfolio(instance, request)
    return search(instance, find_neighbours(instance), request.seed, request.effort, deadline=request.deadline)


def _exact(instance: Instance, request: Request, prover: Prover | None) -> Layout:
    """The portfolio, then the rungs of `prover` or all, quick ones first, until the floor is met."""
    heuristic = replace(request, effort=min(request.effort, DEFAULT_EFFORT))

    @cache
    def started(part: Instance) -> Layout:
        return _portfolio(part, heuristic)

    def climb(part: Instance, known: Layout, rungs: Sequence[Rung], *, bisect: bool) -> Layout:
        own = [rung for rung in rungs if prover in (None, rung.name)]
        return improve(part, known, rungs=own, bisect=bisect, budget=request.effort, deadline=request.deadline)

    best = solve_parts(instance, started)
    if best.arena > instance.floor:
        best = _better(best, solve_parts(instance, lambda p: climb(p, started(p), QUICK, bisect=False)))
    if instance.floor < best.arena and instance.floor >= best.proven:
        best = _better(best, climb(instance, best, WHOLE, bisect=False))
    if instance.floor < best.arena and best.arena > best.proven:
        best = _better(best, solve_parts(instance, lambda p: climb(p, started(p), THOROUGH, bisect=True)))
    return best


def _better(first: Layout, second: Layout) -> Layout:
    """The smaller of two layouts, with the stronger of their proofs."""
    best = min(first, second, key=lambda layout: layout.arena)
    proof = max(first, second, key=lambda layout: layout.proven)
    return replace(best, proven=proof.proven, prover=proof.prover, witness=proof.witness)


def _in_parts(instance: Instance, request: Request, strategy: Strategy) -> Layout:
    return solve_parts(instance, lambda part: strategy(part, request))


PROVERS: dict[str, Prover | None] = {"exact": None, "dive": "dive", "beam": "beam", "cp-sat": "cp-sat"}
"""The strategies that end with all exact searches, and which of these each uses."""

_SINGLE: dict[str, Strategy] = {
    **{name: lambda instance, request, name=name: _skyline(instance, request, name) for name in SKYLINE_ORDERS},
    **{name: lambda instance, request, name=name: _greedy(instance, request, name) for name in GREEDY_ORDERS},
    "search": _search,
}

STRATEGIES: dict[str, Strategy] = {
    "portfolio": lambda instance, request: _in_parts(instance, request, _closed),
    **{name: lambda instance, request, by=by: _exact(instance, request, by) for name, by in PROVERS.items()},
    **{name: lambda instance, request, one=one: _in_parts(instance, request, one) for name, one in _SINGLE.items()},
}
"""Strategies by name. All but the portfolio and those of `PROVERS` build exactly one kind of layout."""
