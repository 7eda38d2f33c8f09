"""Lines of Python files that Python keeps for tracebacks: what tracing a model makes it read is megabytes."""

from __future__ import annotations

import linecache
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def sources_forgotten() -> Generator[None]:
    """Forgets the files that were read inside the `with`; Python reads them again when it wants to show a line.

    What was known before stays, and so does code that comes from no file, as in notebooks: nobody could read that again.
    """
    before = frozenset(linecache.cache)
    try:
        yield
    finally:
        for name in set(linecache.cache) - before:
            entry = linecache.cache.get(name, ())
            if (
                len(entry) == 4 and entry[1] is not None
            ):  # (size, time of change, lines, path); code of no file has no time
                linecache.cache.pop(name, None)
