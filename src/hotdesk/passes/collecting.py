"""Python's search for garbage, put off while a pass makes records of a large program.

Python looks for objects that only refer to each other whenever enough new ones were made, now and then among all there are. The
records of a program form no cycles: reference counts free them, and until then each search goes through them for nothing.
"""

from __future__ import annotations

import gc
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
