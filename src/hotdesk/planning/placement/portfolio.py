"""Strategies: heuristics in a fixed order, then search, of which the smallest arena is kept.

No heuristic wins everywhere: offset-first packing leads on hard instances, greedy by size on very large ones. The
portfolio runs them cheapest first and stops at the first that meets the lower bound, which most real programs allow.
What remains is given to a seeded local search. Where it is asked for a capacity, or given a time limit, it goes on as the
strategy "exact" does: the searches of `exact.py` find what is hard to find or prove that it is not there. With a time limit what
reaches highest is placed lower before that (`ejection.py`), and all is tried again and again, each time with twice the effort and
other random numbers. Parts that cuts in time leave independent are planned by themselves.

`STRATEGIES` maps a name to a function of an instance and a `Request`; `plan` accepts any of its names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice

from hotdesk.planning.placement.deadline import Deadline
from hotdesk.planning.placement.decompose import solve_parts
from hotdesk.planning.placement.ejection import eject
from hotdesk.planning.placement.exact import FIRST, QUICK, THOROUGH, Rung, improve
from hotdesk.planning.placement.greedy import GREEDY_ORDERS, greedy_below, online
from hotdesk.planning.placement.instance import ArenaLayout, Instance, Prover
from hotdesk.planning.placement.search import search, search_whole
from hotdesk.planning.placement.skyline import LOOK, SKYLINE_ORDERS, find_neighbours, skyline, skyline_in_arrays
from hotdesk.progress import tell

PORTFOLIO = "portfolio"

NO_REUSE = "no-reuse"
"""The name of plans in which no two buffers share a byte."""

DEFAULT_EFFORT = 100_000
"""Placements the search may make: a third of a second on hard problems, nothing where a heuristic meets the bound."""

_GREEDY_WORK = 1_600_000_000
"""Looks of one buffer at another that greedy placement may take, all orders together, and half of that again for what is placed
anew: some seconds, some 45 without `numba`."""

_ARRAY_WORK = 12_000_000_000
"""Steps that one skyline without lists of neighbours may read where there is no deadline: some seconds, two minutes without
`numba`."""

_ARRAY_LOOKS = 12
"""Looks at each buffer that one may take before greedy placement has its turn: enough where live ranges are short."""

_SLOW = 20_000
"""Buffers above which a long skyline takes so long that with a time limit there is but one."""

_EJECTIONS = 2_000
"""Placements by which what reaches too high is placed lower, in the first turn: some seconds on large problems."""

_CLOSE = 1.01
"""How far above the floor a greedy layout of a dense instance is good enough."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a strategy may spend: see `planner.plan`.

    Attributes:
        seed: of the local search.
        effort: placements of the local search.
        nodes: of the exact searches.
        deadline: until when all is tried again.
        capacity: what was asked for, if it may be within reach, in bytes.
    """

    seed: int
    effort: int
    nodes: int
    deadline: Deadline
    capacity: int | None = None

    @property
    def is_thorough(self) -> bool:
        """Whether the portfolio goes on with the exact searches."""
        return self.capacity is not None or self.deadline.moment is not None


Strategy = Callable[[Instance, Request], ArenaLayout]
"""From an instance and a request to a layout; deterministic in both where there is no deadline."""


def _portfolio(instance: Instance, request: Request) -> ArenaLayout:
    """The smallest of all layouts, the earliest among equals; nothing is tried after one that meets the floor."""
    found: list[ArenaLayout] = []
    for layout in _layouts(instance, request, found):
        found.append(layout)
        if layout.arena <= instance.floor or request.deadline.passed():
            break
    return min(found, key=lambda layout: layout.arena) if found else _at_once(instance)


def _layouts(instance: Instance, request: Request, found: Sequence[ArenaLayout]) -> Iterator[ArenaLayout]:
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
    if request.effort:
        yield search(instance, around, request.seed, request.effort, found, request.deadline)


def _without_lists(instance: Instance, request: Request, found: Sequence[ArenaLayout]) -> Iterator[ArenaLayout]:
    """Skylines if they are done soon, greedy layouts, and where none of these is close to the floor, long skylines.

    What greedy placement found best is then placed again some times. Without lists a skyline looks at a buffer again and again,
    which takes minutes where many live long.
    """
    yield from _array_layouts(instance, request, found, LOOK * _ARRAY_LOOKS * len(instance))
    soon, is_close = bool(found), False
    for layout in _greedy_layouts(instance, request, found):
        yield layout
        is_close = layout.arena <= instance.floor * _CLOSE
        if is_close:
            break
    if not soon and not is_close:
        work = _ARRAY_WORK if request.deadline.moment is None else None
        long = _array_layouts(instance, request, found, work)
        is_slow = len(instance) > _SLOW and request.deadline.moment is not None
        yield from islice(long, 1) if is_slow else long  # the time that is left is better spent than on others
    passes = min(request.effort // len(instance), _greedy_passes(instance) // 2)
    best = min(found, key=lambda layout: layout.arena, default=None)
    if best is not None and best.strategy in GREEDY_ORDERS and passes > 0 and not request.is_thorough:
        yield search_whole(instance, best, passes, request.seed, request.deadline)


def _array_layouts(
    instance: Instance, request: Request, found: Sequence[ArenaLayout], work: int | None
) -> Iterator[ArenaLayout]:
    """One for each order that gets below what is found; none where the first of all layouts takes too much work."""
    for name, order in SKYLINE_ORDERS.items():
        ceiling = _ceiling(found)
        if layout := skyline_in_arrays(instance, order(instance), name, ceiling, work, request.deadline):
            yield layout
        elif ceiling is None:
            return


def _greedy_layouts(instance: Instance, request: Request, found: Sequence[ArenaLayout]) -> Iterator[ArenaLayout]:
    """As many orders as the work allows."""
    for name, order in islice(GREEDY_ORDERS.items(), _greedy_passes(instance)):
        if layout := greedy_below(instance, order(instance), name, _ceiling(found), request.deadline):
            yield layout


def _greedy_passes(instance: Instance) -> int:
    """How often all buffers may be placed greedily, which takes time in proportion to their square."""
    return _GREEDY_WORK // max(len(instance) ** 2 // 2, 1)


def _ceiling(found: Sequence[ArenaLayout]) -> int | None:
    return min(layout.arena for layout in found) - 1 if found else None


def _at_once(instance: Instance) -> ArenaLayout:
    """What there is where nothing else was found in time: what an allocator would do, or no two buffers share a byte."""
    if not instance.obstacles:
        return online(instance)
    offsets = [0] * len(instance)
    top = max(o.top for o in instance.obstacles)
    for i in sorted(range(len(instance)), key=lambda i: -instance.alignment[i]):
        offsets[i] = top + -top % instance.alignment[i]
        top = offsets[i] + instance.size[i]
    return ArenaLayout(tuple(offsets), top, NO_REUSE)


def _skyline(instance: Instance, request: Request, name: str) -> ArenaLayout:
    order = SKYLINE_ORDERS[name](instance)
    if instance.is_dense:
        return skyline_in_arrays(instance, order, name, deadline=request.deadline) or _at_once(instance)
    return skyline(instance, find_neighbours(instance), order, name)


def _greedy(instance: Instance, request: Request, name: str) -> ArenaLayout:
    order = GREEDY_ORDERS[name](instance)
    return greedy_below(instance, order, name, deadline=request.deadline) or _at_once(instance)


def _search(instance: Instance, request: Request) -> ArenaLayout:
    """The local search, or where it had to list too many neighbours, what there is without."""
    if instance.is_dense:
        return _portfolio(instance, request)
    return search(instance, find_neighbours(instance), request.seed, request.effort, deadline=request.deadline)


def _exact(instance: Instance, request: Request, prover: Prover | None) -> ArenaLayout:
    """The portfolio, then the rungs of `prover` or all, quick ones first, until the floor is met or that is proven impossible.

    With a deadline, again and again until then.
    """
    deadline = request.deadline
    enough = None if request.capacity is None else instance.floor
    known: dict[Instance, ArenaLayout] = {}
    placed_whole: dict[Instance, ArenaLayout] = {}

    def started(part: Instance) -> ArenaLayout:
        if part not in known:
            known[part] = _portfolio(part, replace(request, effort=min(request.effort, DEFAULT_EFFORT)))
            placed_whole[part] = known[part]
        return known[part]

    def climbed(part: Instance, rungs: Sequence[Rung], turn: int, *, bisect: bool) -> ArenaLayout:
        known[part] = improve(
            part,
            started(part),
            rungs=[rung.times(1 << turn) for rung in rungs if prover in (None, rung.name)],
            bisect=bisect,
            enough=None if enough is None else part.floor,
            budget=request.nodes << turn,
            seed=1 + turn,
            deadline=deadline,
        )
        return known[part]

    def lowered(part: Instance, turn: int) -> ArenaLayout:
        known[part] = eject(part, started(part), _EJECTIONS << turn, request.seed + turn, deadline)
        return known[part]

    def searched(part: Instance, turn: int) -> ArenaLayout:
        if started(part).arena > part.floor and not deadline.passed():
            placed_whole[part] = _searched_again(part, placed_whole[part], request, turn)
            known[part] = _better(known[part], placed_whole[part])
        return known[part]

    def is_open() -> bool:
        proven = max(best.proven, instance.floor)
        return best.arena > proven and not deadline.passed() and (enough is None or best.proven <= enough)

    best = solve_parts(instance, started)
    for turn in count():
        tell(f"plan: {best.arena:,} bytes, at least {max(best.proven, instance.floor):,} needed, round {turn + 1}")
        if deadline.moment is not None and is_open():
            best = _better(best, solve_parts(instance, lambda part, turn=turn: lowered(part, turn)))
        if turn and is_open():
            best = _better(best, solve_parts(instance, lambda part, turn=turn: searched(part, turn)))
        if deadline.moment is not None and is_open():
            best = _better(best, solve_parts(instance, lambda p, t=turn: climbed(p, FIRST, t, bisect=enough is None)))
        if is_open():
            best = _better(best, solve_parts(instance, lambda p, turn=turn: climbed(p, QUICK, turn, bisect=False)))
        if is_open():
            best = _better(
                best, solve_parts(instance, lambda p, t=turn: climbed(p, THOROUGH, t, bisect=enough is None))
            )
        if deadline.moment is None or not is_open():
            break
    return best


def _searched_again(part: Instance, last: ArenaLayout, request: Request, turn: int) -> ArenaLayout:
    """What other random numbers and twice the effort of the turn before find, `last` being what was found then."""
    seed = request.seed + turn
    if part.is_dense:
        return search_whole(part, last, 2 * turn, seed, request.deadline)
    return search(part, find_neighbours(part), seed, DEFAULT_EFFORT << turn, deadline=request.deadline)


def _better(first: ArenaLayout, second: ArenaLayout) -> ArenaLayout:
    """The smaller of two layouts, with the stronger of their proofs."""
    best = min(first, second, key=lambda layout: layout.arena)
    proof = max(first, second, key=lambda layout: layout.proven)
    return replace(best, proven=proof.proven, prover=proof.prover, witness=proof.witness)


def _in_parts(instance: Instance, request: Request, strategy: Strategy) -> ArenaLayout:
    return solve_parts(instance, lambda part: strategy(part, request))


PROVERS: dict[str, Prover | None] = {"exact": None, "dive": "dive", "cp-sat": "cp-sat"}
"""The strategies that end with all exact searches, and which of these each uses."""

_SINGLE: dict[str, Strategy] = {
    **{name: lambda instance, request, name=name: _skyline(instance, request, name) for name in SKYLINE_ORDERS},
    **{name: lambda instance, request, name=name: _greedy(instance, request, name) for name in GREEDY_ORDERS},
    "search": _search,
}


def _as_asked(instance: Instance, request: Request) -> ArenaLayout:
    """The portfolio, or where a capacity or a time limit asks for more than a quick answer, the exact searches behind it."""
    return _exact(instance, request, None) if request.is_thorough else _in_parts(instance, request, _portfolio)


STRATEGIES: dict[str, Strategy] = {
    PORTFOLIO: _as_asked,
    **{name: lambda instance, request, by=by: _exact(instance, request, by) for name, by in PROVERS.items()},
    **{name: lambda instance, request, one=one: _in_parts(instance, request, one) for name, one in _SINGLE.items()},
}
"""Strategies by name. All but the portfolio and those of `PROVERS` build exactly one kind of layout."""
