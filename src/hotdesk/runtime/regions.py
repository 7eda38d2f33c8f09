"""The second region of a frame: addresses for what is known only when a program runs; see `kernels.region`."""

from __future__ import annotations

import ctypes
import mmap
import os

from hotdesk.errors import OutOfMemoryError
from hotdesk.kernels.region import REGION

_LEAST = 64 << 20


class DynamicRegion:
    """As many addresses as the machine has memory. Pages are the system's until they are first written, and are kept then."""

    def __init__(self) -> None:
        self._memory = _reserved()
        self._words = (ctypes.c_int64 * len(REGION))()
        start = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        begin = -(-start // 64) * 64
        self._words[REGION.index("address")] = begin
        self._words[REGION.index("limit")] = len(self._memory) - (begin - start)

    @property
    def words(self) -> int:
        """The address of the words that describe it."""
        return ctypes.addressof(self._words)

    @property
    def highest(self) -> int:
        """The most bytes that a call has taken."""
        return int(self._words[REGION.index("highest")])

    def clear(self) -> None:
        """Gives back all that a call has taken."""
        self._words[REGION.index("top")] = 0


def _reserved() -> mmap.mmap:
    size = _physical_memory()
    flags = getattr(mmap, "MAP_PRIVATE", 0) | getattr(mmap, "MAP_ANONYMOUS", 0) | getattr(mmap, "MAP_NORESERVE", 0)
    while True:
        try:
            return mmap.mmap(-1, size, flags=flags) if flags else mmap.mmap(-1, size)
        except (OSError, ValueError) as error:
            if size <= _LEAST:
                raise OutOfMemoryError(
                    "the region for what is known only when the program runs",
                    expected=f"{size:,} bytes of addresses",
                    got="none from the system",
                ) from error
            size //= 2


def _physical_memory() -> int:
    try:
        return max(_LEAST, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return _LEAST * 16
