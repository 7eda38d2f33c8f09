"""What the process holds beside programs: pages of the heap that nobody uses."""

from __future__ import annotations

import sys
from contextlib import suppress

from hotdesk.runtime.code.objects import c_library


def give_back_free_memory() -> None:
    """Gives unused pages of the C heap back to the system, where its library can: compiling leaves megabytes of them."""
    if sys.platform == "linux":
        with suppress(AttributeError):  # glibc's; other libraries keep less
            c_library()["malloc_trim"](0)
