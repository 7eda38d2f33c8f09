"""Breadth-first branch and bound over canonical placements, and as a beam where that is too much.

States of `frontier.py` are kept in buckets by the area below their levels, wasted or not, and expanded from the emptiest bucket
on. A bucket keeps the `width` states with the least waste; waste weighs more at steps with little room for it. Of states with the
same buffers placed only the best is kept. It runs on NumPy arrays whatever is installed.

An answer is a placement, or the proof that there is none where no state was ever left out, or neither.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hotdesk.planning.deadline import NO_DEADLINE, Deadline
from hotdesk.planning.frontier import Frontier
from hotdesk.planning.instance import Instance

LARGEST = 4_000
"""Buffers up to which a beam is worth its tables, which grow with their square."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Offsets by buffer, or None; `exhausted` says that then there are none; `nodes` counts the children looked at.

    A solver that does not count them says how many its effort is worth.
    """

    offsets: tuple[int, ...] | None
    exhausted: bool
    nodes: int


def beam(
    instance: Instance,
    capacity: int,
    width: int,
    *,
    buckets: int = 400,
    budget: int | None = None,
    deadline: Deadline = NO_DEADLINE,
) -> Answer:
    """Look for offsets below `capacity` bytes. Gives up after `budget` nodes, or at the deadline.

    O(width * (buffers + steps)) array work for each bucket and level passed over.
    """
    if not len(instance):
        return Answer((), exhausted=False, nodes=0)
    search = _Search(Frontier(instance, capacity), width, buckets)
    search.expand(search.frontier.root())
    while (states := search.next_states()) is not None:
        if (offsets := search.frontier.solution(states)) is not None:
            return Answer(tuple(offsets), exhausted=False, nodes=search.nodes)
        if (budget is not None and search.nodes > budget) or deadline.passed():
            return Answer(None, exhausted=False, nodes=search.nodes)
        search.expand(states)
    return Answer(None, search.complete, search.nodes)


class _Search:
    """The buckets; `complete` holds as long as no state was left out."""

    def __init__(self, frontier: Any, width: int, buckets: int) -> None:
        self.frontier = frontier
        self.complete = True
        self.nodes = 0
        self._width = width
        self._buckets: list[list[Any]] = [[] for _ in range(buckets + 1)]
        self._at = 0

    def expand(self, states: Any) -> None:
        if not len(states):
            return
        some: list[Any] = self.frontier.children(states)
        for children in filter(len, some):
            self.nodes += len(children)
            bucket = np.maximum(self._at, children.filled * (len(self._buckets) - 1) // max(self.frontier.volume, 1))
            order = np.argsort(bucket, kind="stable")
            numbers, starts = np.unique(bucket[order], return_index=True)
            ends = [*map(int, starts[1:]), len(order)]
            for number, start, end in zip(map(int, numbers), map(int, starts), ends, strict=True):
                self._buckets[number].append(children.take(order[start:end]))

    def next_states(self) -> Any:
        """The best states of the emptiest bucket that has any, or None."""
        while self._at < len(self._buckets):
            waiting = [children for children in self._buckets[self._at] if len(children)]
            self._buckets[self._at] = []
            if waiting:
                return self.frontier.make(self._best(waiting))
            self._at += 1
        return None

    def _best(self, waiting: list[Any]) -> list[Any]:
        wasted = np.concatenate([children.wasted for children in waiting])
        if len(wasted) <= self._width // 2:
            return waiting  # twins among them cost less than a proof that was possible
        key = np.concatenate([children.key for children in waiting])
        order = np.argsort(wasted, kind="stable")
        _, first = np.unique(key[order], return_index=True)
        chosen = np.sort(order[np.sort(first)[: self._width]])
        self.complete &= len(chosen) == len(wasted)
        return _select(waiting, chosen)


def _select(parts: list[Any], chosen: NDArray[np.intp]) -> list[Any]:
    """The rows of all parts, counted through, that are in the sorted `chosen`."""
    selected: list[Any] = []
    start = 0
    for children in parts:
        first, last = chosen.searchsorted((start, start + len(children)))
        if first < last:
            selected.append(children.take(chosen[first:last] - start))
        start += len(children)
    return selected
