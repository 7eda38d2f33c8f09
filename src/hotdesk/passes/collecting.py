"""Python's garbage collector while a program is compiled: run rarely, and not at all while a pass makes records of a large one.

Python looks for objects that only refer to each other whenever enough new ones were made, now and then among all there are. The
records of a program form no cycles: reference counts free them, and until then each search goes through them for nothing. What
PyTorch's tracing makes does form cycles, but searching all objects, half a million once PyTorch's modules are imported, takes a
quarter of a second each time.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def collection_put_off() -> Generator[None]:
    """Looks for no garbage as long as the `with` lasts; afterwards as before. Several threads may do so at one time: the first
    one that is done ends it for all."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


_RARE = (20_000, 20, 20)
"""Objects, more made than freed, until the youngest are searched, and how many such searches until older ones are."""
_lock = threading.Lock()
_compiling = 0
_before = _meanwhile = gc.get_threshold()


@contextmanager
def collection_made_rare() -> Generator[None]:
    """Looks for garbage a good deal less often as long as the `with` lasts, of whatever thread; afterwards as before.

    Where somebody else has said meanwhile how often, that stays.
    """
    global _compiling, _before, _meanwhile
    with _lock:
        if not _compiling:
            _before = gc.get_threshold()
            if 0 < _before[0] < _RARE[0]:
                gc.set_threshold(*_RARE)
            _meanwhile = gc.get_threshold()
        _compiling += 1
    try:
        yield
    finally:
        with _lock:
            _compiling -= 1
            if not _compiling and gc.get_threshold() == _meanwhile:
                gc.set_threshold(*_before)
