"""Minima over the live ranges that cover each step, for many states at once."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[Any]
"""16, 32 or 64 bits wide, as the capacity asks for."""


class RangeMinima:
    """Minima over all buffers that cover a step.

    A range is the union of two runs of a power of two, so two entries for each buffer suffice; runs of a width are then
    split into those of half the width, down to single steps. O(buffers + steps * log(steps)) a row.
    """

    def __init__(self, lower: NDArray[np.intp], upper: NDArray[np.intp], far: int) -> None:
        self._steps = int(upper.max(initial=0))
        self._far = far
        power = np.log2(np.maximum(upper - lower, 1)).astype(np.intp)
        self._powers = int(power.max(initial=0)) + 1
        slot = np.concatenate([power * self._steps + lower, power * self._steps + upper - (1 << power)])
        order = np.argsort(slot, kind="stable")
        self._buffer = order % len(lower)
        self._slots, self._first = np.unique(slot[order], return_index=True)

    def minima(self, values: Integers) -> Integers:
        """From a column for each buffer to a column for each step; `far` where no buffer is."""
        by_buffer: Integers = np.ascontiguousarray(cast("Any", values).T)
        entries = by_buffer.take(self._buffer, axis=0)
        shape = (self._powers, self._steps, len(values))
        flat: Integers = np.full((shape[0] * shape[1], shape[2]), self._far, dtype=values.dtype)
        flat[self._slots] = np.minimum.reduceat(entries, self._first, axis=0)
        runs: Integers = cast("Any", flat).reshape(shape)
        for power in range(self._powers - 1, 0, -1):
            half = 1 << (power - 1)
            np.minimum(runs[power - 1], runs[power], out=runs[power - 1])
            np.minimum(runs[power - 1, half:], runs[power, :-half], out=runs[power - 1, half:])
        return runs[0].swapaxes(0, 1)
