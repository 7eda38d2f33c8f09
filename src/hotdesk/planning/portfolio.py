"""The planner: borrow what pools lend, run heuristics in a fixed order, search, keep the smallest arena.

No heuristic wins everywhere: offset-first packing leads on hard instances, greedy by size on very large ones. The
portfolio runs them cheapest first and stops at the first that meets the lower bound, which most real programs allow.
What remains is given to a seeded local search. A plan never takes more than no reuse at all: where alignment padding
or pinned buffers make every heuristic worse than that, the arena without reuse is the answer.

`STRATEGIES` maps a name to a function of an instance, a seed and an effort; `plan` accepts any of its names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from hotdesk.planning.borrow import Loan, borrow
from hotdesk.planning.bounds import lower_bound
from hotdesk.planning.greedy import GREEDY_ORDERS, greedy, greedy_below
from hotdesk.planning.instance import Instance, Layout, build_instance
from hotdesk.planning.plan import Placement, Plan
from hotdesk.planning.problem import Problem, pinned_top
from hotdesk.planning.search import search
from hotdesk.planning.skyline import SKYLINE_ORDERS, find_neighbours, skyline

DEFAULT_EFFORT = 100_000
"""Placements the search may make: a third of a second on hard problems, nothing where a heuristic meets the bound."""

NO_REUSE = "no-reuse"

Strategy = Callable[[Instance, int, int], Layout]
"""From an instance, a seed and an effort in placements to a layout; deterministic in all three."""


def plan(problem: Problem, *, strategy: str = "portfolio", seed: int = 0, effort: int = DEFAULT_EFFORT) -> Plan:
    """Place every buffer of `problem`, in pools where they can be borrowed and else in the arena.

    `strategy` is a name in `STRATEGIES`, or "no-reuse": every buffer in the arena with bytes of its own. `effort`
    bounds the search in placements; 0 leaves it out. The result depends on the arguments alone.
    Raises ValueError for an unknown strategy and a negative effort.
    """
    if strategy not in STRATEGIES and strategy != NO_REUSE:
        raise ValueError(f"expected a strategy among {', '.join((*STRATEGIES, NO_REUSE))}, got {strategy!r}")
    if effort < 0:
        raise ValueError(f"expected an effort of 0 placements or more, got {effort}")
    bound = lower_bound(problem)
    apart, no_reuse = _lay_apart(problem)
    unshared = Plan(_placements(problem, {}, apart), no_reuse, bound, NO_REUSE, no_reuse)
    if strategy == NO_REUSE:
        return unshared
    loans = borrow(problem, bound.bytes)
    instance = build_instance(problem, loans)
    layout = STRATEGIES[strategy](instance, seed, effort)
    if layout.arena > no_reuse:
        return unshared
    offsets = dict(zip(instance.origin, layout.offsets, strict=True))
    return Plan(_placements(problem, loans, offsets), layout.arena, bound, layout.strategy, no_reuse)


def _portfolio(instance: Instance, seed: int, effort: int) -> Layout:
    """The smallest of all layouts, the earliest among equals; nothing is tried after one that meets the floor."""
    found: list[Layout] = []
    for layout in _layouts(instance, seed, effort, found):
        found.append(layout)
        if layout.arena <= instance.floor:
            break
    return min(found, key=lambda layout: layout.arena)


def _layouts(instance: Instance, seed: int, effort: int, found: Sequence[Layout]) -> Iterator[Layout]:
    """Layouts as they are asked for, in a fixed order, greedy ones only where they beat those `found` so far.

    An instance too dense for lists of neighbours gets greedy layouts alone.
    """
    around = None if instance.is_dense else find_neighbours(instance)
    if around is not None:
        for name, order in SKYLINE_ORDERS.items():
            yield skyline(instance, around, order(instance), name)
    for name, order in GREEDY_ORDERS.items():
        ceiling = min(layout.arena for layout in found) - 1 if found else None
        if layout := greedy_below(instance, order(instance), name, ceiling):
            yield layout
    if around is not None and effort:
        yield search(instance, around, seed, effort, found)


def _skyline(instance: Instance, name: str) -> Layout:
    return skyline(instance, find_neighbours(instance), SKYLINE_ORDERS[name](instance), name)


STRATEGIES: dict[str, Strategy] = {
    "portfolio": _portfolio,
    **{name: lambda instance, _seed, _effort, name=name: _skyline(instance, name) for name in SKYLINE_ORDERS},
    **{
        name: lambda instance, _seed, _effort, name=name: greedy(instance, GREEDY_ORDERS[name](instance), name)
        for name in GREEDY_ORDERS
    },
    "search": lambda instance, seed, effort: search(instance, find_neighbours(instance), seed, effort),
}
"""Strategies by name. All but the portfolio build exactly one kind of layout."""


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
