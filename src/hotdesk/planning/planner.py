"""`plan`: from a problem to a plan.

Buffers of one rectangle each, live ranges without gaps and untied, are for the strategies of `placement/portfolio.py`, after
pools have taken what they can. Which loans are best depends on what can be placed beside them, so where that leaves the bound
open, CP-SAT looks at loans and places together if the strategy is one that has it. Ties and gaps are brought back to that where
what is tied is a rectangle again, such as a value that is updated in place: one buffer stands for all. What is left is placed as
bodies of several rectangles, by `placement/tied.py`.

Where the bound is still below the plan, whole loans are counted (`problem/loan_bounds.py`).

A plan never takes more than no reuse at all: where alignment padding or pinned buffers make every heuristic worse than that,
the arena without reuse is the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import count
from numbers import Real
from time import perf_counter
from typing import Any, cast

from hotdesk.errors import PlanError
from hotdesk.planning.placement.borrow import Loan, borrow
from hotdesk.planning.placement.cpsat import NODES_PER_EFFORT, improve_bodies, require
from hotdesk.planning.placement.deadline import Deadline
from hotdesk.planning.placement.exact import DEFAULT_BUDGET
from hotdesk.planning.placement.instance import ArenaLayout, Instance, build_instance
from hotdesk.planning.placement.portfolio import DEFAULT_EFFORT, NO_REUSE, PORTFOLIO, STRATEGIES, Request
from hotdesk.planning.placement.tied import (
    ORDERS,
    BodyPlacement,
    BodyProblem,
    expanded_plan,
    merged_problem,
    place_bodies,
    spread,
)
from hotdesk.planning.problem.bodies import Body, bodies_of
from hotdesk.planning.problem.bounds import Bound, eligibility, least_cost, lower_bound, reject_far_steps
from hotdesk.planning.problem.buffers import Buffer, pinned_top
from hotdesk.planning.problem.loan_bounds import raised_by_loans
from hotdesk.planning.problem.numbers import shown, whole
from hotdesk.planning.problem.plan import Placement, Plan
from hotdesk.planning.problem.problem import Problem

_JOINT = ("exact", "cp-sat")
"""The strategies with a search that looks at loans and places together."""


def plan(
    problem: Problem | Iterable[Buffer | tuple[Any, ...]],
    *,
    strategy: str = PORTFOLIO,
    seed: int = 0,
    effort: int | None = None,
    capacity: int | None = None,
    time_limit: float | None = None,
) -> Plan:
    """Place every buffer of `problem`, in pools where they can be borrowed and else in the arena.

    Args:
        problem: a `Problem`; or where there are no pools and no ties its buffers, each a `Buffer` or a tuple of what one is made
            of: id, lower, upper, size and, if need be, alignment, fixed offset and gaps.
        strategy: a name in `STRATEGIES`, or "no-reuse": every buffer in the arena with bytes of its own. "portfolio"
            answers in a fraction of a second; with a capacity or a time limit it goes on as "exact" does, which takes up to a
            minute or two on the hardest, until it meets the bound.
        seed: of the local search.
        effort: what may be spent on each independent part of the problem: placements of the local search, and nodes of
            the exact searches. 0 leaves both out. Default: `DEFAULT_EFFORT` of the first and `DEFAULT_BUDGET` of the second.
        capacity: bytes that are small enough: nothing is tried after an arena that fits, or the proof that none does. Pools that
            cost something are used where no arena that fits was found without them, as cheaply as can be; without a capacity,
            never.
        time_limit: seconds in which all is tried again and again, with more effort each time, until the bound or the capacity is
            met. Without it the result depends on the other arguments alone, and is the same on every machine.

    Raises:
        ValueError: an unknown strategy, a negative effort, capacity or time limit, or one that is no number of its kind,
            steps of more than 60 bits.
        PlanError: something among the buffers is none.
        ImportError: the strategy "cp-sat" without the package `ortools`, or "dive" without `numba`.
    """
    started = perf_counter()
    if not isinstance(problem, Problem):
        problem = Problem(tuple(map(_as_buffer, _several(problem))))
    if not isinstance(cast("object", strategy), str) or (strategy not in STRATEGIES and strategy != NO_REUSE):
        raise ValueError(f"expected a strategy among {', '.join((*STRATEGIES, NO_REUSE))}, got {strategy!r}")
    if time_limit is not None and not isinstance(cast("object", time_limit), Real):
        raise ValueError(f"plan: expected a number of seconds for time_limit, got {shown(time_limit)}")
    reject_far_steps(problem)
    effort, capacity = (
        value if value is None else whole("plan", name, value)
        for name, value in (("effort", effort), ("capacity", capacity))
    )
    for name, value, unit in (
        ("effort", effort, " placements"),
        ("capacity", capacity, ""),
        ("time limit", time_limit, ""),
    ):
        if value is not None and not value >= 0:  # nor is NaN
            raise ValueError(
                f"expected {'an' if name == 'effort' else 'a'} {name} of 0{unit} or more, got {shown(value)}"
            )
    placements, nodes = (DEFAULT_EFFORT, DEFAULT_BUDGET) if effort is None else (effort, effort)
    request = Request(seed, placements, nodes, Deadline.after(time_limit))
    made = _Planner(strategy, request, capacity).plan(problem)
    bound = raised_by_loans(problem, made.bound, made.arena)
    return replace(made, bound=bound, seconds=perf_counter() - started)


def _several(problem: object) -> Iterable[Any]:
    if not isinstance(problem, Iterable):
        raise PlanError("plan", expected="a Problem, or several buffers", got=shown(problem))
    return cast("Iterable[Any]", problem)


def _as_buffer(given: Any) -> Buffer:
    """A buffer, or the one that a tuple of its fields makes."""
    if isinstance(given, Buffer):
        return given
    if not isinstance(given, tuple) or not 4 <= len(cast("Any", given)) <= 7:
        raise PlanError(
            "plan",
            expected="buffers, or tuples such as ('a', 0, 2, 100): id, lower, upper and size",
            got=shown(cast("object", given)),
        )
    return Buffer(*cast("Any", given))


@dataclass(frozen=True, slots=True)
class _Planner:
    strategy: str
    request: Request
    capacity: int | None

    def plan(self, problem: Problem) -> Plan:
        """Free pools first; those that cost where the arena has a capacity it did not keep to."""
        if not any(pool.cost for pool in problem.pools):
            return self._plan_free(problem)
        made = self._plan_free(replace(problem, pools=tuple(pool for pool in problem.pools if not pool.cost)))
        if self.capacity is None:
            return made
        bodies = bodies_of(problem.buffers, problem.ties)
        least = least_cost(problem, bodies, self.capacity)
        bound = lower_bound(problem)
        if made.arena <= self.capacity or self.strategy == NO_REUSE:
            return replace(made, bound=bound, least_cost=least)
        paid = self._plan_bodies(problem, bodies, bound, least)
        beyond, beyond_paid = (max(each.arena - self.capacity, 0) for each in (made, paid))
        return paid if beyond_paid < beyond else replace(made, bound=paid.bound, least_cost=paid.least_cost)

    def _plan_free(self, problem: Problem) -> Plan:
        if problem.is_plain:
            return self._plan_with_loans(problem)
        bodies = bodies_of(problem.buffers, problem.ties)
        if (merged := merged_problem(problem, bodies)) is not None:
            return expanded_plan(problem, bodies, self._plan_with_loans(merged))
        return self._plan_bodies(problem, bodies, lower_bound(problem), 0)

    def _plan_with_loans(self, problem: Problem) -> Plan:
        """A plain problem: loans first, then where a search may go on, loans and places together."""
        made = self._plan_plain(problem)
        if (
            not self._is_joint(made.bound)
            or not problem.pools
            or made.arena <= max(made.bound.bytes, self.capacity or 0)
        ):
            return made
        number = {pool.id: k for k, pool in enumerate(problem.pools)}
        places = tuple((None if p.pool is None else number[p.pool], p.offset) for p in made.placements)
        bodies = bodies_of(problem.buffers, ())
        asked = BodyProblem.of(problem, bodies, self.capacity, max(made.bound.bytes, self.capacity or 0), 0)
        return self._improved(made, asked, BodyPlacement(places, made.arena, 0, made.strategy))[0]

    def _plan_plain(self, problem: Problem) -> Plan:
        bound = lower_bound(problem)
        apart, no_reuse = _lay_apart(
            [
                (i, b.alignment, 0, b.footprint)
                for i, b in enumerate(problem.buffers)
                if b.size and b.fixed_offset is None
            ],
            _ground(problem),
        )
        unshared = Plan(_placements(problem, {}, apart), no_reuse, bound, NO_REUSE, no_reuse)
        if self.strategy == NO_REUSE:
            return unshared
        loans = borrow(problem, bound.bytes)
        instance = build_instance(problem, loans)
        asked = self.capacity if self.capacity is not None and self.capacity >= bound.bytes else None
        instance = replace(instance, floor=max(instance.floor, self.capacity or 0))
        layout = STRATEGIES[self.strategy](instance, replace(self.request, capacity=asked))
        bound = _raised(bound, problem, instance, layout)
        if layout.arena > no_reuse:
            return replace(unshared, bound=bound)
        offsets = dict(zip(instance.origin, layout.offsets, strict=True))
        return Plan(_placements(problem, loans, offsets), layout.arena, bound, layout.strategy, no_reuse)

    def _plan_bodies(self, problem: Problem, bodies: tuple[Body, ...], bound: Bound, least: int) -> Plan:
        movable = [(k, body) for k, body in enumerate(bodies) if body.rectangles and body.pinned is None]
        apart, no_reuse = _lay_apart(
            [(k, body.alignment, body.phase, body.top) for k, body in movable],
            max((body.pinned + body.top for body in bodies if body.pinned is not None and body.rectangles), default=0),
        )
        unshared = Plan(spread(problem, bodies, {}, apart), no_reuse, bound, NO_REUSE, no_reuse, 0.0, 0, least)
        if self.strategy == NO_REUSE or not movable:
            return unshared
        asked = BodyProblem.of(problem, bodies, self.capacity, max(bound.bytes, self.capacity or 0), least)
        names = (self.strategy,) if self.strategy in ORDERS else tuple(ORDERS)
        effort = 0 if self.strategy in ORDERS else min(self.request.effort, DEFAULT_EFFORT)
        deadline = self.request.deadline
        made, best = unshared, None
        for turn in count():
            found = place_bodies(asked, names, self.request.seed + turn, effort << turn, deadline)
            known = [each for each in (best, found) if each is not None]
            if not known:
                break
            made, best = self._improved(made, asked, min(known, key=lambda each: each.score(asked)), turn)
            if deadline.moment is None or deadline.passed() or best.suffices(asked) or made.proven_optimal:
                break
        return made

    def _improved(
        self, made: Plan, asked: BodyProblem, best: BodyPlacement, turn: int = 0
    ) -> tuple[Plan, BodyPlacement]:
        """The plan of `best`, or of what a search finds that starts with it; `made` where that takes less than either."""
        bound, least = made.bound, made.least_cost
        if self._is_joint(bound):
            if self.strategy == "cp-sat" and not best.suffices(asked):
                require()
            effort = (self.request.nodes << turn) / NODES_PER_EFFORT
            proven = improve_bodies(asked, best, effort, self.request.deadline)
            best, least = proven.best, max(least, proven.cost)
            bound = _proven(bound, proven.arena, asked.problem)
        if BodyPlacement((), made.arena, made.cost, made.strategy).score(asked) < best.score(asked):
            return replace(made, bound=bound, least_cost=least), best
        loans = {k: Loan(pool, offset) for k, (pool, offset) in enumerate(best.places) if pool is not None}
        offsets = {k: offset for k, (pool, offset) in enumerate(best.places) if pool is None}
        placements = spread(asked.problem, asked.bodies, loans, offsets)
        return Plan(placements, best.arena, bound, best.strategy, made.no_reuse, 0.0, best.cost, least), best

    def _is_joint(self, bound: Bound) -> bool:
        """Whether a search looks at loans and places together: where it was asked for, or for more than a quick answer."""
        within_reach = self.capacity is not None and self.capacity >= bound.bytes
        is_thorough = within_reach or self.request.deadline.moment is not None
        return self.strategy in _JOINT or (self.strategy == PORTFOLIO and is_thorough)


def _proven(bound: Bound, bytes_: int, problem: Problem) -> Bound:
    """`bound`, or what a search proved of all buffers."""
    if bytes_ <= bound.bytes:
        return bound
    named = [b for b in problem.buffers if b.size]
    return Bound(bytes_, named[0].lower, tuple(b.id for b in named), "cp-sat")


def _raised(bound: Bound, problem: Problem, instance: Instance, layout: ArenaLayout) -> Bound:
    """The bound, or what a search proved beyond it; where anything may be lent, another loan might have refuted that."""
    if layout.prover is None or layout.proven <= bound.bytes or eligibility(problem).any():
        return bound
    witness = [problem.buffers[instance.origin[i]] for i in layout.witness]
    witness += [b for b in problem.buffers if b.size and b.fixed_offset is not None]
    return Bound(layout.proven, witness[0].lower, tuple(b.id for b in witness), layout.prover)


def _ground(problem: Problem) -> int:
    return max((pinned_top(b) for b in problem.buffers if b.size), default=0)


def _lay_apart(movable: list[tuple[int, int, int, int]], ground: int) -> tuple[dict[int, int], int]:
    """Offsets at which nothing movable shares a byte, and the bytes that takes, `ground` for what is pinned below.

    What is movable comes as number, alignment, phase and bytes. Footprints are multiples of their alignment, so stacking
    the strictest alignment first leaves no padding: without pinned buffers the arena is the sum of the footprints.
    """
    offsets: dict[int, int] = {}
    top = ground
    for i, alignment, phase, bytes_ in sorted(movable, key=lambda entry: -entry[1]):
        offsets[i] = top + (phase - top) % alignment
        top = offsets[i] + bytes_
    return offsets, top


def _placements(problem: Problem, loans: Mapping[int, Loan], offsets: Mapping[int, int]) -> tuple[Placement, ...]:
    """Pinned buffers stand where they are pinned; what has no offset is empty and gets 0."""
    placements: list[Placement] = []
    for i, buffer in enumerate(problem.buffers):
        if loan := loans.get(i):
            placements.append(Placement(buffer.id, problem.pools[loan.pool].id, loan.offset))
        else:
            placements.append(Placement(buffer.id, None, offsets.get(i, buffer.fixed_offset or 0)))
    return tuple(placements)
