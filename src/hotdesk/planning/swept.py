"""Offset-first placement without lists of neighbours, for instances with too many pairs that overlap.

As `skyline.py`, but a floor is looked up when it is needed: the highest top over the buffer's live range, in an array
with an entry for each step. A placement writes its top over its range. O(n log n) heap work and one pass over a live
range for each look at a buffer. Where live ranges are long, a buffer is looked at many times before its turn comes: the work
is counted, and given up where it is not worth it.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heapreplace

import numpy as np

from hotdesk.planning.deadline import NO_DEADLINE, Deadline
from hotdesk.planning.instance import Instance, Layout
from hotdesk.planning.skyline import clear_of, meeting

LOOK = 2_000
"""Steps that could be read in the time that a look at a buffer takes beside reading its range."""

_STRETCH = 1_000
"""Looks between two looks at the clock."""


def skyline_swept(
    instance: Instance,
    order: Sequence[int],
    name: str,
    ceiling: int | None = None,
    work: int | None = None,
    deadline: Deadline = NO_DEADLINE,
) -> Layout | None:
    """Place every buffer once, lowest floor first, ties in `order`; None as soon as a top passes `ceiling` bytes.

    None too where that takes more than `work`, in steps read, and at the deadline.
    """
    count = len(order)
    if ceiling is not None and any(obstacle.top > ceiling for obstacle in instance.obstacles):
        return None
    tops = np.zeros(max(instance.upper, default=0), dtype=np.int64)
    ranges = [tops[lower:upper] for lower, upper in zip(instance.lower, instance.upper, strict=True)]
    offsets = [0] * count
    heap = list(range(count))  # floor * count + rank: one integer compares faster than a pair
    arena = max((obstacle.top for obstacle in instance.obstacles), default=0)
    looks = 0
    left = (1 << 62) if work is None else work
    while heap:
        key = heap[0]
        rank = key % count
        i = order[rank]
        left -= LOOK * (1 + len(instance.obstacles)) + len(ranges[i])
        looks += 1
        if left < 0 or (looks % _STRETCH == 0 and deadline.passed()):
            return None
        floor = int(ranges[i].max())
        floor += -floor % instance.alignment[i]
        if instance.obstacles:
            floor = clear_of(floor, instance.size[i], instance.alignment[i], meeting(instance, i))
        due = floor * count + rank
        if due > key:
            heapreplace(heap, due)
            continue
        heappop(heap)
        top = floor + instance.size[i]
        if ceiling is not None and top > ceiling:
            return None
        offsets[i] = floor
        ranges[i][:] = top
        arena = max(arena, top)
    return Layout(tuple(offsets), arena, name)
