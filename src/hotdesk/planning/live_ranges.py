"""What problems have in common that differ in their sizes alone: who is live with whom, and when pools are free.

It is found once. For the sizes of one problem (`Sized`) the bound, loads and what packing reads follow in array operations.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hotdesk.planning.borrow import Movable
from hotdesk.planning.bounds import Bound, Eligibility, Events, free_throughout
from hotdesk.planning.buffers import Buffer, Pool, PoolId
from hotdesk.planning.instance import MOST_LISTED, Instance, build_instance
from hotdesk.planning.orders import Columns
from hotdesk.planning.problem import LARGEST_TOTAL, Problem
from hotdesk.planning.stacking import Measures

Column = NDArray[np.int64]

Windows = Mapping[int, Sequence[tuple[int, int]]] | Mapping[PoolId, Sequence[tuple[int, int]]]
"""The intervals of steps in which each pool is free."""


@dataclass(frozen=True, slots=True)
class LiveRanges:
    """Buffers without their sizes, by position.

    Attributes:
        lower, upper: the steps `[lower, upper)` in which each is needed.
        events: their starts and ends.
        instance: all of them, with one alignment as the footprint of each.
        listed: whether there are few enough buffers for sets of them.
        begins, ends: where the life of each does among the moments of `events`.
        runs: these two of each, one after the other.
        hosts: for each pool whether it is free throughout the life of each buffer.
        alignment: in bytes, of all.
        buffers: they themselves; their sizes are of no meaning.
    """

    lower: Column
    upper: Column
    events: Events
    instance: Instance
    listed: bool
    begins: tuple[int, ...]
    ends: tuple[int, ...]
    runs: NDArray[np.intp]
    hosts: Mapping[PoolId, NDArray[np.bool_]]
    alignment: int
    buffers: tuple[Buffer, ...]

    @classmethod
    def of(cls, buffers: Sequence[Buffer], windows: Windows) -> LiveRanges:
        """Those of buffers that have one alignment; none is pinned or has gaps."""
        alignment = buffers[0].alignment if buffers else 1
        instance = build_instance(Problem(tuple(replace(buffer, size=alignment) for buffer in buffers)))
        lower: Column = np.array([buffer.lower for buffer in buffers], dtype=np.int64)
        upper: Column = np.array([buffer.upper for buffer in buffers], dtype=np.int64)
        events = Events.of(lower, upper)
        begins, ends = events.moments.searchsorted(lower), events.moments.searchsorted(upper)
        return cls(
            lower,
            upper,
            events,
            instance,
            len(instance) <= MOST_LISTED,
            tuple(begins.tolist()),
            tuple(ends.tolist()),
            np.ravel(np.column_stack((begins, ends))),
            {pool: free_throughout(lower, upper, free) for pool, free in windows.items()},
            alignment,
            tuple(buffers),
        )

    def problem(self, sizes: Sequence[int], pools: Sequence[Pool]) -> Problem:
        """That of these sizes, in bytes. Raises ValueError where there is none."""
        buffers = zip(self.buffers, sizes, strict=True)
        return Problem(tuple(replace(buffer, size=size) for buffer, size in buffers), tuple(pools))


class Sized:
    """These live ranges with sizes, in bytes, and with pools. Raises ValueError for what is no problem."""

    def __init__(self, live: LiveRanges, sizes: Sequence[int], pools: Sequence[Pool]) -> None:
        self._live = live
        self.pools = pools
        footprints = [size + -size % live.alignment for size in sizes]
        self.no_reuse = sum(footprints)
        if len(sizes) != len(live.buffers) or min(sizes, default=0) < 0 or self.no_reuse >= LARGEST_TOTAL:
            live.problem(sizes, pools)
        self.measures = Measures(sizes, footprints, {pool.id: pool.capacity for pool in pools})
        column: Column = np.array(sizes, dtype=np.int64)
        self._present = column > 0
        self.footprints: Column = np.array(footprints, dtype=np.int64)
        self.hosts: Eligibility = np.empty((len(sizes), len(pools)), dtype=np.bool_, order="F")
        for k, pool in enumerate(pools):
            self.hosts[:, k] = live.hosts[pool.id] & self._present & (column <= pool.capacity)

    def problem(self) -> Problem:
        """With a buffer for each."""
        return self._live.problem(self.measures.sizes, self.pools)

    def bound(self) -> Bound:
        """As `bounds.lower_bound`."""
        live, present = self._live, self._present
        capacities = [pool.capacity + -pool.capacity % live.alignment for pool in self.pools]
        step, peak = live.events.tightest_step(self.footprints, self.hosts, capacities)
        if not peak:
            step = int(live.lower[present].min(initial=np.iinfo(np.int64).max)) if present.any() else 0
        at: list[int] = np.flatnonzero(present & (live.lower <= step) & (step < live.upper)).tolist()
        return Bound(peak, step, tuple([live.buffers[i].id for i in at]))

    def peaks(self, lent: Sequence[Collection[int]]) -> list[int]:
        """For each choice of buffers, by position, the largest load of the arena where those are not in it."""
        return self._live.events.loads(np.stack([self._left(each) for each in lent])).max(axis=-1, initial=0).tolist()

    def movable(self) -> Movable:
        """All buffers, in the arena."""
        live, measures = self._live, self.measures
        alignment = live.instance.alignment
        load = live.events.loads(self.footprints)
        return Movable(live.begins, live.ends, measures.sizes, measures.footprints, alignment, load)

    def packing(self, lent: Collection[int]) -> tuple[Instance, Columns]:
        """All buffers, under the load of those in the arena, which are not the buffers at these positions."""
        live = self._live
        loads = live.events.loads(self._left(lent))
        pressure = np.maximum.reduceat(loads, live.runs)[::2] if len(loads) else loads
        instance = replace(
            live.instance,
            size=tuple(self.measures.footprints),
            pressure=tuple(pressure.tolist()),
            floor=int(loads.max(initial=0)),
        )
        return instance, Columns.made(pressure, live.upper - live.lower, self.footprints)

    def _left(self, lent: Collection[int]) -> Column:
        if not lent:
            return self.footprints
        left: Column = np.array(self.footprints)
        left[list(lent)] = 0
        return left
