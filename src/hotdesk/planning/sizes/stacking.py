"""What of a plan does not depend on sizes: which buffer lies in which memory, and which below which.

Of two buffers that are live together in the same memory, one lies below the other. Whatever the sizes are, each buffer can be
put on the highest top of those below it: nothing overlaps then, and for the sizes of the plan it was read from the arena is no
larger.

Of those below a buffer only the nearest count: at each step, what is live in a memory is one stack, and who lies next to whom
there changes where a buffer comes or goes. So there are less than three pairs a buffer, and no list of all pairs that overlap.
A stacking is read in O(n log n), plus the cost of keeping sorted lists, and laid out for other sizes in O(n).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from hotdesk.planning.problem.buffers import Buffer, BufferId, PoolId
from hotdesk.planning.problem.plan import Placement, Plan
from hotdesk.planning.problem.problem import Problem

Stack = Sequence[tuple[int, int, tuple[int, ...]]]
"""What lies in one memory, from the bottom up: each buffer, one of those below it, or -1 for the ground, and the others."""


@dataclass(frozen=True, slots=True)
class Stacking:
    """The buffers of a problem, by position.

    Attributes:
        spaces: the pool that each lies in, or None for the arena.
        order: an order in which each comes behind those below it.
        below: the buffers in the same memory that lie next below each at some step.
        stacks: what lies in each memory, in that order.
    """

    spaces: tuple[PoolId | None, ...]
    order: tuple[int, ...]
    below: tuple[tuple[int, ...], ...]
    stacks: Mapping[PoolId | None, Stack] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        stacks: dict[PoolId | None, list[tuple[int, int, tuple[int, ...]]]] = {}
        for i in self.order:
            first, *others = self.below[i] or (-1,)
            stacks.setdefault(self.spaces[i], []).append((i, first, tuple(others)))
        object.__setattr__(self, "stacks", stacks)

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
    stacks: dict[PoolId | None, list[int]] = {}
    events = [(buffer.lower, 1, i) for i, buffer in enumerate(buffers)]
    events += [(buffer.upper, 0, i) for i, buffer in enumerate(buffers)]
    for _, comes, i in sorted(events):
        stack = stacks.setdefault(spaces[i], [])
        at = bisect_left(stack, rank[i])
        under = order[stack[at - 1]] if at else None
        if comes:
            if under is not None:
                below[i].append(under)
            if at < len(stack):
                below[order[stack[at]]].append(i)
            stack.insert(at, rank[i])
            continue
        del stack[at]
        if under is not None and at < len(stack):
            below[order[stack[at]]].append(under)
    return Stacking(spaces, order, tuple(tuple(dict.fromkeys(each)) for each in below))


def arena_of(stacking: Stacking, footprints: Sequence[int]) -> int:
    """The bytes that the arena has to have for buffers with these footprints. It is no less for greater ones."""
    return _heights(stacking.stacks.get(None, ()), [0] * len(footprints), [*footprints, 0])


def lay_out(stacking: Stacking, problem: Problem) -> tuple[tuple[Placement, ...], int] | None:
    """Placements for the sizes of a problem with the same live ranges, and the arena in bytes.

    None where a buffer does not fit the pool that it lies in.
    """
    measures = Measures.of(problem)
    found = Fitting.of(stacking, measures)
    if found.outside:
        return None
    return found.placements([buffer.id for buffer in problem.buffers], stacking, measures), found.arena


class Measures(NamedTuple):
    """Bytes, by position: the sizes of buffers, these with padding, and the capacities of pools by name."""

    sizes: Sequence[int]
    footprints: Sequence[int]
    capacities: dict[PoolId, int]

    @classmethod
    def of(cls, problem: Problem) -> Measures:
        """The bytes of a problem."""
        footprints = [buffer.footprint for buffer in problem.buffers]
        return cls([b.size for b in problem.buffers], footprints, {pool.id: pool.capacity for pool in problem.pools})


class Fitting(NamedTuple):
    """Where buffers of some sizes lie by a stacking, and the arena of those in it.

    Those `outside` do not fit the pool that they lie in: they are nowhere, and what is above them lies lower for that.
    """

    offsets: list[int]
    outside: frozenset[int]
    arena: int

    @classmethod
    def of(cls, stacking: Stacking, measures: Measures) -> Fitting:
        """The stacking laid out, in time proportional to the buffers."""
        sizes = measures.sizes
        offsets = [0] * len(sizes)
        tops = [*measures.footprints, 0]  # the last is the ground
        outside: list[int] = []
        arena = 0
        for space, stack in stacking.stacks.items():
            if space is None:
                arena = _heights(stack, offsets, tops)
                continue
            capacity = measures.capacities.get(space, 0)
            for i, first, others in stack:
                offset = max(tops[first], *[tops[j] for j in others]) if others else tops[first]
                if sizes[i] and offset + sizes[i] > capacity:
                    tops[i] = offset
                    outside.append(i)
                    continue
                offsets[i] = offset
                tops[i] += offset
        return cls(offsets, frozenset(outside), arena)

    def placements(self, names: Sequence[BufferId], stacking: Stacking, measures: Measures) -> tuple[Placement, ...]:
        """One for each buffer, where none is outside. Empty buffers are on the ground of the arena."""
        rows = zip(names, measures.sizes, stacking.spaces, self.offsets, strict=True)
        return tuple(
            [Placement(name, space, offset) if size else Placement(name, None, 0) for name, size, space, offset in rows]
        )

    def loans(self, stacking: Stacking, measures: Measures) -> dict[int, tuple[PoolId, int]]:
        """The pool and the offset of each buffer that fits in one."""
        return {
            i: (space, self.offsets[i])
            for space, stack in stacking.stacks.items()
            if space is not None
            for i, _, _ in stack
            if measures.sizes[i] and i not in self.outside
        }


def _heights(stack: Stack, offsets: list[int], tops: list[int]) -> int:
    """Puts each buffer of a memory on those below it, and writes its offset and its top; returns the highest top.

    `tops` are footprints before, and have one more place at the end, the ground.
    """
    highest = 0
    for i, first, others in stack:
        offset = tops[first]
        for j in others:
            if tops[j] > offset:
                offset = tops[j]
        offsets[i] = offset
        tops[i] = top = tops[i] + offset
        if top > highest:
            highest = top
    return highest
