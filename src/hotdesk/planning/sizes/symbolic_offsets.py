"""Offsets as sums and maxima of sizes, in an arena for buffers of which some sizes are known only when the program runs.

Buffers of fixed size have their offsets already. The others are *stacked* in a given order: each one begins at the greatest
top of those before it whose live ranges meet its own, and an offset is a sum of sizes or the greatest of several such sums.

1. Two buffers that are live together never overlap, whatever the sizes are.
2. The arena is never larger than all buffers side by side: a top is that of the fixed buffers, or a sum of sizes of different
   buffers on it. Only where a stricter alignment than theirs comes on fixed buffers, less than that many bytes are lost, once.
3. Where the order is that of the offsets in a plan, and sizes are as the plan assumed, it is never larger than the plan's.

Only neighbours are compared: of those that are live together at a time, each lies on the one before it, and so above all. A
start or an end of a live range makes at most two new pairs of neighbours, so their number is linear in that of the buffers.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

_LONGEST = 6
"""Sizes in a sum; a longer one gets a name."""
_COMPARED = 24
"""Sums of which each is compared with each other one, to leave out those that are never the greatest."""


@dataclass(frozen=True, slots=True)
class Extent:
    """Bytes: a number, and some quantities by their numbers, in order; one that counts twice is there twice."""

    constant: int = 0
    parts: tuple[int, ...] = ()

    def plus(self, other: Extent) -> Extent:
        return Extent(self.constant + other.constant, tuple(sorted((*self.parts, *other.parts))))


@dataclass(frozen=True, slots=True)
class Stackable:
    """A buffer with a live range, half open.

    Attributes:
        size: a multiple of the alignment.
        alignment: a power of two.
        offset: where it lies if that is settled; all sizes of such buffers are numbers.
    """

    lower: int
    upper: int
    size: Extent
    alignment: int
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class Stacked:
    """Where buffers lie.

    Attributes:
        offsets: one for each buffer.
        total: the bytes of the arena.
        greatest: the quantities behind the given ones: each the greatest of these sums, of which none uses a later quantity.
    """

    offsets: tuple[Extent, ...]
    total: Extent
    greatest: tuple[tuple[Extent, ...], ...]


def stack(buffers: Sequence[Stackable], quantities: int, is_at_least: Callable[[int, int], bool]) -> Stacked:
    """Stacks buffers in their order, those whose offset is settled first, and strictest alignments before others.

    Args:
        buffers: what to stack.
        quantities: how many quantities the sizes are made of, numbered from 0.
        is_at_least: whether one of those is proven to be at least another one.
    """
    ranks = sorted(range(len(buffers)), key=lambda i: _rank(buffers[i], i))
    below, on_top = _neighbours([buffers[i] for i in ranks])
    sums = _Sums(quantities, is_at_least)
    offsets: dict[int, Extent] = {}
    tops: list[Extent] = []
    for rank, i in enumerate(ranks):
        buffer = buffers[i]
        if buffer.offset is not None:
            offsets[i] = Extent(buffer.offset)
        else:
            offsets[i] = sums.greatest(_aligned(tops[lower], buffer.alignment) for lower in sorted(below[rank]))
        tops.append(sums.short(offsets[i].plus(buffer.size)))
    total = sums.greatest(tops[rank] for rank in sorted(on_top))
    return Stacked(tuple(offsets[i] for i in range(len(buffers))), total, tuple(sums.made))


def _rank(buffer: Stackable, place: int) -> tuple[bool, int, int]:
    """By top where that is settled, so that one without bytes is never on one that has some."""
    if buffer.offset is None:
        return True, -buffer.alignment, place
    return False, buffer.offset + buffer.size.constant, place


def _aligned(top: Extent, alignment: int) -> Extent:
    """Only numbers need it: what is stacked has at least the alignment of what comes on it."""
    return Extent(-(-top.constant // alignment) * alignment, top.parts)


def _neighbours(buffers: Sequence[Stackable]) -> tuple[list[set[int]], set[int]]:
    """For each buffer those that lie right below it at some time, and the ones that have nothing on them at some time."""
    events = [(buffer.upper, 0, i) for i, buffer in enumerate(buffers)]
    events += [(buffer.lower, 1, i) for i, buffer in enumerate(buffers)]
    below: list[set[int]] = [set() for _ in buffers]
    on_top: set[int] = set()
    live: list[int] = []
    for _, starts, i in sorted(events):
        at = bisect_left(live, i)
        if starts:
            if at < len(live):
                below[live[at]].add(i)
            insort(live, i)
        else:
            del live[at]
        if at and at < len(live):
            below[live[at]].add(live[at - 1])
        if live:
            on_top.add(live[-1])
    return below, on_top


class _Sums:
    """Sums of quantities, and the quantities that are made of them."""

    def __init__(self, quantities: int, is_at_least: Callable[[int, int], bool]) -> None:
        self._given = quantities
        self._is_at_least = is_at_least
        self._known: dict[tuple[Extent, ...], int] = {}
        self.made: list[tuple[Extent, ...]] = []

    def greatest(self, sums: Iterable[Extent]) -> Extent:
        """The greatest of some sums, 0 if there are none."""
        found = list(dict.fromkeys(sums))
        number = max((each.constant for each in found if not each.parts), default=0)
        found = [Extent(number), *(each for each in found if each.parts)]
        if len(found) <= _COMPARED:
            found = [each for i, each in enumerate(found) if not self._is_exceeded(each, i, found)]
        return found[0] if len(found) == 1 else self._named(tuple(found))

    def short(self, total: Extent) -> Extent:
        """A sum as it is, or as a quantity of its own if it is long."""
        return total if len(total.parts) <= _LONGEST else self._named((total,))

    def _named(self, of: tuple[Extent, ...]) -> Extent:
        if of not in self._known:
            self._known[of] = self._given + len(self.made)
            self.made.append(of)
        return Extent(0, (self._known[of],))

    def _is_exceeded(self, each: Extent, place: int, found: Sequence[Extent]) -> bool:
        """Whether another sum is at least this one; of two equal ones, the first stays."""
        return any(
            i != place and self._is_covered(each, other) and not (place < i and self._is_covered(other, each))
            for i, other in enumerate(found)
        )

    def _is_covered(self, a: Extent, b: Extent) -> bool:
        """Whether `b` is proven to be at least `a`: each of its parts has one there that is as large."""
        if a.constant > b.constant:
            return False
        rest, spare = Counter(a.parts), Counter(b.parts)
        rest, spare = rest - spare, spare - rest
        for part in rest.elements():
            larger = next((other for other in spare if spare[other] and self._is_larger(other, part)), None)
            if larger is None:
                return False
            spare[larger] -= 1
        return True

    def _is_larger(self, a: int, b: int) -> bool:
        if a >= self._given:
            return Extent(0, (b,)) in self.made[a - self._given]
        return b < self._given and self._is_at_least(a, b)
