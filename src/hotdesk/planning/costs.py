"""What it costs at least to fit a problem into an arena of a given capacity and pools that cost something.

At one step, the footprints live there lie in the arena, up to its capacity, and in pools, in each up to its capacity or
what may live there at all. The cheapest way to share them out, a byte being as good as any other, costs no more than any
plan pays for the buffers live at that step. Steps at which no two common buffers are live add up: the best choice of such
steps is found in order of time, as a chain. O(n log n) for sorting, and one look at each pool a step.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from heapq import heappop, heappush

from hotdesk.planning.bodies import Body
from hotdesk.planning.bounds import hosting_pools
from hotdesk.planning.problem import Problem


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
