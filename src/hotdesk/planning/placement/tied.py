"""Placing bodies of several rectangles: buffers that are tied, and buffers with gaps.

Bodies are put down one after the other, each in the cheapest memory that has room for it and there at the lowest place
that is clear: pools that cost nothing, the arena as far as its capacity goes, pools by their cost, the arena beyond. The
order is all that varies: those of the greedy and offset-first heuristics, then those a seeded local search comes across,
which moves a body at the top of the arena, or in memory that costs, and up to two others to earlier ranks.

A rectangle of a newcomer and one that is there, live at a common step, exclude an open interval of offsets: those at which their
bytes meet. The lowest aligned offset outside all of these is the place (`BodyShelf`). Each pair of rectangles costs a few
nanoseconds of vectorised work.

Where all bodies are what a buffer can be, one buffer stands for each (`merged_problem`), and its plan is that of the members
(`expanded_plan`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np

from hotdesk.planning.placement.borrow import Loan
from hotdesk.planning.placement.deadline import NO_DEADLINE, Deadline
from hotdesk.planning.placement.greedy import GREEDY_ORDERS
from hotdesk.planning.placement.instance import Instance, assemble
from hotdesk.planning.placement.skyline import SKYLINE_ORDERS
from hotdesk.planning.problem.bodies import Body
from hotdesk.planning.problem.bounds import eligible_pools, hosting_pools, lower_bound
from hotdesk.planning.problem.buffers import Buffer
from hotdesk.planning.problem.plan import Placement, Plan
from hotdesk.planning.problem.problem import Problem


class BodyShelf:
    """Memory that holds up to `room` rectangles; offsets in bytes."""

    __slots__ = ("_columns", "_count")

    def __init__(self, room: int) -> None:
        self._columns = np.empty((4, room), dtype=np.int64)  # lower, upper, bottom, top
        self._count = 0

    def lowest(self, body: Body) -> int:
        """The lowest offset at which `body` may lie and meets nothing that is there."""
        lower, upper, bottom, top = self._columns[:, : self._count]
        barred_above = [np.zeros(0, dtype=np.int64)]
        barred_below = [np.zeros(0, dtype=np.int64)]
        for r in body.rectangles:
            meeting = np.flatnonzero((lower < r.upper) & (upper > r.lower))
            barred_above.append(bottom[meeting] - r.top)
            barred_below.append(top[meeting] - r.bottom)
        above = np.concatenate(barred_above)
        order = np.argsort(above, kind="stable")
        above = above[order]
        places = np.full(len(order) + 1, body.phase, dtype=np.int64)
        np.maximum.accumulate(np.concatenate(barred_below)[order], out=places[1:])
        np.maximum(places, body.phase, out=places)
        places += (body.phase - places) % body.alignment
        clear = np.flatnonzero(places[:-1] <= above)
        return int(places[clear[0]] if clear.size else places[-1])

    def insert(self, body: Body, offset: int) -> None:
        """Put `body` at `offset`; the caller has made sure that nothing is there."""
        for r in body.rectangles:
            self._columns[:, self._count] = (r.lower, r.upper, offset + r.bottom, offset + r.top)
            self._count += 1


ORDERS = {**GREEDY_ORDERS, **SKYLINE_ORDERS}

_PATIENCE = 50
"""Moves without progress before the search starts from another order."""

_MOST_LOOKS = 3_200_000_000
"""Looks of one body at another that all orders together may take: half a minute."""

_STRETCH = 200
"""Bodies put down between two looks at the clock."""

_CHARGE = 8
"""Effort that one placement takes, beside one for each rectangle: an array is searched."""


@dataclass(frozen=True, slots=True)
class BodyProblem:
    """Bodies, the pools that may host each, cheapest first, and the capacity of the arena if it has any.

    `floor` is an arena that no plan need beat, `least_cost` a cost that none can.
    """

    problem: Problem
    bodies: tuple[Body, ...]
    hosts: tuple[tuple[int, ...], ...]
    capacity: int | None
    floor: int
    least_cost: int

    @staticmethod
    def of(problem: Problem, bodies: tuple[Body, ...], capacity: int | None, floor: int, cost: int) -> BodyProblem:
        """Without a capacity, nothing has to go where it costs."""
        pools = problem.pools
        hosts = (
            sorted((k for k in hosting_pools(problem, body)), key=lambda k: (pools[k].cost, pools[k].capacity))
            for body in bodies
        )
        kept = (tuple(k for k in some if capacity is not None or not pools[k].cost) for some in hosts)
        return BodyProblem(problem, bodies, tuple(kept), capacity, floor, cost)

    def price(self, k: int, pool: int | None) -> int:
        """What it costs to have body `k` in a pool, or in the arena: nothing."""
        if pool is None or not self.problem.pools[pool].cost:
            return 0
        members = (self.problem.buffers[i] for i, _ in self.bodies[k].members)
        return self.problem.pools[pool].cost * sum(member.footprint for member in members)


@dataclass(frozen=True, slots=True)
class BodyPlacement:
    """Where each body lies: a pool's number or None for the arena, and an offset; what that takes and costs."""

    places: tuple[tuple[int | None, int], ...]
    arena: int
    cost: int
    strategy: str

    def score(self, asked: BodyProblem) -> tuple[int, int, int]:
        """Bytes beyond the capacity, cost, arena: less is better, in this order."""
        return max(self.arena - asked.capacity, 0) if asked.capacity is not None else 0, self.cost, self.arena

    def suffices(self, asked: BodyProblem) -> bool:
        """Whether no other one need be looked for."""
        return self.arena <= asked.floor and self.cost <= asked.least_cost


