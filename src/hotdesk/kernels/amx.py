"""AMX, whose tiles multiply bf16: the features that it wants, and Linux's leave to use it."""

from __future__ import annotations

import ctypes
import platform
import sys
from functools import cache

TILE_FLAGS = frozenset(("amx_tile", "amx_bf16"))
"""The features that tiles of bf16 want, by their names in /proc/cpuinfo."""

_ARCH_PRCTL, _ASK_FOR_STATE, _TILES = 158, 0x1023, 18  # Linux's numbers on x86-64


@cache
def may_use_tiles() -> bool:
    """Whether Linux lets threads of this process use tiles: it is asked, once, before the first does."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return False
    return ctypes.CDLL(None).syscall(_ARCH_PRCTL, _ASK_FOR_STATE, _TILES) == 0
