"""What each strategy of the planner is for: the problems whose arena is larger where it is left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from unittest.mock import patch

from benchmarks.planner_cases.problems import CAPACITY, minimalloc, random_problem, traces
from hotdesk.planning import Problem, plan
from hotdesk.planning.placement import portfolio
from hotdesk.planning.placement.deadline import NO_DEADLINE
from hotdesk.planning.placement.decompose import solve_parts
from hotdesk.planning.placement.ejection import EJECTION, eject
from hotdesk.planning.placement.greedy import GREEDY_ORDERS
from hotdesk.planning.placement.instance import MOST_LISTED, ArenaLayout, Instance
from hotdesk.planning.placement.skyline import SKYLINE_ORDERS

ALL_GREEDY = "greedy/…"
SEARCH = "search"
PASSES = "search, dense problems"
PROVERS = {"dive": "cp-sat", "cp-sat": "dive"}
"""The exact searches, each with the other one, which is all there is without it."""

EJECTIONS = 20_000
"""Placements of the strategy that starts where there is time."""

_RANDOM = tuple((count, seed) for count in (1_000, 3_000) for seed in range(2))


@dataclass(frozen=True, slots=True)
class Worse:
    """A problem whose arena is `larger` bytes without a strategy, and `arena` with all of them."""

    strategy: str
    problem: str
    arena: int
    larger: int

    @property
    def share(self) -> float:
        """By how much of the arena it grows."""
        return self.larger / self.arena - 1


def problems() -> dict[str, Problem]:
    """Those that the strategies are compared on: traces, MiniMalloc's instances and random ones, by name."""
    drawn = {f"random, {count:,}, seed {seed}": random_problem(count, seed) for count, seed in _RANDOM}
    return {**dict(traces()), **dict(minimalloc()), **drawn}


def worse_without(asked: Mapping[str, Problem]) -> Iterator[Worse]:
    """Every problem that is worse without one strategy, strategy by strategy.

    The quick ones are left out of the portfolio. The exact searches are asked for MiniMalloc's capacity, one without the other.
    Ejection, which starts only where there is time, is given some work behind the portfolio: without it, that layout stays.
    """
    known = {name: plan(problem).arena for name, problem in asked.items()}
    large = {name: problem for name, problem in asked.items() if len(problem.buffers) > MOST_LISTED}
    for strategy in (*SKYLINE_ORDERS, *GREEDY_ORDERS, ALL_GREEDY):
        with _left_out(strategy):
            yield from _rows(strategy, known, {name: plan(problem).arena for name, problem in asked.items()})
    still = {name: plan(problem, effort=0).arena for name, problem in asked.items()}
    for strategy, names in ((SEARCH, asked.keys() - large.keys()), (PASSES, large.keys())):
        yield from _rows(strategy, {name: arena for name, arena in known.items() if name in names}, still)
    instances = {name: problem for name, problem in asked.items() if len(name) == 1}
    whole = {name: plan(problem, strategy="exact", capacity=CAPACITY).arena for name, problem in instances.items()}
    for strategy, other in PROVERS.items():
        alone = {name: plan(problem, strategy=other, capacity=CAPACITY).arena for name, problem in instances.items()}
        yield from _rows(strategy, whole, alone)
    ejected = {name: _ejected(problem) for name, problem in large.items()}
    yield from _rows(EJECTION, ejected, {name: known[name] for name in large})


def _rows(strategy: str, known: Mapping[str, int], without: Mapping[str, int]) -> Iterator[Worse]:
    for name, arena in known.items():
        if without[name] > arena:
            yield Worse(strategy, name, arena, without[name])


@contextmanager
def _left_out(strategy: str) -> Iterator[None]:
    """The portfolio without one of its orders, or without all greedy ones."""
    skylines = {name: order for name, order in SKYLINE_ORDERS.items() if name != strategy}
    greedy = {name: order for name, order in GREEDY_ORDERS.items() if strategy not in (name, ALL_GREEDY)}
    with patch.dict(SKYLINE_ORDERS, skylines, clear=True), patch.dict(GREEDY_ORDERS, greedy, clear=True):
        yield


def _ejected(problem: Problem) -> int:
    """The arena of a problem whose layout by the portfolio is improved part by part."""
    start = portfolio.STRATEGIES[portfolio.PORTFOLIO]

    def strategy(instance: Instance, request: portfolio.Request) -> ArenaLayout:
        return solve_parts(instance, lambda part: eject(part, start(part, request), EJECTIONS, 0, NO_DEADLINE))

    with patch.dict(portfolio.STRATEGIES, {EJECTION: strategy}):
        return plan(problem, strategy=EJECTION).arena
