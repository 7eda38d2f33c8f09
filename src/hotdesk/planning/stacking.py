"""What of a plan does not depend on sizes: which buffer lies in which memory, and which below which.

Of two buffers that are live together in the same memory, one lies below the other. Whatever the sizes are, each buffer can be
put on the highest top of those below it: nothing overlaps then, and for the sizes of the plan it was read from the arena is no
larger. A stacking is read from a plan in O(n²) at worst and laid out for other sizes in time proportional to the pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hotdesk.planning.buffers import Buffer, PoolId
from hotdesk.planning.plan import Placement, Plan
from hotdesk.planning.problem import Problem


@dataclass(frozen=True, slots=True)
class Stacking:
    """The buffers of a problem, by position.

    Attributes:
        spaces: the pool that each lies in, or None for the arena.
        order: an order in which each comes behind those below it.
        below: the buffers in the same memory that are live together with each and lie below it.
    """

    spaces: tuple[PoolId | None, ...]
    order: tuple[int, ...]
    below: tuple[tuple[int, ...], ...]

    @property
    def lent(self) -> frozenset[int]:
        """The buffers that lie in pools."""
        return frozenset(i for i, space in enumerate(self.spaces) if space is not None)


def read_stacking(buffers: Sequence[Buffer], plan: Plan) -> Stacking:
    """The stacking of a plan; `buffers` are those of its problem. Buffers without bytes are stacked as well."""
    offsets = [placement.offset for placement in plan.placements]
    order = tuple(sorted(range(len(buffers)), key=lambda i: (offsets[i], i)))
    spaces = tuple(placement.pool for placement in plan.placements)
    rank = {i: position for position, i in enumerate(order)}
    below: list[list[int]] = [[] for _ in buffers]
    active: list[int] = []
    for i in sorted(range(len(buffers)), key=lambda i: buffers[i].lower):
        active = [j for j in active if buffers[j].upper > buffers[i].lower]
        for j in active:
            if spaces[i] == spaces[j]:
                upper, lower = (i, j) if rank[j] < rank[i] else (j, i)
                below[upper].append(lower)
        active.append(i)
    return Stacking(spaces, order, tuple(map(tuple, below)))


def offsets_of(stacking: Stacking, footprints: Sequence[int]) -> list[int]:
    """Where each buffer lies if they have these footprints, in bytes."""
    offsets = [0] * len(footprints)
    tops = list(footprints)
    for i in stacking.order:
        below = stacking.below[i]
        if below:
            offset = max([tops[j] for j in below])
            offsets[i] = offset
            tops[i] = offset + footprints[i]
    return offsets


def arena_of(stacking: Stacking, footprints: Sequence[int]) -> int:
    """The bytes that the arena has to have for buffers with these footprints. It is no less for greater ones."""
    offsets = offsets_of(stacking, footprints)
    return max((offsets[i] + footprints[i] for i, space in enumerate(stacking.spaces) if space is None), default=0)


def lay_out(stacking: Stacking, problem: Problem) -> tuple[tuple[Placement, ...], int] | None:
    """Placements for the sizes of a problem with the same live ranges, and the arena in bytes.

    None where a buffer does not fit the pool that it lies in.
    """
    footprints = [buffer.footprint for buffer in problem.buffers]
    offsets = offsets_of(stacking, footprints)
    capacities = {pool.id: pool.capacity for pool in problem.pools}
    placements: list[Placement] = []
    arena = 0
    for i, buffer in enumerate(problem.buffers):
        space = stacking.spaces[i] if buffer.size else None
        if space is not None and offsets[i] + buffer.size > capacities.get(space, 0):
            return None
        if space is None:
            arena = max(arena, offsets[i] + footprints[i] if buffer.size else 0)
        placements.append(Placement(buffer.id, space, offsets[i] if buffer.size else 0))
    return tuple(placements), arena
