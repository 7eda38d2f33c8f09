"""Offset-first placement: the arena fills from the bottom up, over all of time at once.

Every unplaced buffer has a floor, the highest top among the placed buffers it is live with. The buffer with the
lowest floor is placed there, ties by a given order, and lifts the floors of its neighbours. Offsets never decrease
from one placement to the next: the canonical form to which MiniMalloc (Moffitt, ASPLOS 2024) restricts its search,
here walked once with no backtracking; the three orders (by load, area and lifetime in different precedence) are the
kind its search starts from.

Floors only rise, so a buffer waits where its floor was when it was looked at last, and waits again, higher up, where it has
risen since. A placement touches each neighbour once: O(n log n + overlapping pairs), with a small factor for waiting again.
Pinned buffers do not lift floors; a buffer whose place collides with one is offered again above it, and what is smaller may
take the hole first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from hotdesk.planning import orders
from hotdesk.planning.instance import Instance, Layout, Obstacle

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


def skyline(instance: Instance, around: Neighbourhood, order: Sequence[int], name: str) -> Layout:
    """Place every buffer once, lowest floor first, ties in `order`."""
    offsets, _ = stack_up(instance, around, order)
    return Layout(tuple(offsets), reach(instance, offsets), name)


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
