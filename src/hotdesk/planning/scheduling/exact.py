"""Exact scheduling of a part: the order with the smallest peak, by a search over the sets of tasks done.

A set of done tasks decides the bytes that are live (*zero-indegree-set signatures* of Ahn et al., "Ordering Chaos: Memory-Aware
Scheduling of Irregularly Wired Neural Networks for Edge Devices", MLSys 2020), so one visit of each set is enough. The search has
a threshold: it takes every task whose peak stays within it and puts the others aside; when none is left, the threshold rises to
the lowest that was put aside. All lower ones have then been exhausted, so the threshold is a lower bound at any time, and the
first order found is optimal.

Dominance: a run of tasks, each needing the one before, that ends with no more bytes than it began with, and never has fewer on
the way, is taken at once and nothing else is tried: whatever an order does, it may do after such a run as well, for live bytes
are a submodular function of the set. On trees these runs are the hill-valley segments of Liu, "An application of generalized
tree pebbling to sparse matrix factorization" (SIAM J. Algebraic Discrete Methods 8, 1987).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

from hotdesk.planning.scheduling.state_space import Walk

_SearchState = tuple[int, int, int]
"""The tasks done, those ready, and the bytes live."""
_Move = tuple[int, _SearchState, tuple[int, ...]]
"""The peak on the way, the state behind it, and the tasks."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search ends with: an order of the part or None, bytes that no order goes below, and how many states it looked at.

    `bound` is `limit` if no order has a peak below that.
    """

    order: tuple[int, ...] | None
    bound: int
    nodes: int


def search(walk: Walk, threshold: int, limit: int, budget: int, *, rising: bool = True) -> Found:
    """Looks for an order with a peak below `limit` bytes, first for one of at most `threshold`.

    With `rising`, the threshold rises until an order is found, which then is optimal unless it is below the first threshold;
    otherwise the search ends when the threshold is exhausted. It gives up when it has looked at `budget` states.
    """
    searching = _ExactSearch(walk, threshold, limit, budget)
    try:
        return searching.run(rising)
    except _SpentError:
        return searching.given_up()


class _SpentError(Exception):
    """The states that may be looked at have been."""


class _ExactSearch:
    def __init__(self, walk: Walk, threshold: int, limit: int, budget: int) -> None:
        self._walk = walk
        self._budget = budget
        self._nodes = 0
        self._threshold = threshold
        self._limit = limit
        self._full = (1 << walk.count) - 1
        self._came: dict[int, tuple[int, tuple[int, ...]]] = {}
        self._stack: list[_SearchState] = []
        self._aside: list[tuple[int, int, int, _SearchState, tuple[int, ...]]] = []

    def run(self, rising: bool) -> Found:
        walk = self._walk
        if self._threshold >= self._limit:
            return Found(None, self._limit, 0)
        self._stack.append((0, walk.first_ready(), walk.start))
        while True:
            while self._stack:
                state = self._stack.pop()
                if state[0] == self._full:
                    return Found(self._order(), self._threshold, self._nodes)
                self._expand(state)
            if not self._aside:
                return Found(None, self._limit, self._nodes)
            if not rising:
                return Found(None, self._aside[0][0], self._nodes)
            self._rise()

    def given_up(self) -> Found:
        return Found(None, self._threshold, self._nodes)

    def _expand(self, state: _SearchState) -> None:
        done, ready, _ = state
        moves: list[_Move] = []
        while ready:
            task = (ready & -ready).bit_length() - 1
            ready &= ready - 1
            move = self._move(state, task)
            if move[0] <= self._threshold:
                run = self._run(state, move)
                if run is not None:
                    self._push(done, run)
                    return
            moves.append(move)
        moves.sort(key=lambda move: (-move[1][2], -move[0]))
        for move in moves:
            if move[0] <= self._threshold:
                self._push(done, move)
            elif move[0] < self._limit and move[1][0] not in self._came:
                heapq.heappush(self._aside, (move[0], move[1][2], done, move[1], move[2]))

    def _push(self, done: int, move: _Move) -> None:
        state = move[1]
        if state[0] not in self._came:
            self._came[state[0]] = (done, move[2])
            self._stack.append(state)

    def _move(self, state: _SearchState, task: int) -> _Move:
        if self._nodes == self._budget:
            raise _SpentError
        self._nodes += 1
        done, ready, live = state
        peak, after = self._walk.step(done, task, live)
        done |= 1 << task
        ready &= ~(1 << task)
        for other in self._walk.enabled(done, task):
            ready |= 1 << other
        return peak, (done, ready, after), (task,)

    def _run(self, state: _SearchState, move: _Move) -> _Move | None:
        """The run of tasks that begins with a move and ends with no more bytes than there were; None if there is none."""
        while move[1][2] > state[2]:
            task = move[2][-1]
            following = [self._move(move[1], other) for other in self._walk.enabled(move[1][0], task)]
            if not following:
                return None
            best = min(following, key=lambda each: (each[1][2], each[0]))
            if best[0] > self._threshold:
                return None
            move = (max(move[0], best[0]), best[1], move[2] + best[2])
        return move

    def _rise(self) -> None:
        """Raises the threshold to the lowest peak put aside, and takes up what it allows."""
        self._threshold = self._aside[0][0]
        while self._aside and self._aside[0][0] <= self._threshold:
            peak, _, done, state, tasks = heapq.heappop(self._aside)
            self._push(done, (peak, state, tasks))

    def _order(self) -> tuple[int, ...]:
        walked: list[int] = []
        done = self._full
        while done:
            done, tasks = self._came[done]
            walked.extend(reversed(tasks))
        return self._walk.as_order(walked[::-1])
