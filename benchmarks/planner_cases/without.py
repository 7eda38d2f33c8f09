"""What each strategy of the planner is for: the problems whose arena is larger where it is left out."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from unittest.mock import patch

from benchmarks.planner_cases.live_ranges import stored
from benchmarks.planner_cases.problems import CAPACITY, minimalloc, random_problem, tied_problem, traces
from benchmarks.planner_cases.shapes import HIGHEST, SAMPLES, Family
from hotdesk.planning import Plan, Problem, plan
from hotdesk.planning.placement import portfolio
from hotdesk.planning.placement.borrow import LOAN_ORDERS
from hotdesk.planning.placement.deadline import NO_DEADLINE
from hotdesk.planning.placement.decompose import solve_parts
from hotdesk.planning.placement.ejection import EJECTION, eject
from hotdesk.planning.placement.greedy import GREEDY_ORDERS
from hotdesk.planning.placement.instance import MOST_LISTED, ArenaLayout, Instance
from hotdesk.planning.placement.skyline import SKYLINE_ORDERS
from hotdesk.planning.sizes import repacking
from hotdesk.planning.sizes.all_sizes import sure_loans
from hotdesk.planning.sizes.stacking import Stacking, arena_of, read_stacking

ALL_GREEDY = "greedy/…"
SEARCH = "search"
PASSES = "search, dense problems"
ALL_LOANS = "borrow/…"
TIES = "search, ties and gaps"
SURE = "sure loans alone"
"""Stackings that borrow what is proven to fit for all sizes: without one, a limit for all sizes is that of no reuse."""
REPACKED = "sure loans alone, repacked"
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
    still = _quick(asked)
    for strategy, names in ((SEARCH, asked.keys() - large.keys()), (PASSES, large.keys())):
        yield from _rows(strategy, {name: arena for name, arena in known.items() if name in names}, still)
    instances = {name: problem for name, problem in asked.items() if len(name) == 1}
    whole = {name: plan(problem, strategy="exact", capacity=CAPACITY).arena for name, problem in instances.items()}
    for strategy, other in PROVERS.items():
        alone = {name: plan(problem, strategy=other, capacity=CAPACITY).arena for name, problem in instances.items()}
        yield from _rows(strategy, whole, alone)
    ejected = {name: _ejected(problem) for name, problem in large.items()}
    yield from _rows(EJECTION, ejected, {name: known[name] for name in large})


def lending() -> dict[str, Problem]:
    """Problems with pools that need an arena: of the example models, and of random programs at some sizes."""
    programs = {(pools, seed): Family.random(seed, pools) for pools in (1, 3) for seed in range(21)}
    drawn = {f"{_program(*at)}, {m}": each.problem(m, n) for at, each in programs.items() for m, n in SAMPLES}
    return {name: problem for name, problem in (*stored(), *drawn.items()) if problem.pools}


def worse_without_loans(asked: Mapping[str, Problem]) -> Iterator[Worse]:
    """Problems with pools that are worse without one of the orders in which buffers are lent, or without any; search left out."""
    known = {name: arena for name, arena in _quick(asked).items() if arena}
    for order in (*LOAN_ORDERS, ALL_LOANS):
        left = {name: by for name, by in LOAN_ORDERS.items() if order not in (name, ALL_LOANS)}
        with patch.dict(LOAN_ORDERS, left, clear=True):
            yield from _rows(order, known, _quick({name: asked[name] for name in known}))


def tied() -> dict[str, Problem]:
    """Random problems with ties and gaps."""
    return {f"ties, {count:,}, seed {seed}": tied_problem(count, seed) for count in (30, 80, 200) for seed in range(5)}


def worse_without_search(asked: Mapping[str, Problem]) -> Iterator[Worse]:
    """Problems with ties and gaps that are worse if bodies are put down in fixed orders alone."""
    yield from _rows(TIES, {name: plan(problem).arena for name, problem in asked.items()}, _quick(asked))


def worse_for_all_sizes(count: int = 12) -> Iterator[Worse]:
    """Random programs with pools of which only higher limits are proven for all sizes."""
    programs = {_program(pools, seed): Family.random(seed, pools) for pools in (1, 3) for seed in range(count)}
    known = {name: _limit(each) for name, each in programs.items()}
    with patch.object(repacking, "repacked", _as_it_lies):
        yield from _rows(REPACKED, known, {name: _limit(each) for name, each in programs.items()})
    yield from _rows(SURE, known, {name: _limit(each, fewer=False) for name, each in programs.items()})


def _as_it_lies(problem: Problem, made: Plan) -> Plan:
    return made


def _limit(program: Family, *, fewer: bool = True) -> int:
    """Bytes that no arena need be above for symbols of up to `HIGHEST`, as `runtime.plans.planner` proves it."""
    sized, highest = program.for_all_sizes, HIGHEST[-1]
    stackings: list[Stacking] = []
    for at in SAMPLES:
        problem = program.problem(*at)
        made = plan(problem, effort=0)
        stacking = read_stacking(problem.buffers, made)
        sure = sure_loans(
            sized.problem, stacking, sized.sizes, sized.capacities, {"m": (1, highest), "n": (1, highest)}
        )
        if sure >= stacking.lent:
            stackings.append(stacking)
        elif fewer:
            stackings.append(read_stacking(problem.buffers, repacking.borrowing_less(problem, made, sure)))
    footprints = [buffer.footprint for buffer in program.problem(highest, highest).buffers]
    return min((arena_of(stacking, footprints) for stacking in stackings), default=sum(footprints))


def _program(pools: int, seed: int) -> str:
    return f"{pools} pool{'s' * (pools > 1)}, program {seed}"


def _quick(asked: Mapping[str, Problem]) -> dict[str, int]:
    """Arenas without any search."""
    return {name: plan(problem, effort=0).arena for name, problem in asked.items()}


def _rows(strategy: str, known: Mapping[str, int], without: Mapping[str, int]) -> Iterator[Worse]:
    for name, arena in known.items():
        if without[name] > arena:
            yield Worse(strategy, name, arena, without[name])


@contextmanager
def _left_out(strategy: str) -> Generator[None]:
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
