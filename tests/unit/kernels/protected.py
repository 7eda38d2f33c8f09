"""Arrays that end, or begin, where a page begins that nobody may touch: what reads beyond them ends the process."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import numpy as np

_LIBRARY = ctypes.CDLL(None, use_errno=True)


class Protected:
    """A row of `count` elements of a type, with a forbidden page right behind it, or else right before it."""

    def __init__(self, count: int, dtype: Any, *, behind: bool) -> None:
        page = mmap.PAGESIZE
        size = count * np.dtype(dtype).itemsize
        inside = -(-max(size, 1) // page) * page
        self._map = mmap.mmap(-1, inside + 2 * page)
        memory = np.frombuffer(self._map, np.uint8)
        self._base = memory.ctypes.data
        for start in (self._base, self._base + page + inside):
            self._forbid(start, page, 0)
        start = page + (inside - size if behind else 0)
        self.array = memory[start : start + size].view(dtype)

    @staticmethod
    def _forbid(start: int, size: int, access: int) -> None:
        if _LIBRARY.mprotect(ctypes.c_void_p(start), ctypes.c_size_t(size), access):
            raise OSError(ctypes.get_errno(), "mprotect")
