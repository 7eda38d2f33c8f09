"""Memory between guard bytes, filled with poison: what tests run programs in."""

from __future__ import annotations

import numpy as np

from hotdesk.planning.problem.numbers import ALIGNMENT

POISONS = (0xFF, 0x5B)
"""Bytes that undefined memory is filled with: NaN and −1, then large numbers that are not NaN."""

_GUARD = 192  # bytes on either side; a multiple of every alignment
_GUARD_BYTE = 0xA7


class Memory:
    """Bytes between guards."""

    def __init__(self, size: int, alignment: int, fill: int) -> None:
        self._storage = np.full(size + 2 * _GUARD + 2 * ALIGNMENT, _GUARD_BYTE, np.uint8)
        start = -(-(self._storage.ctypes.data + _GUARD) // ALIGNMENT) * ALIGNMENT - self._storage.ctypes.data
        start += alignment % ALIGNMENT
        self.bytes = self._storage[start : start + size]
        self.bytes[:] = fill
        self.address = self._storage.ctypes.data + start
        self._inside = slice(start, start + size)

    def check(self, what: str) -> None:
        """Fails if a guard was written."""
        outside = np.delete(self._storage, np.r_[self._inside])
        assert (outside == _GUARD_BYTE).all(), f"{what}: written outside"
