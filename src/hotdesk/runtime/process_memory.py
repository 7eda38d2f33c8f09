"""Memory that compiling leaves in the process: unused pages of the heap, and Python source that is kept for tracebacks.

There are megabytes of both. Source is that of the files that tracing a model reads, and the code that PyTorch writes for its
graphs: that of one with a thousand operations twenty times, and it keeps every text.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any

from hotdesk.runtime.code.objects import c_library


def give_back_free_memory() -> None:
    """Gives unused pages of the C heap back to the system, where its library can: compiling leaves megabytes of them."""
    if sys.platform == "linux":
        with suppress(AttributeError):  # glibc's; other libraries keep less
            c_library()["malloc_trim"](0)


@contextmanager
def sources_forgotten() -> Generator[None]:
    """Forgets what was read or written inside the `with`; Python reads files again when it wants to show a line.

    What was known before stays, and so does other code that comes from no file, as in notebooks: nobody could read that again.
    """
    read, written = frozenset(linecache.cache), frozenset(_written())
    try:
        yield
    finally:
        texts = _written()
        for name in set(texts) - written:
            texts.pop(name, None)
            linecache.cache.pop(name, None)
        for name in set(linecache.cache) - read:
            entry = linecache.cache.get(name, ())
            if (
                len(entry) == 4 and entry[1] is not None
            ):  # (size, time of change, lines, path); code of no file has no time
                linecache.cache.pop(name, None)


def _written() -> dict[str, str]:
    """The code that PyTorch has written for graphs, by the names that stand for files in tracebacks."""
    loader: Any = getattr(sys.modules.get("torch.fx.graph_module"), "_loader", None)
    return getattr(loader, "eval_cache", {})
