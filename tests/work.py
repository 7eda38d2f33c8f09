"""How much work something is, in a measure that is the same on every machine."""

from __future__ import annotations

from collections.abc import Callable
from cProfile import Profile


def calls_made(run: Callable[[], object]) -> int:
    """How many functions, Python's own among them, `run` calls."""
    profile = Profile()
    profile.runcall(run)
    return sum(entry.callcount for entry in profile.getstats())
