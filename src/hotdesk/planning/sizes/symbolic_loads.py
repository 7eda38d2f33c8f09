"""Sums of footprints, compared for all values of the symbols in range.

Footprints are sizes rounded up to the alignment, so they are no polynomials. Sums are compared by what is known of them:
equal footprints cancel, the footprint of a size that is never less is never less, and a footprint exceeds its size by less
than the alignment.
"""

from __future__ import annotations

from collections.abc import Iterable

from hotdesk.planning.sizes.polynomials import Polynomial, Ranges, is_never_less, is_never_negative

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

    def is_never_less(self, a: int, b: int) -> bool:
        """Whether one size is at least another one, by their numbers."""
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
                if taken < 0 < given and self.is_never_less(j, i):
                    both = min(-taken, given)
                    rest[i], rest[j] = rest[i] + both, rest[j] - both
                    taken = rest[i]
