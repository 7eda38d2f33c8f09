"""Offset-first placement (skyline): the arena fills from the bottom up, over all of time at once.

Every unplaced buffer has a floor, the highest top among the placed buffers it is live with. The buffer with the
lowest floor is placed there, ties by a given order, and lifts the floors of its neighbours. Offsets never decrease
from one placement to the next: the canonical form to which MiniMalloc (Moffitt, ASPLOS 2024) restricts its search,
here walked once with no backtracking; the three orders (by load, area and lifetime in different precedence) are the
kind its search starts from. Pinned buffers do not lift floors; a buffer whose place collides with one is offered again above it,
and what is smaller may take the hole first.

The same placement is computed in three ways, for three sizes of problems:

- `stack_up`, with lists of neighbours. Floors only rise, so a buffer waits where its floor was when it was looked at last, and
  waits again, higher up, where it has risen since. O(n log n + overlapping pairs), with a small factor for waiting again.
- `skyline_in_arrays`, for instances with too many pairs that overlap: a floor is looked up when it is needed, as the highest top
  over the live range in an array with an entry for each step; a placement writes its top over its range. O(n log n) heap work and
  one pass over a live range for each look at a buffer. Where live ranges are long, a buffer is looked at many times before its
  turn comes: the work is counted, and given up where it is not worth it.
- `stack_in_gaps`, for the sizes of a call, where milliseconds count: at a level, what is placed leaves gaps in time. Where a gap
  opens, the first buffer in the order that lives inside it is placed, and what is left of the gap on both sides is asked again. A
  gap that nobody fits in stays until what is beside it ends too. Who lives inside is an intersection of sets: who starts no
  sooner, who ends no later, and who is not placed yet. Sets are integers with a bit for each buffer, the first in the order the
  highest. Each buffer opens and splits one gap: some operations on n bits, however many are live together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import heappop, heappush, heapreplace
from importlib.util import find_spec
from itertools import accumulate

import numpy as np

from hotdesk.planning.placement import orders
from hotdesk.planning.placement.deadline import NO_DEADLINE, Deadline
from hotdesk.planning.placement.greedy import WORTH_COMPILING
from hotdesk.planning.placement.instance import ArenaLayout, Instance, Obstacle

SKYLINE_ORDERS: dict[str, Callable[[Instance], list[int]]] = {
    "skyline/pressure": orders.by_pressure,
    "skyline/area": orders.by_pressure_then_area,
    "skyline/lifetime": orders.by_lifetime,
}


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """For each movable buffer, the others live with it, and the obstacles live with it in order of offset.

    `plain` says that floors are offsets as they stand: no obstacle, and every footprint a multiple of every alignment.
    """

    neighbours: tuple[tuple[int, ...], ...]
    obstacles: tuple[tuple[Obstacle, ...], ...]
    plain: bool


def find_neighbours(instance: Instance) -> Neighbourhood:
    """Sweep the buffers by start over those still live: time and memory in proportion to the overlapping pairs."""
    neighbours: list[list[int]] = [[] for _ in range(len(instance))]
    lower, upper = instance.lower, instance.upper
    active: list[int] = []
    for i in sorted(range(len(instance)), key=lower.__getitem__):
        start = lower[i]
        active = [j for j in active if upper[j] > start]
        neighbours[i] += active
        for j in active:
            neighbours[j].append(i)
        active.append(i)
    strictest = max(instance.alignment, default=1)
    return Neighbourhood(
        neighbours=tuple(map(tuple, neighbours)),
        obstacles=tuple(meeting(instance, i) for i in range(len(instance))),
        plain=not instance.obstacles and not any(size % strictest for size in instance.size),
    )


def stack_up(
    instance: Instance, around: Neighbourhood, order: Sequence[int], ceiling: int | None = None
) -> tuple[list[int], list[int]]:
    """Offsets by buffer, and the buffers in order of placement: not all of them when a top would pass `ceiling`.

    Buffers that are not in `order` are not placed.
    """
    size, neighbours, plain = instance.size, around.neighbours, around.plain
    floors = [0] * len(size)
    offsets = [0] * len(size)
    placed: list[int] = []
    waiting = {0: list(range(len(order)))}  # ranks by the floor they had when they were looked at last
    levels = [0]
    while levels:
        level = heappop(levels)
        ranks = waiting.pop(level)
        ranks.sort()
        for rank in ranks:
            i = order[rank]
            floor = floors[i] if plain else clear_of(floors[i], size[i], instance.alignment[i], around.obstacles[i])
            if floor > level:
                if floor in waiting:
                    waiting[floor].append(rank)
                else:
                    waiting[floor] = [rank]
                    heappush(levels, floor)
                continue
            top = level + size[i]
            if ceiling is not None and top > ceiling:
                return offsets, placed
            offsets[i] = level
            placed.append(i)
            for j in neighbours[i]:
                if floors[j] < top:
                    floors[j] = top
    return offsets, placed


def skyline(instance: Instance, around: Neighbourhood, order: Sequence[int], name: str) -> ArenaLayout:
    """Place every buffer once, lowest floor first, ties in `order`."""
    offsets, _ = stack_up(instance, around, order)
    return ArenaLayout(tuple(offsets), reach(instance, offsets), name)


def reach(instance: Instance, offsets: Sequence[int]) -> int:
    """Bytes up to the highest top of buffers and obstacles."""
    highest = max((offset + size for offset, size in zip(offsets, instance.size, strict=True)), default=0)
    return max(highest, max((o.top for o in instance.obstacles), default=0))


def meeting(instance: Instance, i: int) -> tuple[Obstacle, ...]:
    """The obstacles that are there at some step with a buffer, in order of offset."""
    found = [o for o in instance.obstacles if o.lower < instance.upper[i] and instance.lower[i] < o.upper]
    return tuple(sorted(found, key=lambda o: o.bottom))


def clear_of(floor: int, size: int, alignment: int, obstacles: tuple[Obstacle, ...]) -> int:
    """Lowest aligned offset from `floor` on that keeps clear of the obstacles, which come in order of offset."""
    offset = (floor + alignment - 1) & -alignment
    for obstacle in obstacles:
        if offset < obstacle.top and obstacle.bottom < offset + size:
            offset = (obstacle.top + alignment - 1) & -alignment
    return offset


LOOK = 2_000
"""Steps that could be read in the time that a look at a buffer takes beside reading its range."""

_STRETCH = 1_000
"""Looks between two looks at the clock."""

_COMPILED_STRETCH = 100_000
"""The same in compiled code."""


def skyline_in_arrays(
    instance: Instance,
    order: Sequence[int],
    name: str,
    ceiling: int | None = None,
    work: int | None = None,
    deadline: Deadline = NO_DEADLINE,
) -> ArenaLayout | None:
    """Place every buffer once, lowest floor first, ties in `order`; None as soon as a top passes `ceiling` bytes.

    None too where that takes more than `work`, in steps read, and at the deadline.
    """
    if not instance.obstacles and len(order) >= WORTH_COMPILING and find_spec("numba") is not None:
        return _skyline_compiled(instance, order, name, ceiling, work, deadline)
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
    return ArenaLayout(tuple(offsets), arena, name)


def _skyline_compiled(
    instance: Instance, order: Sequence[int], name: str, ceiling: int | None, work: int | None, deadline: Deadline
) -> ArenaLayout | None:
    from hotdesk.planning.placement import skyline_kernels as kernels

    most = 1 << 62
    by_rank = np.array(order, dtype=np.int64)
    columns = (instance.lower, instance.upper, instance.size, instance.alignment)
    buffers = tuple(np.array(column, dtype=np.int64)[by_rank] for column in columns)
    tops = np.zeros(max(instance.upper, default=0), dtype=np.int64)
    heap = np.zeros_like(by_rank), np.arange(len(order), dtype=np.int64)
    placed = np.zeros_like(by_rank)
    left, ceiling, waiting, arena = most if work is None else work, most if ceiling is None else ceiling, len(order), 0
    why = kernels.STOPPED
    while why == kernels.STOPPED and not deadline.passed():
        why, waiting, left, highest = kernels.stack_some(
            heap, waiting, buffers, tops, placed, ceiling, left, LOOK, _COMPILED_STRETCH
        )
        arena = max(arena, int(highest))
    if why != kernels.DONE:
        return None
    offsets = np.zeros_like(by_rank)
    offsets[by_rank] = placed
    return ArenaLayout(tuple(offsets.tolist()), arena, name)


def stack_in_gaps(instance: Instance, order: Sequence[int], ceiling: int | None = None) -> tuple[list[int], int]:
    """Offsets by buffer, those of `skyline.stack_up`, and the highest top; that is above `ceiling` where it stopped at one.

    Buffers that are not in `order` are not placed; those in it have bytes. There are no obstacles, and there is one alignment.
    """
    size, lower, upper = instance.size, instance.lower, instance.upper
    count = len(size)
    backwards = order[::-1]
    bits = _bits(count)
    since, until = _inside(instance, backwards, bits)
    highest = sum(size) if ceiling is None else ceiling
    reached = 0
    offsets = [0] * count
    left = bits[len(order)] - 1
    tops: list[int] = []  # of what has not ended: top * count + buffer, as one integer compares faster than a pair
    level = 0
    # Gaps found by where they start and end. They are no wider than is free: what ended at both of their sides is part of them.
    end_of, start_of = [0] * len(since), [-1] * len(since)
    end_of[0], start_of[-1] = len(since) - 1, 0
    starts = [0]
    parts: list[tuple[int, int, int]] = []
    while True:
        for start in starts:
            end = end_of[start]
            inside = left & since[start] & until[end]
            if not inside:  # nor has anyone ended by step 0, where a gap ends that has become part of another one
                continue
            end_of[start], start_of[end] = 0, -1
            while True:
                rank = inside.bit_length() - 1
                i = backwards[rank]
                bit = bits[rank]
                top = level + size[i]
                if top > reached:
                    reached = top
                    if top > highest:
                        return offsets, reached
                offsets[i] = level
                left ^= bit
                inside ^= bit
                heappush(tops, top * count + i)
                middle = lower[i]
                if start < middle:
                    before = inside & until[middle]
                    if before:
                        parts.append((start, middle, before))
                    else:
                        end_of[start], start_of[middle] = middle, start
                start = upper[i]
                if start < end:
                    inside &= since[start]
                    if inside:
                        continue
                    end_of[start], start_of[end] = end, start
                if not parts:
                    break
                start, end, inside = parts.pop()
        if not left:
            return offsets, reached
        starts.clear()
        level, i = divmod(heappop(tops), count)
        above = (level + 1) * count
        while True:
            start, end = lower[i], upper[i]
            before, after = start_of[start], end_of[end]
            if before >= 0:
                start_of[start], start = -1, before
            if after:
                end_of[end], end = 0, after
            end_of[start], start_of[end] = end, start
            starts.append(start)
            if not tops or tops[0] >= above:
                break
            i = heappop(tops) % count


@lru_cache(maxsize=1)
def _bits(count: int) -> tuple[int, ...]:
    """The sets of one of `count` buffers each, and that of the next."""
    return tuple(1 << rank for rank in range(count + 1))


def _inside(instance: Instance, backwards: Sequence[int], bits: Sequence[int]) -> tuple[list[int], list[int]]:
    """Who starts at each step or later, and who has ended by then, in sets; `bits` are from the last in the order on."""
    lower, upper = instance.lower, instance.upper
    steps = max(upper, default=0) + 1
    since, until = [0] * steps, [0] * steps
    for rank, i in enumerate(backwards):
        bit = bits[rank]
        since[lower[i]] |= bit
        until[upper[i]] |= bit
    since.reverse()
    since = list(accumulate(since, int.__or__))
    since.reverse()
    return since, list(accumulate(until, int.__or__))
