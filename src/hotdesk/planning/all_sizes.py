"""One plan for all sizes: whether a stacking takes, for all values of the symbols in range, no more than any plan must.

A stacking (`stacking.py`) is free of overlaps whatever the sizes are. What has to be proven is that it is good:

1. The offset of a buffer is the greatest of several sums of footprints, one for each pile below it. A sum that another one is
   never below is left out.
2. A buffer in a pool fits if each of these sums, and its size on top, is never more than the pool's capacity.
3. The arena is the greatest of such sums too. At each step, what is live there and cannot lie in a pool has to be in the arena
   (`bounds.py`). If each sum is, for all sizes, at most what some step needs, the arena is the least there can be.

Footprints are sizes rounded up to the alignment, so they are no polynomials. Sums are compared by what is known of them:
equal footprints cancel, the footprint of a size that is never less is never less, and a footprint exceeds its size by less
than the alignment.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hotdesk.planning.buffers import Buffer, PoolId
from hotdesk.planning.plan import Plan
from hotdesk.planning.polynomials import Polynomial, Ranges, is_never_less, is_never_negative
from hotdesk.planning.problem import Problem
from hotdesk.planning.stacking import Stacking, read_stacking

MOST_BUFFERS = 2_000
"""Beyond, nothing is proven."""

_MOST_PILES = 8
"""Sums for one offset; beyond, nothing is proven."""

Pile = tuple[int, ...]
"""How often each distinct size is in a sum."""


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
    proof = _Proof(problem, stacking, sizes, capacities, ranges, next(iter(alignments), 1))
    return stacking if proof.holds() else None


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
    lent = frozenset(i for i, space in enumerate(stacking.spaces) if space is not None)
    if not lent:
        return lent
    alignment = max((buffer.alignment for buffer in problem.buffers), default=1)
    return _Proof(problem, stacking, sizes, capacities, ranges, alignment).sure() & lent


class _Proof:
    def __init__(
        self,
        problem: Problem,
        stacking: Stacking,
        sizes: Sequence[Polynomial],
        capacities: Mapping[PoolId, Polynomial],
        ranges: Ranges,
        alignment: int,
    ) -> None:
        self._problem, self._stacking, self._ranges, self._alignment = problem, stacking, ranges, alignment
        self._distinct = tuple(dict.fromkeys((*sizes, *capacities.values())))
        numbers = {size: number for number, size in enumerate(self._distinct)}
        self._number = [numbers[size] for size in sizes]
        self._capacity = {pool: numbers[size] for pool, size in capacities.items()}
        self._exact = [size.is_multiple_of(alignment) for size in self._distinct]
        self._known: dict[Pile, bool] = {}
        self._less: dict[tuple[int, int], bool] = {}

    def holds(self) -> bool:
        """Whether the arena of the stacking is proven to be the least."""
        piles = self._piles()
        if piles is None or not all(self._fits(found, i) for i, found in enumerate(piles)):
            return False
        tops = self._greatest(
            self._added(pile, i) for i, space in enumerate(self._stacking.spaces) if space is None for pile in piles[i]
        )
        needs = self._greatest(self._needs())
        return all(any(self._covers(need, top) for need in needs) for top in tops)

    def sure(self) -> frozenset[int]:
        """The buffers that are proven to fit where they are."""
        piles = self._piles()
        if piles is None:
            return frozenset()
        return frozenset(i for i, found in enumerate(piles) if self._fits(found, i))

    def _piles(self) -> list[tuple[Pile, ...]] | None:
        """The sums below each buffer; None where they are too many."""
        nothing = (0,) * len(self._distinct)
        piles: list[tuple[Pile, ...]] = [(nothing,)] * len(self._problem.buffers)
        for i in self._stacking.order:
            below = self._stacking.below[i]
            if below:
                piles[i] = self._greatest(self._added(pile, j) for j in below for pile in piles[j])
            if len(piles[i]) > _MOST_PILES:
                return None
        return piles

    def _added(self, pile: Pile, buffer: int) -> Pile:
        number = self._number[buffer]
        return (*pile[:number], pile[number] + 1, *pile[number + 1 :])

    def _fits(self, piles: Sequence[Pile], buffer: int) -> bool:
        """Whether a buffer on top of piles ends inside its pool. It is the size that counts there, not the footprint."""
        pool, size = self._stacking.spaces[buffer], self._distinct[self._number[buffer]]
        if pool is None:
            return True
        capacity = self._distinct[self._capacity[pool]]
        return all(is_never_less(capacity, self._most(pile) + size, self._ranges) for pile in piles)

    def _most(self, pile: Pile) -> Polynomial:
        """A polynomial that the sum of the footprints of a pile is never above."""
        terms = [self._distinct[i].times(n) for i, n in enumerate(pile) if n]
        padding = sum(n * (self._alignment - 1) for i, n in enumerate(pile) if not self._exact[i])
        return sum(terms, Polynomial.number(padding))

    def _greatest(self, piles: Iterable[Pile]) -> tuple[Pile, ...]:
        """The piles without those that another one is never below."""
        kept: list[Pile] = []
        for pile in dict.fromkeys(piles):
            if any(self._covers(other, pile) for other in kept):
                continue
            kept = [other for other in kept if not self._covers(pile, other)]
            kept.append(pile)
        return tuple(kept)

    def _needs(self) -> list[Pile]:
        """For each step what the arena has to hold at least: what is live, without the most that pools could hold of it."""
        found: list[Pile] = []
        pools = self._problem.pools
        windows = [tuple(k for k in range(len(pools)) if self._may_host(k, b, i)) for i, b in self._counted()]
        for step in sorted({buffer.lower for buffer in self._problem.buffers}):
            live = [i for i, b in self._counted() if b.lower <= step < b.upper]
            found.append(self._sum(i for i in live if not windows[i]))
            lending = {k for i in live for k in windows[i]}
            if lending:
                found.append(self._without(self._sum(live), [self._capacity[pools[k].id] for k in sorted(lending)]))
        return found

    def _counted(self) -> Iterable[tuple[int, Buffer]]:
        return enumerate(self._problem.buffers)

    def _may_host(self, pool: int, buffer: Buffer, position: int) -> bool:
        """Whether for some sizes a pool may hold a buffer."""
        given = self._problem.pools[pool]
        if not any(start <= buffer.lower and buffer.upper <= end for start, end in given.free):
            return False
        size, capacity = self._distinct[self._number[position]], self._distinct[self._capacity[given.id]]
        return not is_never_less(size - Polynomial.number(1), capacity, self._ranges)

    def _sum(self, buffers: Iterable[int]) -> Pile:
        counts = [0] * len(self._distinct)
        for i in buffers:
            counts[self._number[i]] += 1
        return tuple(counts)

    @staticmethod
    def _without(pile: Pile, numbers: Sequence[int]) -> Pile:
        counts = list(pile)
        for number in numbers:
            counts[number] -= 1
        return tuple(counts)

    def _covers(self, more: Pile, less: Pile) -> bool:
        """Whether one sum of footprints is at least another one for all sizes."""
        rest = tuple(a - b for a, b in zip(more, less, strict=True))
        if rest not in self._known:
            self._known[rest] = self._is_covered(list(rest))
        return self._known[rest]

    def _is_covered(self, rest: list[int]) -> bool:
        """Whether a sum of footprints, some of them taken away, is never below 0."""
        sizes = sum((self._distinct[i].times(n) for i, n in enumerate(rest) if n), Polynomial.number(0))
        padding = sum(-n * (self._alignment - 1) for i, n in enumerate(rest) if n < 0 and not self._exact[i])
        if is_never_negative(sizes - Polynomial.number(padding), self._ranges):
            return True
        self._cancel(rest)
        return all(n >= 0 for n in rest)

    def _cancel(self, rest: list[int]) -> None:
        """Takes footprints that are taken away against others that are never less."""
        for i, taken in enumerate(rest):
            for j, given in enumerate(rest):
                if taken < 0 < given and self._is_never_less(j, i):
                    both = min(-taken, given)
                    rest[i], rest[j] = rest[i] + both, rest[j] - both
                    taken = rest[i]

    def _is_never_less(self, a: int, b: int) -> bool:
        if (a, b) not in self._less:
            self._less[a, b] = is_never_less(self._distinct[a], self._distinct[b], self._ranges)
        return self._less[a, b]
