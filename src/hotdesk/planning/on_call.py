"""A plan for the sizes of one call, by a fixed amount of work: what plans for other sizes know is used, and nothing is searched.

Problems here have the same live ranges as some that were planned thoroughly before, whose stackings (`stacking.py`) are given.

1. Each stacking is laid out for the sizes at hand, until one meets the bound. The smallest arena counts, and where that is within
   a hundredth of the bound, it is the answer. Stackings with a buffer that does not fit in its pool are not for these sizes.
2. Else the arena is packed anew, lowest floor first, in several orders, beside loans of a stacking, as far as they fit. Which
   stacking's is decided by the load that is left in the arena, for no arena is smaller. Where each leaves more than a hundredth
   above the bound, loans that lower the peak are looked for too.

Packing is charged for: `WORK` looks of one buffer at another for each buffer. All else takes time in proportion to the buffers,
or, for new loans, to these and what lies in the pools. The same stackings and sizes have the same plan, whatever was planned
before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from hotdesk.planning.borrow import lower_peaks
from hotdesk.planning.bounds import lower_bound
from hotdesk.planning.buffers import PoolId
from hotdesk.planning.instance import Instance, Layout, build_instance
from hotdesk.planning.plan import Placement, Plan
from hotdesk.planning.problem import Problem
from hotdesk.planning.skyline import SKYLINE_ORDERS, find_neighbours, skyline
from hotdesk.planning.stacking import Fitting, Measures, Stacking
from hotdesk.planning.swept import LOOK, skyline_swept

CLOSE = 1.01
"""How far above its bound an arena may be without another packing being tried."""

WORK = 120
"""Looks of one buffer at another that packing may take for each buffer."""

_SWEPT_LOOKS = 8
"""Looks at each buffer that packing without lists of neighbours may take."""

_CHOICES = 2
"""Ways to borrow beside which the arena is packed."""

Loans = Mapping[int, tuple[PoolId, int]]
"""The pool and the offset of what does not lie in the arena, by position."""


def plan_on_call(problem: Problem, stackings: Sequence[Stacking]) -> Plan:
    """A plan for a problem of the live ranges that the stackings have. See the module docstring.

    The buffers of the problem have one alignment; none is pinned or has gaps, and there are no ties.
    """
    bound, measures = lower_bound(problem), Measures.of(problem)
    no_reuse = sum(measures.footprints)
    best: tuple[Stacking, Fitting] | None = None
    arena = no_reuse
    known: list[Loans] = []
    for stacking in stackings:
        found = Fitting.of(stacking, measures)
        if problem.pools:
            known.append(found.loans(stacking, measures))
        if not found.outside and (best is None or found.arena < arena) and found.arena <= no_reuse:
            best, arena = (stacking, found), found.arena
            if arena <= bound.bytes:
                break
    if best is None:
        made = Plan(_apart(problem, measures), no_reuse, bound, "no-reuse", no_reuse)
    else:
        made = Plan(best[1].placements(problem, best[0]), arena, bound, "as-sampled", no_reuse)
    return made if arena <= CLOSE * bound.bytes else _packed(problem, measures, known or [{}], made)


def _apart(problem: Problem, measures: Measures) -> tuple[Placement, ...]:
    """No two buffers share a byte."""
    tops: list[int] = np.cumsum(measures.footprints, dtype=np.int64).tolist()
    return tuple(
        Placement(buffer.id, None, top - footprint if footprint else 0)
        for buffer, top, footprint in zip(problem.buffers, tops, measures.footprints, strict=True)
    )


def _packed(problem: Problem, measures: Measures, known: Sequence[Loans], best: Plan) -> Plan:
    """The plan, or one with a smaller arena: what is lent as in one of those known, or anew, and the rest packed."""
    load = _Loads(problem, measures)
    choices = sorted(({frozenset(loans.items()): loans for loans in known}).values(), key=load.peak)
    if problem.pools and load.peak(choices[0]) > CLOSE * best.bound.bytes:
        lent = lower_peaks(problem)
        choices.append({i: (problem.pools[loan.pool].id, loan.offset) for i, loan in lent.items()})
        choices.sort(key=load.peak)
    budget = WORK * len(problem.buffers)
    for loans in choices[:_CHOICES]:
        if load.peak(loans) >= best.arena:
            break
        instance = build_instance(problem, loans)
        for layout, work in _packings(instance, budget):
            budget -= work
            if layout.arena < best.arena:
                best = _as_plan(problem, loans, instance, layout, best)
            if best.arena <= instance.floor:
                break
    return best


class _Loads:
    """The largest load of the arena where some buffers are not in it."""

    def __init__(self, problem: Problem, measures: Measures) -> None:
        ends = [*(buffer.upper for buffer in problem.buffers), *(buffer.lower for buffer in problem.buffers)]
        self._order = np.argsort(np.array(ends, dtype=np.int64), kind="stable")  # what ends before what starts
        self._bytes: NDArray[np.int64] = np.array(measures.footprints, dtype=np.int64)

    def peak(self, lent: Collection[int]) -> int:
        left: NDArray[np.int64] = np.array(self._bytes)
        left[list(lent)] = 0
        return int(np.cumsum(np.concatenate((-left, left))[self._order]).max(initial=0))


def _packings(instance: Instance, budget: int) -> Iterator[tuple[Layout, int]]:
    """Layouts in as many orders as the budget allows, with the work that each took, or one without lists of neighbours."""
    around = None if instance.is_dense or 3 * instance.pairs > budget else find_neighbours(instance)
    for name, order in SKYLINE_ORDERS.items():
        if around is None:
            looks = LOOK * _SWEPT_LOOKS * len(instance)
            layout = (
                skyline_swept(instance, order(instance), name, work=looks) if instance.is_dense and budget > 0 else None
            )
            if layout is not None:
                yield layout, budget
            return
        work = 2 * instance.pairs
        if work > budget:
            return
        yield skyline(instance, around, order(instance), name), work
        budget -= work


def _as_plan(problem: Problem, loans: Loans, instance: Instance, layout: Layout, best: Plan) -> Plan:
    places: dict[int, tuple[PoolId | None, int]] = dict(loans)
    places.update((i, (None, offset)) for i, offset in zip(instance.origin, layout.offsets, strict=True))
    placements = tuple(Placement(b.id, *places.get(i, (None, 0))) for i, b in enumerate(problem.buffers))
    return Plan(placements, layout.arena, best.bound, layout.strategy, best.no_reuse)
