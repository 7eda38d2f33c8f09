"""A plan for the sizes of one call, by a fixed amount of work: what plans for other sizes know is used, and nothing is searched.

Problems here have the same live ranges as some that were planned thoroughly before, whose stackings (`stacking.py`) are given.
What follows from live ranges alone is found once (`live_ranges.py`).

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

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

import numpy as np

from hotdesk.planning.borrow import lower_peaks
from hotdesk.planning.buffers import Buffer, Pool, PoolId
from hotdesk.planning.instance import build_instance
from hotdesk.planning.live_ranges import Column, LiveRanges, Sized, Windows
from hotdesk.planning.orders import Columns
from hotdesk.planning.plan import Placement, Plan
from hotdesk.planning.problem import Problem
from hotdesk.planning.skyline import SKYLINE_ORDERS
from hotdesk.planning.skyline_gaps import stack_in_gaps
from hotdesk.planning.stacking import Fitting, Measures, Stacking
from hotdesk.planning.swept import LOOK, skyline_swept

CLOSE = 1.01
"""How far above its bound an arena may be without another packing being tried."""

WORK = 3.25
"""How often packing may place a buffer, counted over all of them."""

_SWEPT_LOOKS = 8
"""Looks at each buffer that packing may take where there are too many for sets of them."""

_ORDERS = {"skyline/area": Columns.by_pressure_then_area, "skyline/pressure": Columns.by_pressure}

_FIRST = "skyline/pressure"
"""The order where there are too many buffers for two."""

Loans = Mapping[int, tuple[PoolId, int]]
"""The pool and the offset of what does not lie in the arena, by position."""

Found = tuple[Sequence[int], int, str]
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
        sized = Sized(self._live, sizes, pools)
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

    def _packed(self, sized: Sized, bound: int, known: Sequence[Loans], arena: int) -> tuple[Found, Loans] | None:
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
        best: Found | None = None
        if floor < arena:
            for packing in self._packings(sized, loans, arena):
                if packing[1] < arena:
                    best, arena = packing, packing[1]
                if arena <= floor:
                    break
        return None if best is None else (best, loans)

    def _packings(self, sized: Sized, loans: Loans, arena: int) -> Iterator[Found]:
        """Layouts in as many orders as the work allows, those after the first two only where they are below `arena` and these.

        For many buffers there is one.
        """
        if not self._live.listed:
            yield from _swept(sized.problem(), loans)
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


def _swept(problem: Problem, loans: Loans) -> Iterator[Found]:
    """A layout without lists of neighbours, if it takes no more than its work."""
    instance = build_instance(problem, loans)
    looks = LOOK * _SWEPT_LOOKS * len(instance)
    layout = skyline_swept(instance, SKYLINE_ORDERS[_FIRST](instance), _FIRST, work=looks)
    if layout is not None:
        offsets = [0] * len(problem.buffers)
        for i, offset in zip(instance.origin, layout.offsets, strict=True):
            offsets[i] = offset
        yield offsets, layout.arena, layout.strategy


def _apart(measures: Measures) -> list[int]:
    """Offsets at which no two buffers share a byte."""
    tops = accumulate(measures.footprints)
    return [top - footprint if footprint else 0 for top, footprint in zip(tops, measures.footprints, strict=True)]
