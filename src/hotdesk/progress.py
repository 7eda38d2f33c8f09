"""How far long work is: told by whoever does it, heard by whoever shows it, such as a command line.

with heard(show):
    program = compile(model)   # show("stage: capture", 0.0), show("stage: normalize", 0.2), show("search: 7 copies tried", -1)
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

Listener: TypeAlias = Callable[[str, float], None]
"""Is told what is done, its kind in front of a colon, and which part of that is over; -1 where nobody knows."""

_listener: ContextVar[Listener | None] = ContextVar("_listener", default=None)


def tell(text: str, part: float = -1.0) -> None:
    """Tells what is done, if anybody hears it."""
    listener = _listener.get()
    if listener is not None:
        listener(text, part)


def is_heard() -> bool:
    return _listener.get() is not None


@contextmanager
def heard(listener: Listener) -> Generator[None]:
    """Lets `listener` hear what is told inside the `with`, in this thread."""
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)
