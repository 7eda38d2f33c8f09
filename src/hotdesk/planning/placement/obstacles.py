"""The bytes that pinned buffers occupy, as the searches look them up: for each movable buffer, and for each step.

Both are tables of intervals `[bottom, top)`, in order and apart, a row for each that any column has. Columns with fewer end
with empty ones at `far`. Without pinned buffers there are no rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hotdesk.planning.placement.instance import Instance

Integers = NDArray[Any]
"""32 or 64 bits wide, as the capacity asks for."""

_Intervals = list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class ObstacleTables:
    """Intervals in units of some bytes. `bottoms` and `tops` have a column for each buffer, the others one for each step.

    To a buffer all is taken that it has no room in, up to the next place it is aligned at. `total` is what is taken at a step,
    `highest` the top of all.
    """

    bottoms: Integers
    tops: Integers
    step_bottoms: Integers
    step_tops: Integers
    total: NDArray[np.int64]
    highest: int

    @classmethod
    def of(
        cls, instance: Instance, order: Sequence[int], steps: NDArray[np.int64], unit: int, far: Any
    ) -> ObstacleTables:
        """For the buffers in `order` and these compressed `steps`; integers are of the kind of `far`."""
        found = instance.obstacles
        by_buffer = [_out_of_reach(instance, i, unit) for i in order] if found else []
        by_step = [_merged(_standing(instance, step, step + 1, unit), 1) for step in steps.tolist()] if found else []
        bottoms, tops = _table(by_buffer, len(order), far)
        step_bottoms, step_tops = _table(by_step, len(steps), far)
        total = (step_tops - step_bottoms).sum(0, dtype=np.int64)
        highest = max((o.top // unit for o in found), default=0)
        return cls(bottoms, tops, step_bottoms, step_tops, total, highest)


def _out_of_reach(instance: Instance, i: int, unit: int) -> _Intervals:
    """What is taken while buffer `i` is live, with gaps that are too small for it."""
    taken = _standing(instance, instance.lower[i], instance.upper[i], unit)
    return _merged(taken, instance.size[i] // unit, max(instance.alignment[i] // unit, 1))


def _standing(instance: Instance, lower: int, upper: int, unit: int) -> _Intervals:
    """What obstacles take at the steps `[lower, upper)`, lowest first."""
    return sorted((o.bottom // unit, o.top // unit) for o in instance.obstacles if o.lower < upper and lower < o.upper)


def _merged(taken: Iterable[tuple[int, int]], least: int, alignment: int = 1) -> _Intervals:
    """Intervals with tops rounded up, those as one that less than `least` is between."""
    found: _Intervals = []
    for bottom, top in taken:
        start, end = found.pop() if found and bottom - found[-1][1] < least else (bottom, 0)
        found.append((start, max(end, top + -top % alignment)))
    return found


def _table(columns: Sequence[_Intervals], count: int, far: Any) -> tuple[Integers, Integers]:
    """Bottoms and tops, a column for each of `count` lists of intervals."""
    table = np.full((2, max(map(len, columns), default=0), count), far, dtype=np.int64)
    for k, column in enumerate(columns):
        for row, interval in enumerate(column):
            table[:, row, k] = interval
    bottoms, tops = np.minimum(table, far).astype(np.asarray(far).dtype)
    return bottoms, tops
