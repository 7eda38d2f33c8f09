"""A plan for the sizes of one call, by a fixed amount of work: what plans for other sizes know is used, and nothing is searched.

Problems here have the same live ranges as some that were planned thoroughly before, whose stackings (`stacking.py`) are given.
What follows from live ranges alone, who is live with whom and when pools are free, is found once (`LiveRanges`); for the sizes of
one problem (`SizedRanges`) the bound, loads and what packing reads follow in array operations.

1. Each stacking is laid out for the sizes at hand, until one meets the bound. The smallest arena counts, and where that is within
   a hundredth of the bound, it is the answer. Stackings with a buffer that does not fit in its pool are not for these sizes.
2. Else the arena is packed anew, lowest floor first, beside the loans of a stacking, as far as they fit: those that leave the
   smallest load in the arena, for no arena is smaller. Where each leaves more than a hundredth above the bound, loans that lower
   the peak are looked for too. Buffers are packed in two orders. Then those that reached above the load are moved to the front,
   and each order is packed once more: what was in trouble goes first, as in squeaky wheel optimization (Joslin and Clements,
   1999). It is given up where it gets above the smallest arena so far.

Packing places each buffer three times, or four times those that are left where many are lent. All else takes time in proportion
to the buffers, or, for new loans, to these and what lies in the pools. The same stackings and sizes have the same plan, whatever
was planned before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from hotdesk.planning.placement.borrow import Movable, lower_peaks
from hotdesk.planning.placement.instance import MOST_LISTED, Instance, build_instance
from hotdesk.planning.placement.orders import Columns
from hotdesk.planning.placement.skyline import LOOK, SKYLINE_ORDERS, skyline_in_arrays, stack_in_gaps
from hotdesk.planning.problem.bounds import Bound, Eligibility, Events, free_throughout
from hotdesk.planning.problem.buffers import Buffer, Pool, PoolId
from hotdesk.planning.problem.numbers import LARGEST_TOTAL
from hotdesk.planning.problem.plan import Placement, Plan
from hotdesk.planning.problem.problem import Problem
from hotdesk.planning.sizes.stacking import Fitting, Measures, Stacking

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


class SizedRanges:
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


CLOSE = 1.01
"""How far above its bound an arena may be without another packing being tried."""

WORK = 3.25
"""How often packing may place a buffer, counted over all of them."""

_ARRAY_LOOKS = 8
"""Looks at each buffer that packing may take where there are too many for sets of them."""

_ORDERS = {"skyline/area": Columns.by_pressure_then_area, "skyline/pressure": Columns.by_pressure}

_FIRST = "skyline/pressure"
"""The order where there are too many buffers for two."""

Loans = Mapping[int, tuple[PoolId, int]]
"""The pool and the offset of what does not lie in the arena, by position."""

Packing = tuple[Sequence[int], int, str]
"""Offsets in the arena by position, the arena and the strategy."""


class OnCall:
    """Plans problems that differ in their sizes alone. See the module docstring."""

    def __init__(self, buffers: Sequence[Buffer], windows: Windows, stackings: Sequence[Stacking]) -> None:
        """`buffers` have one alignment and the live ranges of all problems; none is pinned or has gaps.

        `windows` tells when pools are free, of which a problem may lack some. `stackings` are those of plans for other sizes.
        """
        self._live = LiveRanges.of(buffers, windows)
        self._names = tuple(buffer.id for buffer in buffers)
        self._stackings = tuple(stackings)

    def plan(self, problem: Problem) -> Plan:
        """A plan for the sizes of a problem, which has no ties."""
        return self.plan_sizes([buffer.size for buffer in problem.buffers], problem.pools)

    def plan_sizes(self, sizes: Sequence[int], pools: Sequence[Pool] = ()) -> Plan:
        """A plan for sizes of the buffers, in bytes.

        Raises ValueError for a negative size, and for sizes that sum to more than there can be.
        """
        sized = SizedRanges(self._live, sizes, pools)
        measures, bound, no_reuse = sized.measures, sized.bound(), sized.no_reuse
        best: tuple[Stacking, Fitting] | None = None
        arena = no_reuse
        known: list[Loans] = []
        for stacking in self._stackings:
            found = Fitting.of(stacking, measures)
            if pools:
                known.append(found.loans(stacking, measures))
            if not found.outside and (best is None or found.arena < arena) and found.arena <= no_reuse:
                best, arena = (stacking, found), found.arena
                if arena <= bound.bytes:
                    break
        if arena > CLOSE * bound.bytes:
            packed = self._packed(sized, bound.bytes, known or [{}], arena)
            if packed is not None:
                (offsets, arena, strategy), loans = packed
                return Plan(self._placed(offsets, loans), arena, bound, strategy, no_reuse)
        if best is None:
            return Plan(self._placed(_apart(measures), {}), no_reuse, bound, "no-reuse", no_reuse)
        return Plan(best[1].placements(self._names, best[0], measures), arena, bound, "as-sampled", no_reuse)

    def _packed(
        self, sized: SizedRanges, bound: int, known: Sequence[Loans], arena: int
    ) -> tuple[Packing, Loans] | None:
        """A smaller arena than is known, if any is found, and what is lent beside it, as in one of those known, or anew."""
        peaks = sized.peaks(known)
        floor = min(peaks)
        loans = known[peaks.index(floor)]
        pools = sized.pools
        if pools and floor > CLOSE * bound:
            lent = lower_peaks(pools, sized.movable(), sized.hosts, floor)
            if lent is not None:
                found, floor = lent
                loans = {i: (pools[loan.pool].id, loan.offset) for i, loan in found.items()}
        best: Packing | None = None
        if floor < arena:
            for packing in self._packings(sized, loans, arena):
                if packing[1] < arena:
                    best, arena = packing, packing[1]
                if arena <= floor:
                    break
        return None if best is None else (best, loans)

    def _packings(self, sized: SizedRanges, loans: Loans, arena: int) -> Iterator[Packing]:
        """Layouts in as many orders as the work allows, those after the first two only where they are below `arena` and these.

        For many buffers there is one.
        """
        if not self._live.listed:
            yield from _in_arrays(sized.problem(), loans)
            return
        instance, columns = sized.packing(loans)
        size = sized.footprints
        packed = size > 0
        packed[list(loans)] = False
        tried: list[tuple[int, str, Column, Column]] = []
        for name, by in _ORDERS.items():
            order = by(columns)
            order = order[packed[order]]
            offsets, reached = stack_in_gaps(instance, order.tolist())
            tried.append((reached, name, order, np.array(offsets, dtype=np.int64) + size))
            yield offsets, reached, name
        arena = min(arena, *(reached for reached, *_ in tried))
        most = int(WORK * len(size)) // max(int(packed.sum()), 1)
        for _, name, order, tops in sorted(tried, key=lambda each: each[:2])[: most - len(tried)]:
            high = tops[order] > instance.floor
            front = order[high]
            again = np.concatenate((front[np.argsort(-tops[front], kind="stable")], order[~high]))
            lower, reached = stack_in_gaps(instance, again.tolist(), arena - 1)
            if reached < arena:
                arena = reached
                yield lower, arena, f"{name}, twice"

    def _placed(self, offsets: Sequence[int], loans: Loans) -> tuple[Placement, ...]:
        """Offsets in the arena and what is lent, as placements."""
        spaces: list[PoolId | None] = [None] * len(offsets)
        places = list(offsets)
        for i, (pool, offset) in loans.items():
            spaces[i], places[i] = pool, offset
        return tuple(map(Placement, self._names, spaces, places))


def _in_arrays(problem: Problem, loans: Loans) -> Iterator[Packing]:
    """A layout without lists of neighbours, if it takes no more than its work."""
    instance = build_instance(problem, loans)
    looks = LOOK * _ARRAY_LOOKS * len(instance)
    layout = skyline_in_arrays(instance, SKYLINE_ORDERS[_FIRST](instance), _FIRST, work=looks)
    if layout is not None:
        offsets = [0] * len(problem.buffers)
        for i, offset in zip(instance.origin, layout.offsets, strict=True):
            offsets[i] = offset
        yield offsets, layout.arena, layout.strategy


def _apart(measures: Measures) -> list[int]:
    """Offsets at which no two buffers share a byte."""
    tops = accumulate(measures.footprints)
    return [top - footprint if footprint else 0 for top, footprint in zip(tops, measures.footprints, strict=True)]