def hulls(bodies: Sequence[Body]) -> Instance:
    """Bodies that have rectangles and no place yet, as if they took all their bytes all their time, for orders to look at."""
    movable = tuple(k for k, body in enumerate(bodies) if body.rectangles and body.pinned is None)
    bodies = [bodies[k] for k in movable]
    lower = np.array([min(r.lower for r in body.rectangles) for body in bodies], dtype=np.int64)
    starts = np.unique(lower)
    return assemble(
        origin=movable,
        lower=starts.searchsorted(lower),
        upper=starts.searchsorted([max(r.upper for r in body.rectangles) for body in bodies]),
        lifetime=tuple(sum(r.upper - r.lower for r in body.rectangles) for body in bodies),
        size=tuple(body.top for body in bodies),
        alignment=tuple(body.alignment for body in bodies),
        obstacles=(),
        steps=len(starts),
    )


def put_down(
    asked: BodyProblem,
    order: Sequence[int],
    name: str,
    best: BodyPlacement | None = None,
    deadline: Deadline = NO_DEADLINE,
) -> BodyPlacement | None:
    """Bodies put down in `order`; None as soon as that takes more than `best`, and at the deadline.

    Pinned ones are there from the start.
    """
    room = sum(len(body.rectangles) for body in asked.bodies)
    shelves: dict[int | None, BodyShelf] = {None: BodyShelf(room)}
    places: list[tuple[int | None, int]] = [(None, body.phase) for body in asked.bodies]
    limit = best.score(asked) if best is not None else None
    arena = cost = 0
    for k, body in enumerate(asked.bodies):
        if body.pinned is not None:
            places[k] = (None, body.pinned)
            shelves[None].insert(body, body.pinned)
            arena = max(arena, body.pinned + body.top if body.rectangles else 0)
    for rank, k in enumerate(order):
        if rank % _STRETCH == 0 and deadline.passed():
            return None
        body = asked.bodies[k]
        pool, offset = _place(asked, k, shelves, room)
        shelves[pool].insert(body, offset)
        places[k] = (pool, offset)
        cost += asked.price(k, pool)
        arena = max(arena, offset + body.top) if pool is None else arena
        if limit is not None and BodyPlacement((), arena, cost, name).score(asked) > limit:
            return None
    return BodyPlacement(tuple(places), arena, cost, name)


def _place(asked: BodyProblem, k: int, shelves: dict[int | None, BodyShelf], room: int) -> tuple[int | None, int]:
    """The cheapest memory with room for body `k`, and the lowest place there."""
    body, pools = asked.bodies[k], asked.problem.pools
    in_arena = shelves[None].lowest(body)
    within = asked.capacity is None or in_arena + body.top <= asked.capacity
    for pool in asked.hosts[k]:
        if pools[pool].cost and within:
            break
        offset = shelves.setdefault(pool, BodyShelf(room)).lowest(body)
        if offset + body.end <= pools[pool].capacity:
            return pool, offset
    return None, in_arena


