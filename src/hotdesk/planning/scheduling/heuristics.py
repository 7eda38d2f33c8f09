"""Orders of tasks by heuristics: rules, forwards and backwards, on a part or the whole problem, and beam search on a part.

*Rules* (`greedy`) choose among the tasks that are ready, one after another: the least growth, the lowest peak, and, as a list
scheduler does, first what frees more than it makes, then the most recent. At most `WINDOW` of the latest ready tasks are
compared, so a walk takes time in proportion to the part. For tasks too many for bit sets, the same rules walk forwards over
the whole problem, with counts of what is left instead of sets of what is done: O(tasks and operands) (`ordered_as_a_whole`).

*Beam search* (`beam`): of the sets of each number of tasks done, the best few go on. Of sets with the same tasks done, that with
the lowest peak on the way goes on; then sets are ranked by that peak, as far as it is above the target, and by the bytes live. A
task that frees no less than it makes, within the peak so far, is taken at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from hotdesk.planning.scheduling.exact import Found
from hotdesk.planning.scheduling.problem import ScheduleProblem, Task
from hotdesk.planning.scheduling.state_space import Relations, Walk, peak_along

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


@dataclass(frozen=True, slots=True)
class _BeamState:
    """Tasks done and ready as bit sets, bytes live, the peak on the way, the last task and the state before it."""

    done: int
    ready: int
    live: int
    peak: int
    task: int = -1
    before: _BeamState | None = None


def beam(walk: Walk, target: int, limit: int, width: int, budget: int) -> Found:
    """Looks for an order with a peak below `limit` bytes; peaks up to `target` are as good as each other. Nothing is proven.

    It gives up when it has looked at `budget` states.
    """
    level = [_BeamState(0, walk.first_ready(), walk.start, walk.start)]
    nodes = 0
    for _ in range(walk.count):
        following: dict[int, _BeamState] = {}
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


def _successors(walk: Walk, state: _BeamState, target: int) -> list[_BeamState]:
    found: list[_BeamState] = []
    ready, allowed = state.ready, max(state.peak, target)
    while ready:
        task = (ready & -ready).bit_length() - 1
        ready &= ready - 1
        peak, live = walk.step(state.done, task, state.live)
        new = _BeamState(state.done | 1 << task, 0, live, max(state.peak, peak), task, state)
        if live <= state.live and peak <= allowed:
            return [_with_ready(walk, new)]
        found.append(new)
    return [_with_ready(walk, new) for new in found]


def _with_ready(walk: Walk, state: _BeamState) -> _BeamState:
    before = state.before
    assert before is not None
    ready = before.ready & ~(1 << state.task)
    for other in walk.enabled(state.done, state.task):
        ready |= 1 << other
    return _BeamState(state.done, ready, state.live, state.peak, state.task, before)


def ordered_as_a_whole(
    problem: ScheduleProblem, relations: Relations
) -> tuple[ScheduleProblem, tuple[int, ...], str] | None:
    """The problem in the best order that a rule makes, that order, and the rule; None if the given one is as good."""
    best: tuple[tuple[int, ...], str] | None = None
    lowest = peak_along(problem, range(len(problem.tasks)))
    for rule in RULES:
        order = _WholeWalk(problem, relations).order(rule)
        peak = peak_along(problem, order)
        if peak < lowest:
            best, lowest = (order, rule), peak
    return None if best is None else (_rearranged(problem, best[0]), *best)


class _WholeWalk:
    """One walk from the first task to the last."""

    def __init__(self, problem: ScheduleProblem, relations: Relations) -> None:
        self._problem = problem
        self._readers = [len(readers) for readers in relations.readers]
        self._waits = [len(needs) for needs in relations.needs]
        self._enables: list[list[int]] = [[] for _ in problem.tasks]
        for number, needs in enumerate(relations.needs):
            for other in needs:
                self._enables[other].append(number)
        sizes, kept = problem.sizes, problem.kept
        self._stays = [
            sum(sizes[v] for v in task.results if relations.readers[v] or v in kept) for task in problem.tasks
        ]
        self._makes = [task.scratch + sum(sizes[v] for v in task.results) for task in problem.tasks]

    def order(self, rule: str) -> tuple[int, ...]:
        key = RULES[rule]
        ready = [number for number, waits in enumerate(self._waits) if not waits][::-1]
        order: list[int] = []
        while ready:
            found: list[tuple[tuple[int, ...], int, int]] = []
            for age in range(min(len(ready), WINDOW)):
                number = ready[-1 - age]
                found.append((key(*self._step(number), age), number, age))
            _, number, age = min(found)
            del ready[-1 - age]
            order.append(number)
            for value in self._problem.tasks[number].operands:
                self._readers[value] -= 1
            for other in self._enables[number]:
                self._waits[other] -= 1
                if not self._waits[other]:
                    ready.append(other)
        return tuple(order)

    def _step(self, number: int) -> tuple[int, int]:
        """The bytes at the peak of a task and after it, beyond those before it."""
        task, sizes, kept = self._problem.tasks[number], self._problem.sizes, self._problem.kept
        dying = [v for v in task.operands if self._readers[v] == 1 and v not in kept]
        saved = _saved(task, sizes, set(dying)) if task.displacements and dying else 0
        return self._makes[number] - saved, self._stays[number] - sum(sizes[v] for v in dying)


def _saved(task: Task, sizes: Sequence[int], dying: set[int]) -> int:
    """The bytes of results that lie in dying operands, each in the first that is left."""
    placed: set[int] = set()
    total = 0
    for result, operand in task.displacements:
        if result not in placed and operand in dying:
            dying.discard(operand)
            placed.add(result)
            total += sizes[result]
    return total


def _rearranged(problem: ScheduleProblem, order: Sequence[int]) -> ScheduleProblem:
    """The problem with its tasks in an order that is allowed."""
    place = {number: at for at, number in enumerate(order)}
    tasks = (problem.tasks[number] for number in order)
    return replace(
        problem,
        tasks=tuple(replace(task, after=tuple(sorted(place[other] for other in task.after))) for task in tasks),
    )
