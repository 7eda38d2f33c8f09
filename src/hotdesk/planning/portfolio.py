"""The planner: borrow what pools lend, run heuristics in a fixed order, search, keep the smallest arena.

No heuristic wins everywhere: offset-first packing leads on hard instances, greedy by size on very large ones. The
portfolio runs them cheapest first and stops at the first that meets the lower bound, which most real programs allow.
What remains is given to a seeded local search and, in the strategy "exact", to the searches of `exact.py`, which find
what is hard to find or prove that it is not there. Parts that cuts in time leave independent are planned by themselves.
A plan never takes more than no reuse at all: where alignment padding or pinned buffers make every heuristic worse than
that, the arena without reuse is the answer.

`STRATEGIES` maps a name to a function of an instance and a `Request`; `plan` accepts any of its names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from hotdesk.planning.borrow import Loan, borrow
from hotdesk.planning.bounds import Bound, lower_bound
from hotdesk.planning.deadline import Deadline
from hotdesk.planning.decompose import solve_parts
from hotdesk.planning.exact import DEFAULT_BUDGET, QUICK, THOROUGH, WHOLE, Rung, improve
from hotdesk.planning.greedy import GREEDY_ORDERS, greedy, greedy_below
from hotdesk.planning.instance import Instance, Layout, Prover, build_instance
from hotdesk.planning.plan import Placement, Plan
from hotdesk.planning.problem import Buffer, Problem, pinned_top
from hotdesk.planning.search import search
from hotdesk.planning.skyline import SKYLINE_ORDERS, find_neighbours, skyline
from hotdesk.planning.swept import skyline_swept

DEFAULT_EFFORT = 100_000
"""Placements the search may make: a third of a second on hard problems, nothing where a heuristic meets the bound."""

NO_REUSE = "no-reuse"

_LARGEST_GREEDY = 40_000
"""Buffers up to which greedy placement, which takes time in proportion to their square, takes seconds."""

_CLOSE = 1.01
"""How far above the floor a greedy layout of a dense instance is good enough."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a strategy may spend: see `plan`."""

    seed: int
    effort: int
    deadline: Deadline


Strategy = Callable[[Instance, Request], Layout]
"""From an instance and a request to a layout; deterministic in both where there is no deadline."""


def plan(
    problem: Problem | Iterable[Buffer],
    *,
    strategy: str = "portfolio",
    seed: int = 0,
    effort: int | None = None,
    capacity: int | None = None,
    time_limit: float | None = None,
) -> Plan:
    """Place every buffer of `problem`, in pools where they can be borrowed and else in the arena.

    Args:
        problem: a `Problem`, or its buffers where there are no pools.
        strategy: a name in `STRATEGIES`, or "no-reuse": every buffer in the arena with bytes of its own. "portfolio"
            answers in a fraction of a second; "exact" goes on, a minute or two on the hardest, until it meets the bound.
        seed: of the local search.
        effort: what may be spent on each independent part of the problem: placements of the local search, and nodes of
            the exact searches. 0 leaves both out. Default: `DEFAULT_EFFORT`, or `DEFAULT_BUDGET` where there are nodes.
        capacity: bytes that are small enough: nothing is tried after an arena that fits.
        time_limit: seconds after which nothing further is tried. Without it the result depends on the other arguments
            alone, and is the same on every machine.

    Raises:
        ValueError: an unknown strategy, a negative effort, capacity or time limit.
        ImportError: the strategy "cp-sat" without the package `ortools`.
    """
    started = perf_counter()
    problem = problem if isinstance(problem, Problem) else Problem(tuple(problem))
    if strategy not in STRATEGIES and strategy != NO_REUSE:
        raise ValueError(f"expected a strategy among {', '.join((*STRATEGIES, NO_REUSE))}, got {strategy!r}")
    for name, value, unit in (
        ("effort", effort, " placements"),
        ("capacity", capacity, ""),
        ("time limit", time_limit, ""),
    ):
        if value is not None and value < 0:
            raise ValueError(f"expected {'an' if name == 'effort' else 'a'} {name} of 0{unit} or more, got {value}")
    if effort is None:
        effort = DEFAULT_BUDGET if strategy in PROVERS else DEFAULT_EFFORT
    bound = lower_bound(problem)
    apart, no_reuse = _lay_apart(problem)
    unshared = Plan(_placements(problem, {}, apart), no_reuse, bound, NO_REUSE, no_reuse)
    if strategy == NO_REUSE:
        return replace(unshared, seconds=perf_counter() - started)
    loans = borrow(problem, bound.bytes)
    instance = build_instance(problem, loans)
    instance = replace(instance, floor=max(instance.floor, capacity or 0))
    request = Request(seed, effort, Deadline.after(time_limit))
    layout = STRATEGIES[strategy](instance, request)
    bound = _raised(bound, problem, instance, layout)
    if layout.arena > no_reuse:
        return replace(unshared, bound=bound, seconds=perf_counter() - started)
    offsets = dict(zip(instance.origin, layout.offsets, strict=True))
    placements = _placements(problem, loans, offsets)
    return Plan(placements, layout.arena, bound, layout.strategy, no_reuse, perf_counter() - started)


def _raised(bound: Bound, problem: Problem, instance: Instance, layout: Layout) -> Bound:
    """The bound, or what a search proved beyond it; where there are pools, another loan might have refuted that."""
    if layout.prover is None or layout.proven <= bound.bytes or problem.pools:
        return bound
    witness = [problem.buffers[instance.origin[i]] for i in layout.witness]
    witness += [b for b in problem.buffers if b.size and b.fixed_offset is not None]
    return Bound(layout.proven, witness[0].lower, tuple(b.id for b in witness), layout.prover)


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


def _lay_apart(problem: Problem) -> tuple[dict[int, int], int]:
    """Offsets at which no two movable buffers share a byte, and the bytes that takes.

    Footprints are multiples of their alignment, so stacking the strictest alignment first leaves no padding: without
    pinned buffers the arena is the sum of the footprints. Pinned ones stay below all others.
    """
    floor = max((pinned_top(b) for b in problem.buffers if b.size), default=0)
    movable = [i for i, b in enumerate(problem.buffers) if b.size and b.fixed_offset is None]
    movable.sort(key=lambda i: -problem.buffers[i].alignment)
    offsets: dict[int, int] = {}
    top = floor
    for i in movable:
        buffer = problem.buffers[i]
        offsets[i] = -(-top // buffer.alignment) * buffer.alignment
        top = offsets[i] + buffer.footprint
    return offsets, top


def _placements(problem: Problem, loans: dict[int, Loan], offsets: dict[int, int]) -> tuple[Placement, ...]:
    """Pinned buffers stand where they are pinned; what has no offset is empty and gets 0."""
    placements: list[Placement] = []
    for i, buffer in enumerate(problem.buffers):
        if loan := loans.get(i):
            placements.append(Placement(buffer.id, problem.pools[loan.pool].id, loan.offset))
        else:
            placements.append(Placement(buffer.id, None, offsets.get(i, buffer.fixed_offset or 0)))
    return tuple(placements)
