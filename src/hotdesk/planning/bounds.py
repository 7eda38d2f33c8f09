"""Lower bounds on the arena, with the certificate that proves them.

*Live sum.* Buffers live at one step lie apart, so together they need the sum of their footprints. A live buffer lies
in the arena or in a pool. Those in one pool can only be buffers it may host (whole live range inside one free
interval, size within the capacity); their footprints lie apart below the capacity rounded up to their alignment, so
they sum to at most that figure, and to no more than all eligible live buffers together. The arena holds the rest:

    arena >= live sum - min(sum over pools of min(capacity, eligible live sum), live sum of buffers eligible anywhere)

A buffer eligible for several pools is counted for each of them, which can only lower the right-hand side, so the
bound stays valid. Between two events (a live range that starts or ends) nothing changes, hence a sweep over the
events finds the maximum over all steps: O(n log n) for sorting, plus one step per buffer and pool it may use.

*Pinned tops.* The arena reaches at least the top of every pinned buffer.

The larger of the two is the bound. The live-sum bound is the maximum load of dynamic storage allocation; without
pools or pins the best known algorithms measure themselves against it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from hotdesk.planning.problem import Buffer, BufferId, Pool, Problem, pinned_top


@dataclass(frozen=True, slots=True)
class Bound:
    """No plan has an arena below `bytes`.

    `kind` names the proof. "live": the buffers `buffer_ids`, all those live at `step`, need that much beyond what the
    pools can lend. "pinned": `buffer_ids` is the one buffer whose fixed offset reaches that high, and `step` its first.
    "beam" and "cp-sat": that search looked at every placement of `buffer_ids`, the first of which is live at `step`,
    and found none smaller.
    """

    bytes: int
    step: int
    buffer_ids: tuple[BufferId, ...]
    kind: Literal["live", "pinned", "beam", "cp-sat"] = "live"


def lower_bound(problem: Problem) -> Bound:
    """The best bound this module proves; the earliest step wins among equals. Source: see the module docstring."""
    step, peak = _tightest_step(problem)
    highest = max(problem.buffers, key=lambda b: pinned_top(b) if b.size else 0, default=None)
    if highest is not None and highest.size and pinned_top(highest) > peak:
        return Bound(pinned_top(highest), highest.lower, (highest.id,), "pinned")
    live = tuple(b.id for b in problem.buffers if b.size and b.lower <= step < b.upper)
    return Bound(peak, step, live)


def max_live(buffers: Iterable[Buffer]) -> int:
    """Largest sum of footprints, in bytes, of buffers live at one step; pools are left out of account."""
    changes = sorted(change for b in buffers for change in ((b.lower, b.footprint), (b.upper, -b.footprint)))
    live = peak = 0  # at one step, ends (negative) sort before starts
    for _, change in changes:
        live += change
        peak = max(peak, live)
    return peak


def eligible_pools(buffer: Buffer, pools: tuple[Pool, ...]) -> tuple[int, ...]:
    """Positions in `pools` of those that may host `buffer`, smallest capacity first.

    Pinned and empty buffers borrow nothing.
    """
    if buffer.fixed_offset is not None or buffer.size == 0:
        return ()
    fits = [k for k, pool in enumerate(pools) if buffer.size <= pool.capacity and _is_free(pool, buffer)]
    return tuple(sorted(fits, key=lambda k: pools[k].capacity))


def _is_free(pool: Pool, buffer: Buffer) -> bool:
    at = bisect_right(pool.free, buffer.lower, key=lambda interval: interval[0]) - 1
    return at >= 0 and buffer.upper <= pool.free[at][1]


def _tightest_step(problem: Problem) -> tuple[int, int]:
    """(step, bytes) at which the buffers exceed what the pools can lend by most; (0, 0) when nothing is live."""
    hosts = [eligible_pools(buffer, problem.pools) for buffer in problem.buffers]
    capacities = _rounded_capacities(problem, hosts)
    events = [(b.lower, 1, i) for i, b in enumerate(problem.buffers) if b.size]
    events += [(b.upper, -1, i) for i, b in enumerate(problem.buffers) if b.size]
    events.sort()

    live = eligible_anywhere = lent = 0
    eligible = [0] * len(problem.pools)
    best_step = best = 0
    for at, (step, sign, i) in enumerate(events):
        change = sign * problem.buffers[i].footprint
        live += change
        if hosts[i]:
            eligible_anywhere += change
        for k in hosts[i]:
            before = min(capacities[k], eligible[k])
            eligible[k] += change
            lent += min(capacities[k], eligible[k]) - before
        if at + 1 < len(events) and events[at + 1][0] == step:
            continue
        excess = live - min(lent, eligible_anywhere)
        if excess > best:
            best_step, best = step, excess
    if best == 0 and events:
        best_step = events[0][0]
    return best_step, best


def _rounded_capacities(problem: Problem, hosts: list[tuple[int, ...]]) -> list[int]:
    alignment = [1] * len(problem.pools)
    for buffer, pools in zip(problem.buffers, hosts, strict=True):
        for k in pools:
            alignment[k] = max(alignment[k], buffer.alignment)
    return [-(-pool.capacity // a) * a for pool, a in zip(problem.pools, alignment, strict=True)]
