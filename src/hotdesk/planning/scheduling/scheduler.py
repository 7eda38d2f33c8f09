"""The scheduler: an order of tasks whose peak is as small as can be found, never larger than that of the given order.

1. Tasks that run side by side in some best order are joined, and the graph is cut where one task stands before or after all
   others (`reduction`).
2. The part with the highest peak goes first; a part that stays below the peak of a solved one is left as it came. Parts that are
   the same problem, as layers of a network are, are solved once.
3. In a part: greedy orders and a beam, then the exact search within a budget of states (`exact`), forwards and backwards. If the
   budget ends first, what the searches have exhausted is the lower bound; searches at thresholds between the bound and the best
   order, by bisection, look for better ones (the soft budget of Ahn et al., MLSys 2020).

A part of more than `LARGEST_PART` tasks is taken in windows of that many tasks: of the given order, or of one that a rule makes
of the whole problem, if that has a lower peak (`heuristics`). Deterministic: budgets are counted in states.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from hotdesk.planning.scheduling.exact import Found, search
from hotdesk.planning.scheduling.heuristics import RULES, beam, greedy, ordered_as_a_whole
from hotdesk.planning.scheduling.problem import Schedule, ScheduleProblem
from hotdesk.planning.scheduling.reduction import find_parts, least_peak, local_bound, reduce_problem
from hotdesk.planning.scheduling.state_space import Relations, Segment, peak_along, relate

DEFAULT_STATES = 200_000
LARGEST_PART = 2048
_BEAM = 8
_BISECTIONS = 10
_GIVEN = "given"


@dataclass(frozen=True, slots=True)
class _Solved:
    """An order of a part, its peak and a bound in bytes, what found it, and how many states were looked at."""

    order: tuple[int, ...]
    peak: int
    bound: int
    strategy: str
    nodes: int = 0


def schedule(problem: ScheduleProblem, budget: int = DEFAULT_STATES) -> Schedule:
    """Orders the tasks of a problem; `budget` is how many states the exact search may look at in all parts together.

    Raises ValueError for a budget below 0.
    """
    if budget < 0:
        raise ValueError(f"expected a budget of 0 states or more, got {budget}")
    started = time.perf_counter()
    as_given = tuple(range(len(problem.tasks)))
    given = peak_along(problem, as_given)
    reduced, groups = reduce_problem(problem)
    relations = relate(reduced)
    ruled = None
    if any(end - first > LARGEST_PART for first, end in find_parts(relations)):
        ruled = ordered_as_a_whole(reduced, relations)
    if ruled is not None:
        reduced, groups = ruled[0], tuple(groups[number] for number in ruled[1])
        relations = relate(reduced)
    parts, are_whole = _parts(reduced, relations)
    bound = max([local_bound(reduced), *(least_peak(p) for p, whole in zip(parts, are_whole, strict=True) if whole)])
    solved, bound = _solve(parts, are_whole, bound, budget)
    order: list[int] = []
    members = iter(groups)
    for part in solved:
        own = [next(members) for _ in part.order]
        order.extend(task for place in part.order for task in own[place])
    peak = peak_along(problem, order)
    changed = [part for part in solved if part.strategy != _GIVEN]
    unchanged = _GIVEN if ruled is None else ruled[2]
    strategy = max(changed, key=lambda part: part.peak).strategy if changed else unchanged
    if peak >= given:
        order, peak, strategy = list(as_given), given, _GIVEN
    nodes = sum(part.nodes for part in solved)
    return Schedule(tuple(order), peak, given, min(bound, peak), strategy, nodes, time.perf_counter() - started)


def _parts(problem: ScheduleProblem, relations: Relations) -> tuple[list[Segment], list[bool]]:
    """The parts of a problem in order, and which of them lie between cuts; the others are windows."""
    made = {v for task in problem.tasks for v in task.results}
    there = (v for v in range(len(problem.sizes)) if v not in made and (relations.readers[v] or v in problem.kept))
    live = sum(problem.sizes[v] for v in there)
    parts: list[Segment] = []
    are_whole: list[bool] = []
    for first, end in find_parts(relations):
        for start in range(first, end, LARGEST_PART):
            part = Segment(problem, relations, start, min(end, start + LARGEST_PART), live)
            live = part.end
            parts.append(part)
            are_whole.append(end - first <= LARGEST_PART)
    return parts, are_whole


def _solve(parts: Sequence[Segment], are_whole: Sequence[bool], bound: int, budget: int) -> tuple[list[_Solved], int]:
    """An order for each part, and the bound that they prove: the highest part first, until what is left lies lower."""
    solved = [_as_given(part) for part in parts]
    known: dict[object, _Solved] = {}
    target = bound
    for place in sorted(range(len(parts)), key=lambda i: -solved[i].peak):
        if solved[place].peak <= target:
            break
        key = parts[place].key
        found = known.get(key)
        if found is None:
            found = known[key] = _improve(parts[place], solved[place], target, budget)
            budget -= found.nodes
            solved[place] = found
        else:
            solved[place] = _Solved(found.order, found.peak, found.bound, found.strategy)
        if are_whole[place]:
            bound = max(bound, found.bound)
        target = max(target, found.peak)
    return solved, bound


def _as_given(part: Segment) -> _Solved:
    order = tuple(range(part.count))
    return _Solved(order, part.peak(order), part.start, _GIVEN)


def _improve(part: Segment, given: _Solved, target: int, budget: int) -> _Solved:
    """The best order found for a part. One with a peak of `target` bytes is good enough; nothing is proven below that."""
    improving = _Improving(part, given, target, budget)
    improving.by_rules()
    improving.by_beams()
    improving.exactly()
    improving.by_bisection()
    best, bound = improving.best, improving.bound
    return _Solved(best.order, best.peak, bound if bound > target else 0, best.strategy, budget - improving.budget)


class _Improving:
    """The best order of a part so far, bytes that no order goes below (or `target`), and the states that may be looked at yet."""

    def __init__(self, part: Segment, given: _Solved, target: int, budget: int) -> None:
        self.best = given
        self.bound = target
        self.budget = budget
        self._part = part
        self._walks = (part.forwards(), part.backwards())

    def by_rules(self) -> None:
        for walk in self._walks:
            for rule in RULES:
                if self._is_open():
                    self._offer(greedy(walk, rule), rule)

    def by_beams(self) -> None:
        for walk, share in zip(self._walks, (3, 2), strict=True):
            width = min(_BEAM, self.budget // share // self._part.count)
            if self._is_open() and width:
                self._take(beam(walk, self.bound, self.best.peak, width, self.budget // share), "beam")

    def exactly(self) -> None:
        for walk in self._walks:
            if self._is_open():
                found = search(walk, self.bound, self.best.peak, self.budget // 3)
                self.bound = found.bound
                self._take(found, "exact")

    def by_bisection(self) -> None:
        """Searches at thresholds between the bound and the best peak; what is not exhausted counts as out of reach."""
        low = self.bound
        for attempt in range(_BISECTIONS):
            if low >= self.best.peak:
                return
            middle = (low + self.best.peak) // 2
            share = self.budget // (_BISECTIONS - attempt)
            found = search(self._walks[attempt % 2], middle, self.best.peak, share, rising=False)
            self._take(found, "bisection")
            if found.order is None:
                is_exhausted = found.bound > middle
                low = found.bound if is_exhausted else middle + 1
                self.bound = low if is_exhausted else self.bound

    def _is_open(self) -> bool:
        return self.best.peak > self.bound

    def _take(self, found: Found, strategy: str) -> None:
        self.budget -= found.nodes
        if found.order is not None:
            self._offer(found.order, strategy)

    def _offer(self, order: tuple[int, ...], strategy: str) -> None:
        peak = self._part.peak(order)
        if peak < self.best.peak:
            self.best = _Solved(order, peak, 0, strategy)
