"""Orders made by rule, one task after another, forwards and backwards: quick, and the best of them is often good.

Three rules choose among the tasks that are ready: the least growth, the lowest peak, and, as a list scheduler does, first what
frees more than it makes, then the most recent. At most `WINDOW` of the latest ready tasks are compared, so a walk takes time
in proportion to the part.
"""

from __future__ import annotations

from collections.abc import Callable

from hotdesk.planning.scheduling_parts import Walk

WINDOW = 64

_Key = Callable[[int, int, int], tuple[int, ...]]
"""From the peak of a task, the bytes after it, both relative to now, and how long ago it became ready: lower goes first."""

RULES: dict[str, _Key] = {
    "least growth": lambda peak, growth, _: (growth, peak),
    "lowest peak": lambda peak, growth, _: (peak, growth),
    "depth first": lambda peak, growth, age: (0, peak, growth) if growth <= 0 else (1, age, growth),
}


def greedy(walk: Walk, rule: str) -> tuple[int, ...]:
    """The order that one of `RULES` makes."""
    key = RULES[rule]
    ready = [task for task, needs in enumerate(walk.needs) if not needs][::-1]
    done, live = 0, walk.start
    walked: list[int] = []
    while ready:
        found: list[tuple[tuple[int, ...], int, int]] = []
        for age, task in enumerate(reversed(ready[-WINDOW:])):
            peak, after = walk.step(done, task, live)
            found.append((key(peak - live, after - live, age), task, after))
        _, task, live = min(found)
        ready.remove(task)
        done |= 1 << task
        walked.append(task)
        ready.extend(walk.enabled(done, task))
    return walk.as_order(walked)
