"""The shelf of `greedy.py` for many buffers in a row, in code that `numba` compiles: the same gaps, some times sooner."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

Ints = Any
"""An array of integers: numba looks at what it is given, not at annotations."""


@njit(cache=True, nogil=True)
def place_some(order: Ints, buffers: Any, shelf: Any, count: int, offsets: Ints, ceiling: int) -> tuple[int, int]:
    """Puts the buffers in `order` on the shelf, which holds `count` ranges in order of offset; writes their offsets.

    Returns how many ranges it holds then, and the highest top among the new ones; that is above `ceiling` where it stopped at
    a top that is.
    """
    lower, upper, size, alignment = buffers
    bottoms, tops, starts, ends = shelf
    highest = 0
    for i in order:
        reached = best = np.int64(0)
        smallest = np.int64(-1)
        for k in range(count):
            if starts[k] < upper[i] and ends[k] > lower[i]:
                gap = bottoms[k] - reached
                if gap >= size[i] and (smallest < 0 or gap < smallest):
                    smallest, best = gap, reached
                if tops[k] > reached:
                    reached = (tops[k] + alignment[i] - 1) & -alignment[i]
        if smallest < 0:
            best = reached
        highest = max(highest, best + size[i])
        if highest > ceiling:
            return count, highest
        at = np.searchsorted(bottoms[:count], best)
        for k in range(count, at, -1):
            bottoms[k], tops[k], starts[k], ends[k] = bottoms[k - 1], tops[k - 1], starts[k - 1], ends[k - 1]
        bottoms[at], tops[at], starts[at], ends[at] = best, best + size[i], lower[i], upper[i]
        count += 1
        offsets[i] = best
    return count, highest
