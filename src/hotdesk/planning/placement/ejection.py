"""Improvement by ejection: what reaches too high is placed lower, and what was there is placed anew.

A ceiling is drawn some way below the arena of a layout. Buffers with a top above it wait to be placed again, one after the
other, below it: in the smallest gap, or else where what is in the way is worth least, which is ejected and waits too. What one is
worth grows each time that it found no gap, so that the same few do not take turns for ever. Where nobody waits any more the arena
is lower. The rest of the layout stays as it is: a placement takes time in proportion to what one buffer is live with, however
many there are. It is the guided ejection of Nagata and Bräysy, "A powerful route minimization heuristic for the vehicle routing
problem with time windows" (2009), with gaps in memory for places in routes.

How far a ceiling is below the arena doubles where it was met and halves where it was not; where next to nothing is left, it
starts afresh with twice the placements. The same seed and work give the same layout on every machine: work counts placements.
"""

from __future__ import annotations

from random import Random

import numpy as np
from numpy.typing import NDArray

from hotdesk.planning.placement.deadline import NO_DEADLINE, Deadline
from hotdesk.planning.placement.instance import ArenaLayout, Instance, common_unit, profile
from hotdesk.planning.placement.skyline import reach

EJECTION = "ejection"

_FIRST_DROP = 8
"""What part of the gap a ceiling first takes away: an eighth."""

_LEAST_DROP = 128
"""What part is too small to ask for before all is tried with more placements."""

_PATIENCE = 500
_FOR_EACH = 2
"""Placements for the first ceilings, and for each buffer that waits at first; twice as many of the former in the next round."""

_MOST_OFFERED = 500
"""Buffers below or above which a place is looked for where there is no gap."""

_MOST_LISTED = 4_000_000
"""Entries in lists of what is live at the first step of each stretch of time."""

_WORTH = 1_000
"""What a buffer is worth at the mean: others by bytes times steps or the square root of that in turn, as each gets stuck."""

_NOISE = 256
"""Steps in which the worth of a buffer grows by up to a quarter, by chance, anew for each ceiling: no two walks are alike."""

_OUT = -1
"""Where a buffer ends that is not placed: it is live with none."""

_Column = NDArray[np.int64]


