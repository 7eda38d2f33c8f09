"""One plan for all sizes: whether a stacking takes, for all values of the symbols in range, no more than any plan must.

A stacking (`stacking.py`) is free of overlaps whatever the sizes are. What has to be proven is that it is good:

1. The offset of a buffer is the greatest of several sums of footprints, one for each pile below it. A sum that another one is
   never below is left out.
2. A buffer in a pool fits if each of these sums, and its size on top, is never more than the pool's capacity.
3. The arena is the greatest of such sums too. At each step, what is live there and cannot lie in a pool has to be in the arena
   (`bounds.py`). If each sum is, for all sizes, at most what some step needs, the arena is the least there can be.

The same comparison tells of two programs whether the plan of one never takes more than any plan of the other (`is_never_above`):
the sums are those of one stacking, the steps those of the other program. How sums are compared is in `piles.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from hotdesk.planning.buffers import Buffer, PoolId
from hotdesk.planning.piles import Pile, Piles
from hotdesk.planning.plan import Plan
from hotdesk.planning.polynomials import Polynomial, Ranges, is_never_less
from hotdesk.planning.problem import Problem
from hotdesk.planning.stacking import Stacking, read_stacking

MOST_BUFFERS = 2_000
"""Beyond, nothing is proven."""

_MOST_PILES = 8
"""Sums for one offset; beyond, nothing is proven."""

_MOST_LENDING = 3
"""Pools of which each choice is considered at a step; beyond, all of them or none."""


@dataclass(frozen=True, slots=True)
class Sized:
    """A problem, of which only live ranges and pools count, with the sizes of its buffers and the capacities of its pools."""

    problem: Problem
    sizes: Sequence[Polynomial]
    capacities: Mapping[PoolId, Polynomial]


def good_for_all(
    problem: Problem, plan: Plan, sizes: Sequence[Polynomial], capacities: Mapping[PoolId, Polynomial], ranges: Ranges
) -> Stacking | None:
    """The stacking of a plan, if its arena is proven to be the least there can be for all sizes in range; else None.

    Args:
        problem: for some values of the symbols; all buffers of one alignment, none of them pinned or with gaps, no ties.
        plan: its plan.
        sizes: of the buffers, in bytes.
        capacities: of the pools, in bytes.
        ranges: of the symbols.
    """
    alignments = {buffer.alignment for buffer in problem.buffers}
    special = not problem.is_plain or any(buffer.fixed_offset is not None for buffer in problem.buffers)
    if len(alignments) > 1 or special or len(problem.buffers) > MOST_BUFFERS or not plan.proven_optimal:
        return None
    stacking = read_stacking(problem.buffers, plan)
    sized = Sized(problem, sizes, capacities)
    return stacking if is_never_above(sized, stacking, sized, ranges) else None


def is_never_above(sized: Sized, stacking: Stacking, other: Sized, ranges: Ranges) -> bool:
    """Whether the arena of a stacking is proven to be at most that of any plan of `other`, for all sizes in range.

    What the stacking has in pools is proven to fit there. Buffers are as for `good_for_all`, all of one alignment.
    """
    alignment = max((b.alignment for each in (sized, other) for b in each.problem.buffers), default=1)
    both = (size for each in (sized, other) for size in (*each.sizes, *each.capacities.values()))
    piles = Piles(both, ranges, alignment)
    stacked = _Stacked(sized, stacking, piles)
    tops = stacked.tops()
    if tops is None:
        return False
    needs = piles.greatest(_needs(other, piles))
    return all(any(piles.covers(need, top) for need in needs) for top in tops)


def sure_loans(
    problem: Problem,
    stacking: Stacking,
    sizes: Sequence[Polynomial],
    capacities: Mapping[PoolId, Polynomial],
    ranges: Ranges,
) -> frozenset[int]:
    """The buffers, by position, of which it is proven that they fit in the pool a stacking has them in, for all sizes in range.

    Arguments as for `good_for_all`. They fit as well where others do not borrow.
    """
    lent = stacking.lent
    if not lent:
        return lent
    alignment = max((buffer.alignment for buffer in problem.buffers), default=1)
    sized = Sized(problem, sizes, capacities)
    return _Stacked(sized, stacking, Piles((*sizes, *capacities.values()), ranges, alignment)).sure() & lent


class _Stacked:
    """What lies below each buffer of a stacking, as sums of footprints."""

    def __init__(self, sized: Sized, stacking: Stacking, piles: Piles) -> None:
        self._stacking, self._all = stacking, piles
        self._number = [piles.number[size] for size in sized.sizes]
        self._capacities = sized.capacities

    def tops(self) -> tuple[Pile, ...] | None:
        """The sums of which the arena is the greatest; None where they are too many, or something may not fit in its pool."""
        piles = self._piles()
        if piles is None or not all(self._fits(found, i) for i, found in enumerate(piles)):
            return None
        spaces = self._stacking.spaces
        return self._all.greatest(
            self._added(pile, i) for i, space in enumerate(spaces) if space is None for pile in piles[i]
        )

    def sure(self) -> frozenset[int]:
        """The buffers that are proven to fit where they are."""
        piles = self._piles()
        if piles is None:
            return frozenset()
        return frozenset(i for i, found in enumerate(piles) if self._fits(found, i))

    def _piles(self) -> list[tuple[Pile, ...]] | None:
        """The sums below each buffer; None where they are too many."""
        piles: list[tuple[Pile, ...]] = [(self._all.nothing,)] * len(self._number)
        for i in self._stacking.order:
            below = self._stacking.below[i]
            if below:
                piles[i] = self._all.greatest(self._added(pile, j) for j in below for pile in piles[j])
            if len(piles[i]) > _MOST_PILES:
                return None
        return piles

    def _added(self, pile: Pile, buffer: int) -> Pile:
        return self._all.added(pile, self._number[buffer])

    def _fits(self, piles: Sequence[Pile], buffer: int) -> bool:
        """Whether a buffer on top of piles ends inside its pool. It is the size that counts there, not the footprint."""
        pool, size = self._stacking.spaces[buffer], self._all.distinct[self._number[buffer]]
        if pool is None:
            return True
        capacity = self._capacities[pool]
        return all(is_never_less(capacity, self._all.most(pile) + size, self._all.ranges) for pile in piles)


def _needs(sized: Sized, piles: Piles) -> Iterator[Pile]:
    """For each step what the arena has to hold at least: what is live there, without the most that pools could hold of it.

    Of a pool, either what it might host is left out, or its capacity is taken off.
    """
    pools, buffers = sized.problem.pools, sized.problem.buffers
    number = [piles.number[size] for size in sized.sizes]
    capacity = [piles.number[sized.capacities[pool.id]] for pool in pools]
    hosts = [
        frozenset(
            k
            for k, pool in enumerate(pools)
            if any(start <= buffer.lower and buffer.upper <= end for start, end in pool.free)
            and _may_fit(piles, number[i], capacity[k])
        )
        for i, buffer in enumerate(buffers)
    ]
    for live in _live_sets(buffers):
        lending = sorted({k for i in live for k in hosts[i]})
        choices = range(len(lending) + 1) if len(lending) <= _MOST_LENDING else (0, len(lending))
        for left_out in (frozenset(each) for count in choices for each in combinations(lending, count)):
            counted = [i for i in live if not hosts[i] & left_out]
            taken_off = {k for i in counted for k in hosts[i]}
            yield piles.of((number[i] for i in counted), (capacity[k] for k in sorted(taken_off)))


def _may_fit(piles: Piles, size: int, capacity: int) -> bool:
    """Whether for some sizes a pool may hold a buffer."""
    return not is_never_less(piles.distinct[size] - Polynomial.number(1), piles.distinct[capacity], piles.ranges)


def _live_sets(buffers: Sequence[Buffer]) -> Iterator[tuple[int, ...]]:
    """The buffers that are live together, by position, at each step at which one begins."""
    events = sorted([(b.lower, 1, i) for i, b in enumerate(buffers)] + [(b.upper, 0, i) for i, b in enumerate(buffers)])
    live: dict[int, None] = {}
    for place, (step, begins, i) in enumerate(events):
        if not begins:
            del live[i]
            continue
        live[i] = None
        if place + 1 == len(events) or events[place + 1][:2] != (step, 1):
            yield tuple(live)