def place_bodies(
    asked: BodyProblem, names: Sequence[str], seed: int, effort: int, deadline: Deadline
) -> BodyPlacement | None:
    """The best of the orders `names`, then of what the search comes across with what is left of `effort`.

    Only the first orders are tried where there are many bodies. None where there was no time for a single one.
    """
    instance = hulls(asked.bodies)
    affordable = max(_MOST_LOOKS // len(instance) ** 2, 1)
    orders = {name: [instance.origin[i] for i in ORDERS[name](instance)] for name in names[:affordable]}
    found: dict[str, BodyPlacement] = {}
    best: BodyPlacement | None = None
    for name, order in orders.items():
        made = put_down(asked, order, name, None, deadline)
        if made is None:
            return best
        found[name] = made
        best = made if best is None or made.score(asked) < best.score(asked) else best
        if best.suffices(asked):
            return best
    return None if best is None else _search(asked, orders, found, best, Random(seed), effort, deadline)


def _search(
    asked: BodyProblem,
    orders: dict[str, list[int]],
    found: dict[str, BodyPlacement],
    best: BodyPlacement,
    random: Random,
    effort: int,
    deadline: Deadline,
) -> BodyPlacement:
    charge = sum(_CHARGE + len(body.rectangles) for body in asked.bodies)
    starts = sorted(orders, key=lambda name: found[name].score(asked))
    turn, stale = 0, _PATIENCE + 1
    order: list[int] = []
    state = best
    while len(next(iter(orders.values()))) > 1 and effort > 0 and not best.suffices(asked) and not deadline.passed():
        if stale > _PATIENCE:
            name = starts[turn % len(starts)]
            order, state, turn, stale = orders[name], found[name], turn + 1, 0
        moved = _moved(asked, state, order, random)
        effort -= charge
        rival = put_down(asked, moved, "search", state, deadline)
        if rival is None:
            stale += 1
            continue
        stale = 0 if rival.score(asked) < state.score(asked) else stale + 1
        order, state = moved, rival
        best = min(best, state, key=lambda each: each.score(asked))
    return best


def _moved(asked: BodyProblem, state: BodyPlacement, order: Sequence[int], random: Random) -> list[int]:
    """`order`, which is without pinned bodies, with one that is in the way, and up to two others, moved to earlier ranks."""
    in_the_way: list[int] = []
    for k in order:
        pool, offset = state.places[k]
        if (pool is None and offset + asked.bodies[k].top == state.arena) or asked.price(k, pool):
            in_the_way.append(k)
    changed = list(order)
    for turn in range(1 + random.randrange(3)):
        k = random.choice(in_the_way) if in_the_way and not turn else changed[random.randrange(len(changed))]
        rank = changed.index(k)
        del changed[rank]
        changed.insert(random.randrange(rank + 1), k)
    return changed


def merged_problem(problem: Problem, bodies: Sequence[Body]) -> Problem | None:
    """One buffer for each body, by number, where all bodies are what a buffer can be; None where some is not.

    What takes no bytes may have any place for all that the others care: `expanded_plan` gives it one that suits its members.
    """
    buffers: list[Buffer] = []
    for k, body in enumerate(bodies):
        first = problem.buffers[body.members[0][0]]
        only = next(iter(body.rectangles), None)
        if only is None:
            buffers.append(Buffer(k, first.lower, first.upper, 0, 1))
            continue
        if len(body.rectangles) > 1 or only.bottom or body.phase:
            return None
        buffer = Buffer(k, only.lower, only.upper, body.end, body.alignment, body.pinned)
        if buffer.footprint != only.top or eligible_pools(buffer, problem.pools) != hosting_pools(problem, body):
            return None
        buffers.append(buffer)
    return Problem(tuple(buffers), problem.pools)


def expanded_plan(problem: Problem, bodies: Sequence[Body], merged: Plan) -> Plan:
    """The plan of a merged problem as one of the problem it was made from."""
    number = {pool.id: k for k, pool in enumerate(problem.pools)}
    placed = [(k, p) for k, p in enumerate(merged.placements) if bodies[k].rectangles]
    loans = {k: Loan(number[p.pool], p.offset) for k, p in placed if p.pool is not None}
    offsets = {k: p.offset for k, p in placed if p.pool is None}
    bound = lower_bound(problem)
    if merged.bound.bytes > bound.bytes:  # a search proved it
        members = (i for k in merged.bound.buffer_ids for i, _ in bodies[int(k)].members if problem.buffers[i].size)
        bound = replace(merged.bound, buffer_ids=tuple(problem.buffers[i].id for i in members))
    return replace(merged, placements=spread(problem, bodies, loans, offsets), bound=bound)


def spread(
    problem: Problem, bodies: Sequence[Body], loans: Mapping[int, Loan], offsets: Mapping[int, int]
) -> tuple[Placement, ...]:
    """The members of bodies that have a loan or an offset, or stand where they are pinned; else at the ground."""
    placements: dict[int, Placement] = {}
    for k, body in enumerate(bodies):
        loan = loans.get(k)
        ground = body.phase if body.pinned is None else body.pinned
        pool, base = (problem.pools[loan.pool].id, loan.offset) if loan else (None, offsets.get(k, ground))
        for i, offset in body.members:
            placements[i] = Placement(problem.buffers[i].id, pool, base + offset)
    return tuple(placements[i] for i in range(len(problem.buffers)))