def eject(
    instance: Instance, known: ArenaLayout, work: int, seed: int = 0, deadline: Deadline = NO_DEADLINE
) -> ArenaLayout:
    """The smallest layout found from `known` on within about `work` placements; the first that meets the floor, or the best at
    the deadline.
    """
    if not len(instance):
        return known
    yard = _Yard(instance, seed)
    best, patience, part, unit = known, _PATIENCE, _FIRST_DROP, common_unit(instance)
    while best.arena > instance.floor and work > 0 and not deadline.passed():
        drop = max((best.arena - instance.floor) // part, unit)
        ceiling = max(best.arena - drop, instance.floor)
        offsets, placed = yard.lowered(best.offsets, ceiling, min(patience, work), deadline)
        work -= max(placed, 1)
        if offsets is not None:
            best, part = ArenaLayout(offsets, reach(instance, offsets), EJECTION), max(part // 2, 1)
        elif part < _LEAST_DROP and drop > unit:
            part *= 2
        else:
            part, patience = _FIRST_DROP, patience * 2
    return best


class _Yard:
    """Buffers, then obstacles, in order of their first steps; where they lie, and who waits, as of the present ceiling."""

    __slots__ = (
        "_alignment",
        "_bottom",
        "_ceiling",
        "_firsts",
        "_lower",
        "_members",
        "_misses",
        "_movable",
        "_obstacles",
        "_order",
        "_random",
        "_size",
        "_until",
        "_upper",
        "_waiting",
        "_width",
        "_worth",
        "_worths",
    )

    def __init__(self, instance: Instance, seed: int) -> None:
        fixed = instance.obstacles
        lower = np.array([*instance.lower, *(o.lower for o in fixed)], dtype=np.int64)
        self._order = np.argsort(lower, kind="stable")
        self._lower = lower[self._order]
        self._upper = np.array([*instance.upper, *(o.upper for o in fixed)], dtype=np.int64)[self._order]
        self._size = np.array([*instance.size, *(o.top - o.bottom for o in fixed)], dtype=np.int64)[self._order]
        self._alignment = [*instance.alignment, *(1 for _ in fixed)]
        area = self._size.astype(np.float64) * (self._upper - self._lower)
        self._worths = [np.maximum(each / each.mean() * _WORTH, 1).astype(np.int64) for each in (np.sqrt(area), area)]
        self._worth = np.ones_like(lower)
        self._movable = self._order < len(instance)
        self._obstacles = [o.bottom for o in fixed]
        self._width, self._firsts, self._members = _starts_of(self._lower, self._upper)
        self._random = Random(seed)
        self._bottom, self._until, self._misses = (np.zeros_like(lower) for _ in range(3))
        self._ceiling = 0
        self._waiting: list[int] = []

    def lowered(
        self, offsets: tuple[int, ...], ceiling: int, patience: int, deadline: Deadline
    ) -> tuple[tuple[int, ...] | None, int]:
        """Offsets with no top above `ceiling`, or None where that takes more placements than asked; and the placements made."""
        self._bottom = np.array([*offsets, *self._obstacles], dtype=np.int64)[self._order]
        self._until, self._misses = np.array(self._upper), np.ones_like(self._upper)
        noise = np.frombuffer(self._random.randbytes(2 * len(self._upper)), dtype="<u2").astype(np.int64)
        self._worth = self._worths[0] * (4 * _NOISE + noise % _NOISE) // (4 * _NOISE)
        self._ceiling, self._waiting = ceiling, []
        self._remove(np.flatnonzero((self._bottom + self._size > ceiling) & self._movable))
        placed, most = 0, patience + _FOR_EACH * len(self._waiting)
        while self._waiting and placed < most and not deadline.passed():
            placed += 1
            if not self._place(self._waiting.pop()):
                return None, placed
        if self._waiting:
            self._worths.reverse()
            return None, placed
        back = np.empty_like(self._bottom)
        back[self._order] = self._bottom
        return tuple(back[: len(offsets)].tolist()), placed

    def _remove(self, some: NDArray[np.intp]) -> None:
        """Lets buffers wait, the largest to be placed first."""
        self._until[some] = _OUT
        self._waiting += some[np.argsort(self._size[some], kind="stable")].tolist()

    def _place(self, i: int) -> bool:
        """Places a buffer below the ceiling; False where what cannot be moved leaves no room."""
        met = self._met(i)
        bottom = self._bottom[met]
        by_bottom = np.argsort(bottom, kind="stable")
        met, bottom = met[by_bottom], bottom[by_bottom]
        top = bottom + self._size[met]
        offset = self._gap(i, bottom, top)
        if offset is None:
            offset = self._cheapest(i, met, bottom, top)
            if offset is None:
                return False
            self._misses[i] += 1
            self._remove(np.sort(met[(bottom < offset + self._size[i]) & (top > offset)]))
        self._bottom[i] = offset
        self._until[i] = self._upper[i]
        return True

    def _met(self, i: int) -> NDArray[np.intp]:
        """The buffers that are placed and live with one."""
        lower, upper = self._lower[i], self._upper[i]
        stretch = int(lower) // self._width
        earlier = self._members[self._firsts[stretch] : self._firsts[stretch + 1]]
        earlier = earlier[self._until[earlier] > lower]
        since, end = np.searchsorted(self._lower, (stretch * self._width + 1, upper))
        later = np.flatnonzero(self._until[since:end] > lower) + since
        return np.concatenate((earlier, later))

    def _gap(self, i: int, bottom: _Column, top: _Column) -> int | None:
        """The offset in the smallest gap with room for a buffer among ranges in order of offset."""
        alignment = self._alignment[int(self._order[i])]
        starts = np.zeros(len(top) + 1, dtype=np.int64)
        np.maximum.accumulate(top, out=starts[1:])
        starts = -(-starts // alignment) * alignment
        room = np.append(bottom, self._ceiling) - starts
        fits = np.flatnonzero(room >= self._size[i])
        return int(starts[fits[room[fits].argmin()]]) if fits.size else None

    def _cheapest(self, i: int, met: NDArray[np.intp], bottom: _Column, top: _Column) -> int | None:
        """Where what is in the way of a buffer is worth least, of places below and above others; any of those that are equal."""
        size, alignment = int(self._size[i]), self._alignment[int(self._order[i])]
        every = 1 + len(met) // _MOST_OFFERED
        offered = slice(self._random.randrange(every), None, every)
        ends = np.array([0, (self._ceiling - size) // alignment * alignment], dtype=np.int64)
        below, above = (bottom[offered] - size) // alignment * alignment, -(-top[offered] // alignment) * alignment
        places = np.concatenate((ends, below, above))
        places = places[(places >= 0) & (places <= self._ceiling - size)]
        by_top = np.argsort(top)
        started, ended = bottom.searchsorted(places + size), top[by_top].searchsorted(places, side="right")
        fixed = ~self._movable[met]
        if fixed.any():
            clear = _before(fixed)[started] == _before(fixed[by_top])[ended]
            places, started, ended = places[clear], started[clear], ended[clear]
        if not places.size:
            return None
        worth = self._worth[met] * self._misses[met]
        price = _before(worth)[started] - _before(worth[by_top])[ended]
        least = np.flatnonzero(price == price.min())
        return int(places[least[self._random.randrange(least.size)]])


def _before(values: NDArray[np.int64] | NDArray[np.bool_]) -> _Column:
    """The sum of what is before each position, and of all."""
    sums = np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum(values, out=sums[1:])
    return sums


def _starts_of(lower: _Column, upper: _Column) -> tuple[int, _Column, NDArray[np.intp]]:
    """What is live at the first step of each stretch of `width` steps: the width, where each list starts, and the lists."""
    steps = int(upper.max(initial=1))
    live = int(profile(lower, upper, np.ones(len(lower), dtype=np.int64), steps).max(initial=1))
    width = -(-steps // max(_MOST_LISTED // live, 1))
    lists = [np.flatnonzero((lower <= step) & (upper > step)) for step in range(0, steps, width)]
    firsts = np.zeros(len(lists) + 1, dtype=np.int64)
    firsts[1:] = np.cumsum([len(each) for each in lists])
    return width, firsts, np.concatenate(lists)
