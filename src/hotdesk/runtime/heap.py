"""What the process holds beside programs: pages of the heap that nobody uses."""

from __future__ import annotations

import ctypes
import sys


def give_back_free_memory() -> None:
    """Gives unused pages of the C heap back to the system, where its library can: compiling leaves megabytes of them."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc's; other libraries keep less
        if trim is not None:
            trim(0)
