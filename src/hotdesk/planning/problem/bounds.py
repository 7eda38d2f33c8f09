"""Lower bounds on the arena, with the certificate that proves them, and on what a plan costs.

*Live sum.* Buffers live at one step lie apart, so together they need the sum of their footprints. A live buffer lies
in the arena or in a pool. Those in one pool can only be buffers it may host (whole live range inside one free
interval, size within the capacity); their footprints lie apart below the capacity rounded up to their alignment, so
they sum to at most that figure, and to no more than all eligible live buffers together. The capacity is rounded down
where the bytes behind that are too few for the end of any of them. The arena holds the rest:

    arena >= live sum - min(sum over pools of min(capacity, eligible live sum), live sum of buffers eligible anywhere)

A buffer eligible for several pools is counted for each of them, which can only lower the right-hand side, so the
bound stays valid. Between two events (a live range that starts or ends) nothing changes, hence a sweep over the
events finds the maximum over all steps: O(n log n) for sorting, plus one step per buffer and pool it may use.

Buffers that are tied count with the bytes they take together, and buffers in a gap do not count.

*Pinned tops.* The arena reaches at least the top of every pinned buffer.

*Tied tops.* Buffers that are tied, and fit no pool, reach as high as they are together, whenever each of them is live.

The largest of the three is the bound; `loan_bounds.py` raises it where no whole buffers fill the pools. The live-sum
bound is the maximum load of dynamic storage allocation; without pools, pins or ties the best known algorithms measure
themselves against it.

*Cost* (`least_cost`), where pools cost something and the arena has a capacity. At one step, the footprints live there lie in the
arena, up to its capacity, and in pools, in each up to its capacity or what may live there at all. The cheapest way to share them
out, a byte being as good as any other, costs no more than any plan pays for the buffers live at that step. Steps at which no two
common buffers are live add up: the best choice of such steps is found in order of time, as a chain. O(n log n) for sorting, and
one look at each pool a step.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hotdesk.planning.problem.bodies import Body, bodies_of
from hotdesk.planning.problem.buffers import Buffer, BufferId, Pool, pinned_top
from hotdesk.planning.problem.numbers import LARGEST_STEP, LARGEST_TOTAL, LAST_MOMENT, shown
from hotdesk.planning.problem.problem import Problem


@dataclass(frozen=True, slots=True)
class Bound:
    """No plan has an arena below `bytes`.

    `kind` names the proof. "live": the buffers `buffer_ids`, all those live at `step`, need that much beyond what the
    pools can lend. "lent": whichever of the buffers `buffer_ids`, live at `step` or later, lie in pools all their lives, the
    arena has to hold that much at some step. "pinned": `buffer_ids` is the one buffer whose fixed offset reaches that high, and
    `step` its first.
    "tied": the buffers `buffer_ids` are tied, and reach that high where the lowest of them is as low as it can be.
    "dive" and "cp-sat": that search looked at every placement of `buffer_ids`, the first of which is live at `step`,
    and found none smaller.
    """

    bytes: int
    step: int
    buffer_ids: tuple[BufferId, ...]
    kind: Literal["live", "lent", "pinned", "tied", "dive", "cp-sat"] = "live"


_TOGETHER = 8
"""Pools whose loads are summed up in one pass."""

Eligibility = NDArray[np.bool_]
"""For each body or buffer, by row, and each pool, by column, whether one may host the other."""


class Events(NamedTuple):
    """Live ranges that start or end, in order: `order` has the starts of all, then their ends. At the places `last` in it all
    that happens at a step, one of `moments`, has happened.
    """

    order: NDArray[np.intp]
    last: NDArray[np.intp]
    moments: NDArray[np.int64]

    @classmethod
    def of(cls, lower: NDArray[np.int64], upper: NDArray[np.int64]) -> Events:
        """The events of live ranges `[lower, upper)`."""
        moments = np.concatenate((lower, upper))
        order = np.argsort(moments, kind="stable")
        moments = moments[order]
        last = np.flatnonzero(np.append(moments[1:] != moments[:-1], bool(len(moments))))
        return cls(order, last, moments[last])

    def loads(self, each: NDArray[np.int64]) -> NDArray[np.int64]:
        """The sum of what is live at each of the moments; along its last axis, `each` has the bytes of the live ranges."""
        changes = np.concatenate((each, -each), axis=-1).take(self.order, axis=-1)
        return changes.cumsum(axis=-1).take(self.last, axis=-1)

    def tightest_step(self, each: NDArray[np.int64], hosts: Eligibility, capacities: Sequence[int]) -> tuple[int, int]:
        """(step, bytes) at which the bytes of `each` exceed what the pools can lend by most; (0, 0) if there is nothing."""
        if not len(each):
            return 0, 0
        lends: list[int] = np.flatnonzero(np.any(hosts, axis=0)).tolist()
        if lends:
            excess, anywhere = self.loads(np.stack((each, each * np.any(hosts, axis=1))))
            lent = np.zeros_like(anywhere)
            for some in (lends[at : at + _TOGETHER] for at in range(0, len(lends), _TOGETHER)):
                for k, most in zip(some, self.loads(each * np.transpose(hosts[:, some])), strict=True):
                    lent = np.minimum(lent + np.minimum(most, min(capacities[k], LARGEST_TOTAL)), anywhere)
            excess = excess - lent
        else:
            excess = self.loads(each)
        at = int(excess.argmax())
        highest = int(excess[at])
        return (int(self.moments[at]), highest) if highest > 0 else (int(self.moments[0]), 0)


def lower_bound(problem: Problem) -> Bound:
    """The best bound this module proves; the earliest step wins among equals. Source: see the module docstring.

    Raises ValueError for steps that columns do not hold: see `numbers.py`.
    """
    reject_far_steps(problem)
    bodies = () if problem.is_plain else bodies_of(problem.buffers, problem.ties)
    if problem.is_plain:
        hosts = eligibility(problem)
        loads = [(b.lower, b.upper, b.footprint, i) for i, b in enumerate(problem.buffers) if b.size]
        ends = [(buffer.alignment, buffer.size) for buffer in problem.buffers]
    else:
        hosts = np.zeros((len(bodies), len(problem.pools)), dtype=np.bool_)
        for k, body in enumerate(bodies):
            hosts[k, list(hosting_pools(problem, body))] = True
        loads = [(r.lower, r.upper, r.top - r.bottom, k) for k, body in enumerate(bodies) for r in body.rectangles]
        ends = [(body.alignment, 1) for body in bodies]  # a body may end anywhere
    columns: NDArray[np.int64] = np.array(list(zip(*loads, strict=True)) or [()] * 4, dtype=np.int64)
    events = Events.of(columns[0], columns[1])
    capacities = _rounded_capacities(problem.pools, hosts, ends)
    step, peak = events.tightest_step(columns[2], hosts[columns[3]], capacities)
    live = Bound(peak, step, tuple(b.id for b in problem.buffers if b.size and b.is_live(step)))
    pinned = (
        Bound(pinned_top(b), b.lower, (b.id,), "pinned")
        for b in problem.buffers
        if b.size and b.fixed_offset is not None
    )
    tied = (_tied_bound(problem, body) for body, pools in zip(bodies, hosts, strict=False) if not pools.any())
    return max((live, *pinned, *tied), key=lambda bound: bound.bytes)


def reject_far_steps(problem: Problem) -> None:
    """Raises ValueError for steps beyond those that `numbers.py` accepts."""
    for b in problem.buffers:
        if b.lower <= -LARGEST_STEP or b.upper >= LARGEST_STEP:
            raise ValueError(
                f"buffer {shown(b.id)}: expected steps between -{LARGEST_STEP} and {LARGEST_STEP}, "
                f"got [{shown(b.lower)}, {shown(b.upper)})"
            )
    for pool in problem.pools:
        if pool.free and (pool.free[0][0] < -LAST_MOMENT or pool.free[-1][1] > LAST_MOMENT):
            raise ValueError(
                f"pool {shown(pool.id)}: expected free intervals between -{LAST_MOMENT} and {LAST_MOMENT}, "
                f"got them from {shown(pool.free[0][0])} to {shown(pool.free[-1][1])}"
            )


def _tied_bound(problem: Problem, body: Body) -> Bound:
    """What a body that fits no pool reaches in the arena; 0 where it takes no bytes."""
    members = [problem.buffers[i] for i, _ in body.members]
    lowest = body.phase if body.pinned is None else body.pinned
    top = lowest + body.top if body.rectangles else 0
    return Bound(top, min(b.lower for b in members), tuple(b.id for b in members if b.size), "tied")


def eligible_pools(buffer: Buffer, pools: tuple[Pool, ...]) -> tuple[int, ...]:
    """Positions in `pools` of those that may host `buffer`, smallest capacity first.

    Pinned and empty buffers borrow nothing.
    """
    if buffer.fixed_offset is not None or buffer.size == 0:
        return ()
    fits = [
        k
        for k, pool in enumerate(pools)
        if buffer.size <= pool.capacity and all(_is_free(pool, *interval) for interval in buffer.live)
    ]
    return tuple(sorted(fits, key=lambda k: pools[k].capacity))


def eligibility(problem: Problem) -> Eligibility:
    """`eligible_pools` for all buffers of a problem without gaps or ties."""
    buffers = problem.buffers
    found = np.zeros((len(buffers), len(problem.pools)), dtype=np.bool_)
    if not problem.pools:
        return found
    lower = np.array([buffer.lower for buffer in buffers], dtype=np.int64)
    upper = np.array([buffer.upper for buffer in buffers], dtype=np.int64)
    size = np.array([0 if buffer.fixed_offset is not None else buffer.size for buffer in buffers], dtype=np.int64)
    for k, pool in enumerate(problem.pools):
        found[:, k] = free_throughout(lower, upper, pool.free) & (size > 0) & (size <= pool.capacity)
    return found


def free_throughout(
    lower: NDArray[np.int64], upper: NDArray[np.int64], free: Sequence[tuple[int, int]]
) -> NDArray[np.bool_]:
    """Whether each live range `[lower, upper)` lies inside one of the intervals in which a pool is free."""
    if not free:
        return np.zeros(len(lower), dtype=np.bool_)
    intervals: NDArray[np.int64] = np.array(free, dtype=np.int64)
    at = np.searchsorted(intervals[:, 0], lower, side="right") - 1
    return (at >= 0) & (upper <= intervals[at, 1])


def hosting_pools(problem: Problem, body: Body) -> tuple[int, ...]:
    """As `eligible_pools`, for what is tied together."""
    if body.pinned is not None or not body.rectangles:
        return ()
    live = [interval for i, _ in body.members if problem.buffers[i].size for interval in problem.buffers[i].live]
    needed = body.phase + body.end
    fits = [
        k
        for k, pool in enumerate(problem.pools)
        if needed <= pool.capacity and all(_is_free(pool, *interval) for interval in live)
    ]
    return tuple(sorted(fits, key=lambda k: problem.pools[k].capacity))


def _is_free(pool: Pool, lower: int, upper: int) -> bool:
    at = bisect_right(pool.free, lower, key=lambda interval: interval[0]) - 1
    return at >= 0 and upper <= pool.free[at][1]


def _rounded_capacities(pools: tuple[Pool, ...], hosts: Eligibility, ends: Sequence[tuple[int, int]]) -> list[int]:
    """Capacities rounded up to the strictest alignment of what a pool may host; down where none of that can end behind it.

    `ends` has alignments and sizes. Of several alignments, footprints may end between multiples of the strictest one.
    """
    found: list[int] = []
    for k, pool in enumerate(pools):
        hosted: list[int] = np.flatnonzero(hosts[:, k]).tolist()
        eligible = [ends[i] for i in hosted]
        strictest = max((alignment for alignment, _ in eligible), default=1)
        whole, behind = pool.capacity // strictest * strictest, pool.capacity % strictest
        beyond = any(alignment != strictest or (size - 1) % strictest < behind for alignment, size in eligible)
        found.append(whole + strictest if behind and beyond else whole)
    return found


class BoundCertificate(NamedTuple):
    """Why no plan has an arena below `bound.bytes`.

    Attributes:
        bound: the bytes, the kind of proof, and the step.
        buffers: those of the bound, the largest first.
        together: of a bound of the kind "live" the bytes that they take at the step, those of ties once; else of all of them.
        lent: what pools can lend of that, at most. `together` less `lent` is the bound, if it is of the kind "live"; else 0.
    """

    bound: Bound
    buffers: tuple[Buffer, ...]
    together: int
    lent: int


def certificate(problem: Problem, bound: Bound) -> BoundCertificate:
    """The certificate of a bound of a problem."""
    ids = frozenset(bound.buffer_ids)
    named = sorted((buffer for buffer in problem.buffers if buffer.id in ids), key=lambda b: (-b.footprint, b.lower))
    together = sum(buffer.footprint for buffer in named)
    if bound.kind != "live":
        return BoundCertificate(bound, tuple(named), together, 0)
    if problem.ties:
        rectangles = (r for body in bodies_of(problem.buffers, problem.ties) for r in body.rectangles)
        together = sum(r.top - r.bottom for r in rectangles if r.lower <= bound.step < r.upper)
    return BoundCertificate(bound, tuple(named), together, together - bound.bytes)


def certificate_text(found: BoundCertificate, most: int = 6) -> str:
    """The buffers with their footprints in bytes, all but `most` of them in one figure, and what is taken off."""
    parts = [f"{buffer.id} {buffer.footprint:,}" for buffer in found.buffers[:most]]
    rest = found.buffers[most:]
    if rest:
        parts.append(f"{len(rest):,} more {sum(buffer.footprint for buffer in rest):,}")
    shared = sum(buffer.footprint for buffer in found.buffers) - found.together
    if shared:
        parts.append(f"less {shared:,} that ties share")
    if found.lent:
        parts.append(f"less {found.lent:,} that pools lend")
    return ", ".join(parts)


def least_cost(problem: Problem, bodies: Sequence[Body], capacity: int) -> int:
    """No plan whose arena ends at `capacity` bytes or below costs less; see the module docstring."""
    if not any(pool.cost for pool in problem.pools):
        return 0
    hosts = [hosting_pools(problem, body) for body in bodies]
    strictest = max((body.alignment for body in bodies), default=1)
    room = [-(-pool.capacity // strictest) * strictest for pool in problem.pools]
    cheapest_first = sorted(range(len(room)), key=lambda k: problem.pools[k].cost)
    events = [(r.lower, r.top - r.bottom, k) for k, body in enumerate(bodies) for r in body.rectangles]
    events += [(r.upper, r.bottom - r.top, k) for k, body in enumerate(bodies) for r in body.rectangles]
    events.sort()
    since = [min((r.lower for r in body.rectangles), default=0) for body in bodies]
    until = [max((r.upper for r in body.rectangles), default=0) for body in bodies]

    live, eligible = 0, [0] * len(room)
    present: list[tuple[int, int]] = []  # bodies by their first step, those that have ended too
    steps: list[int] = []
    best: list[int] = [0]  # by the number of steps looked at: the most that a chain among them costs
    for at, (step, change, k) in enumerate(events):
        live += change
        for pool in hosts[k]:
            eligible[pool] += change
        if change > 0:
            heappush(present, (since[k], until[k]))
        if at + 1 < len(events) and events[at + 1][0] == step:
            continue
        while present and present[0][1] <= step:
            heappop(present)
        rest, here = live - capacity, 0
        for pool in cheapest_first:
            taken = min(max(rest, 0), room[pool], eligible[pool])
            rest, here = rest - taken, here + taken * problem.pools[pool].cost
        before = bisect_left(steps, present[0][0]) if present else len(steps)
        steps.append(step)
        best.append(max(best[-1], best[before] + here))
    return best[-1]
