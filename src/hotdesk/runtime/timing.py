"""Times of calls of several contenders that take turns, so that what else happens on the machine meets all of them alike."""

from __future__ import annotations

import gc
import random
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_BURST = 0.02
"""Seconds of a turn, about."""
_LONGEST_BURST = 50
_PAUSE = 0.01
"""Seconds before a turn: threads of the one before stop to spin."""
_FEWEST_ROUNDS, _MOST_ROUNDS = 5, 200


@dataclass(frozen=True, slots=True)
class CallTime:
    """Seconds of a call: the median and the least of `calls`."""

    median: float
    best: float
    calls: int


def in_turns(
    runs: Mapping[str, Callable[[], object]], seconds: float, progress: Callable[[float], None] = lambda done: None
) -> dict[str, CallTime]:
    """The time of a call of each, in about so many seconds, but at least five turns each.

    A turn is a burst of calls; where that has more than one, the first, which finds the caches full of others' data, is not
    counted. `progress` is told which part of the seconds has passed. What a call raises, this raises. After each round garbage
    is looked for among what is new: looking through all that a large process has would take longer than the calls.
    """
    quickest = {name: _timed(run) for name, run in runs.items()}
    found: dict[str, list[float]] = {name: [] for name in runs}
    dice, started = random.Random(0), time.monotonic()
    for turn in range(_MOST_ROUNDS):
        passed = time.monotonic() - started
        if turn >= _FEWEST_ROUNDS and passed > seconds:
            break
        progress(min(1.0, max(passed / seconds if seconds else 1.0, 0.0)))
        for name in dice.sample(list(runs), len(runs)):
            time.sleep(_PAUSE)
            calls = min(_LONGEST_BURST, 1 + int(_BURST / max(quickest[name], 1e-9)))
            taken = [_timed(runs[name]) for _ in range(calls)]
            found[name] += taken[1:] or taken
            quickest[name] = min(quickest[name], *taken)
        gc.collect(1)
    return {name: CallTime(statistics.median(each), min(each), len(each)) for name, each in found.items()}


def _timed(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started
