"""One plan for all sizes: whether a stacking takes, for all values of the symbols in range, no more than any plan must.

A stacking (`stacking.py`) is free of overlaps whatever the sizes are. What has to be proven is that it is good:

1. The offset of a buffer is the greatest of several sums of footprints, one for each load below it. A sum that another one is
   never below is left out.
2. A buffer in a pool fits if each of these sums, and its size on top, is never more than the pool's capacity.
3. The arena is the greatest of such sums too. At each step, what is live there and cannot lie in a pool has to be in the arena
   (`problem/bounds.py`). If each sum is, for all sizes, at most what some step needs, the arena is the least there can be.

The same comparison tells of two programs whether the plan of one never takes more than any plan of the other (`is_never_above`):
the sums are those of one stacking, the steps those of the other program.

Footprints are sizes rounded up to the alignment, so they are no polynomials. Sums are compared by what is known of them: equal
footprints cancel, the footprint of a size that is never less is never less, and a footprint exceeds its size by less than the
alignment.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from hotdesk.planning.problem.buffers import Buffer, PoolId
from hotdesk.planning.problem.plan import Plan
from hotdesk.planning.problem.problem import Problem
from hotdesk.planning.sizes.stacking import Stacking, read_stacking
from hotdesk.sizes.polynomials import Polynomial, Ranges, is_never_less, is_never_negative

Load = tuple[int, ...]
"""How often each distinct size is in a sum."""


class Loads:
    """Sums of footprints of `sizes`, which are known by their numbers. All buffers have one alignment."""

    def __init__(self, sizes: Iterable[Polynomial], ranges: Ranges, alignment: int) -> None:
        self.distinct = tuple(dict.fromkeys(sizes))
        self.number = {size: number for number, size in enumerate(self.distinct)}
        self.ranges = ranges
        self._alignment = alignment
        self._exact = [size.is_multiple_of(alignment) for size in self.distinct]
        self._known: dict[Load, bool] = {}
        self._less: dict[tuple[int, int], bool] = {}

    @property
    def nothing(self) -> Load:
        return (0,) * len(self.distinct)

    def of(self, sizes: Iterable[int], without: Iterable[int] = ()) -> Load:
        """The sum of sizes by number, less those of others."""
        counts = [0] * len(self.distinct)
        for number in sizes:
            counts[number] += 1
        for number in without:
            counts[number] -= 1
        return tuple(counts)

    @staticmethod
    def added(load: Load, number: int) -> Load:
        """A load with one more footprint."""
        return (*load[:number], load[number] + 1, *load[number + 1 :])

    def most(self, load: Load) -> Polynomial:
        """A polynomial that the sum of the footprints of a load is never above."""
        terms = [self.distinct[i].times(n) for i, n in enumerate(load) if n]
        padding = sum(n * (self._alignment - 1) for i, n in enumerate(load) if not self._exact[i])
        return sum(terms, Polynomial.number(padding))

    def greatest(self, loads: Iterable[Load]) -> tuple[Load, ...]:
        """The loads without those that another one is never below."""
        kept: list[Load] = []
        for load in dict.fromkeys(loads):
            if any(self.covers(other, load) for other in kept):
                continue
            kept = [other for other in kept if not self.covers(load, other)]
            kept.append(load)
        return tuple(kept)

    def covers(self, more: Load, less: Load) -> bool:
        """Whether one sum of footprints is at least another one for all sizes, as far as this can be proven."""
        rest = tuple(a - b for a, b in zip(more, less, strict=True))
        if rest not in self._known:
            self._known[rest] = self._is_covered(list(rest))
        return self._known[rest]

    def _size_covers(self, a: int, b: int) -> bool:
        """What the prover of `sizes` says of two sizes, by their numbers: whether the first is never less; each is asked once."""
        if (a, b) not in self._less:
            self._less[a, b] = is_never_less(self.distinct[a], self.distinct[b], self.ranges)
        return self._less[a, b]

    def _is_covered(self, rest: list[int]) -> bool:
        """Whether a sum of footprints, some of them taken away, is never below 0."""
        sizes = sum((self.distinct[i].times(n) for i, n in enumerate(rest) if n), Polynomial.number(0))
        padding = sum(-n * (self._alignment - 1) for i, n in enumerate(rest) if n < 0 and not self._exact[i])
        if is_never_negative(sizes - Polynomial.number(padding), self.ranges):
            return True
        self._cancel(rest)
        return all(n >= 0 for n in rest)

    def _cancel(self, rest: list[int]) -> None:
        """Takes footprints that are taken away against others that are never less."""
        for i, taken in enumerate(rest):
            for j, given in enumerate(rest):
                if taken < 0 < given and self._size_covers(j, i):
                    both = min(-taken, given)
                    rest[i], rest[j] = rest[i] + both, rest[j] - both
                    taken = rest[i]


MOST_BUFFERS = 2_000
"""Beyond, nothing is proven."""

_MOST_LOADS = 8
"""Sums for one offset; beyond, nothing is proven."""

_MOST_LENDING = 3
"""Pools of which each choice is considered at a step; beyond, all of them or none."""


@dataclass(frozen=True, slots=True)
class SymbolicProblem:
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
    sized = SymbolicProblem(problem, sizes, capacities)
    return stacking if is_never_above(sized, stacking, sized, ranges) else None


def is_never_above(sized: SymbolicProblem, stacking: Stacking, other: SymbolicProblem, ranges: Ranges) -> bool:
    """Whether the arena of a stacking is proven to be at most that of any plan of `other`, for all sizes in range.

    What the stacking has in pools is proven to fit there. Buffers are as for `good_for_all`, all of one alignment.
    """
    alignment = max((b.alignment for each in (sized, other) for b in each.problem.buffers), default=1)
    both = (size for each in (sized, other) for size in (*each.sizes, *each.capacities.values()))
    loads = Loads(both, ranges, alignment)
    stacked = _SymbolicStacking(sized, stacking, loads)
    tops = stacked.tops()
    if tops is None:
        return False
    needs = loads.greatest(_needs(other, loads))
    return all(any(loads.covers(need, top) for need in needs) for top in tops)


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
    sized = SymbolicProblem(problem, sizes, capacities)
    return _SymbolicStacking(sized, stacking, Loads((*sizes, *capacities.values()), ranges, alignment)).sure() & lent


class _SymbolicStacking:
    """What lies below each buffer of a stacking, as sums of footprints."""

    def __init__(self, sized: SymbolicProblem, stacking: Stacking, loads: Loads) -> None:
        self._stacking, self._all = stacking, loads
        self._number = [loads.number[size] for size in sized.sizes]
        self._capacities = sized.capacities

    def tops(self) -> tuple[Load, ...] | None:
        """The sums of which the arena is the greatest; None where they are too many, or something may not fit in its pool."""
        loads = self._loads()
        if loads is None or not all(self._fits(found, i) for i, found in enumerate(loads)):
            return None
        spaces = self._stacking.spaces
        return self._all.greatest(
            self._added(load, i) for i, space in enumerate(spaces) if space is None for load in loads[i]
        )

    def sure(self) -> frozenset[int]:
        """The buffers that are proven to fit where they are."""
        loads = self._loads()
        if loads is None:
            return frozenset()
        return frozenset(i for i, found in enumerate(loads) if self._fits(found, i))

    def _loads(self) -> list[tuple[Load, ...]] | None:
        """The sums below each buffer; None where they are too many."""
        loads: list[tuple[Load, ...]] = [(self._all.nothing,)] * len(self._number)
        for i in self._stacking.order:
            below = self._stacking.below[i]
            if below:
                loads[i] = self._all.greatest(self._added(load, j) for j in below for load in loads[j])
            if len(loads[i]) > _MOST_LOADS:
                return None
        return loads

    def _added(self, load: Load, buffer: int) -> Load:
        return self._all.added(load, self._number[buffer])

    def _fits(self, loads: Sequence[Load], buffer: int) -> bool:
        """Whether a buffer on top of loads ends inside its pool. It is the size that counts there, not the footprint."""
        pool, size = self._stacking.spaces[buffer], self._all.distinct[self._number[buffer]]
        if pool is None:
            return True
        capacity = self._capacities[pool]
        return all(is_never_less(capacity, self._all.most(load) + size, self._all.ranges) for load in loads)


def _needs(sized: SymbolicProblem, loads: Loads) -> Iterator[Load]:
    """For each step what the arena has to hold at least: what is live there, without the most that pools could hold of it.

    Of a pool, either what it might host is left out, or its capacity is taken off.
    """
    pools, buffers = sized.problem.pools, sized.problem.buffers
    number = [loads.number[size] for size in sized.sizes]
    capacity = [loads.number[sized.capacities[pool.id]] for pool in pools]
    hosts = [
        frozenset(
            k
            for k, pool in enumerate(pools)
            if any(start <= buffer.lower and buffer.upper <= end for start, end in pool.free)
            and _may_fit(loads, number[i], capacity[k])
        )
        for i, buffer in enumerate(buffers)
    ]
    for live in _live_sets(buffers):
        lending = sorted({k for i in live for k in hosts[i]})
        choices = range(len(lending) + 1) if len(lending) <= _MOST_LENDING else (0, len(lending))
        for left_out in (frozenset(each) for count in choices for each in combinations(lending, count)):
            counted = [i for i in live if not hosts[i] & left_out]
            taken_off = {k for i in counted for k in hosts[i]}
            yield loads.of((number[i] for i in counted), (capacity[k] for k in sorted(taken_off)))


def _may_fit(loads: Loads, size: int, capacity: int) -> bool:
    """Whether for some sizes a pool may hold a buffer."""
    return not is_never_less(loads.distinct[size] - Polynomial.number(1), loads.distinct[capacity], loads.ranges)


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
