"""Beam search for an order of a part too large for the exact search: the best few sets of each number of tasks done go on.

Of sets with the same tasks done, that with the lowest peak on the way goes on; then sets are ranked by that peak, as far as it is
above the target, and by the bytes live. A task that frees no less than it makes, within the peak so far, is taken at once.
"""

from __future__ import annotations

from dataclasses import dataclass

from hotdesk.planning.scheduling_parts import Walk
from hotdesk.planning.scheduling_search import Found


@dataclass(frozen=True, slots=True)
class _State:
    """Tasks done and ready as bit sets, bytes live, the peak on the way, the last task and the state before it."""

    done: int
    ready: int
    live: int
    peak: int
    task: int = -1
    before: _State | None = None


def beam(walk: Walk, target: int, limit: int, width: int, budget: int) -> Found:
    """Looks for an order with a peak below `limit` bytes; peaks up to `target` are as good as each other. Nothing is proven.

    It gives up when it has looked at `budget` states.
    """
    level = [_State(0, walk.first_ready(), walk.start, walk.start)]
    nodes = 0
    for _ in range(walk.count):
        following: dict[int, _State] = {}
        for state in level:
            nodes += state.ready.bit_count()
            if nodes > budget:
                return Found(None, 0, budget)
            for new in _successors(walk, state, target):
                known = following.get(new.done)
                if new.peak < limit and (known is None or new.peak < known.peak):
                    following[new.done] = new
        level = sorted(following.values(), key=lambda s: (max(s.peak, target), s.live, s.done))[:width]
        if not level:
            return Found(None, 0, nodes)
    walked: list[int] = []
    state = level[0]
    while state.before is not None:
        walked.append(state.task)
        state = state.before
    return Found(walk.as_order(walked[::-1]), 0, nodes)


def _successors(walk: Walk, state: _State, target: int) -> list[_State]:
    found: list[_State] = []
    ready, allowed = state.ready, max(state.peak, target)
    while ready:
        task = (ready & -ready).bit_length() - 1
        ready &= ready - 1
        peak, live = walk.step(state.done, task, state.live)
        new = _State(state.done | 1 << task, 0, live, max(state.peak, peak), task, state)
        if live <= state.live and peak <= allowed:
            return [_with_ready(walk, new)]
        found.append(new)
    return [_with_ready(walk, new) for new in found]


def _with_ready(walk: Walk, state: _State) -> _State:
    before = state.before
    assert before is not None
    ready = before.ready & ~(1 << state.task)
    for other in walk.enabled(state.done, state.task):
        ready |= 1 << other
    return _State(state.done, ready, state.live, state.peak, state.task, before)
