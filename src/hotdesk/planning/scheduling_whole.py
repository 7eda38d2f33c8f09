"""An order of tasks too many for bit sets, by rule, one task after another over the whole problem: O(tasks and operands).

The rules are those of `scheduling_greedy`, walked forwards, with counts of what is left instead of sets of what is done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hotdesk.planning.scheduling_greedy import RULES, WINDOW
from hotdesk.planning.scheduling_parts import Relations, peak_along
from hotdesk.planning.scheduling_problem import ScheduleProblem, Task


def ordered_as_a_whole(
    problem: ScheduleProblem, relations: Relations
) -> tuple[ScheduleProblem, tuple[int, ...], str] | None:
    """The problem in the best order that a rule makes, that order, and the rule; None if the given one is as good."""
    best: tuple[tuple[int, ...], str] | None = None
    lowest = peak_along(problem, range(len(problem.tasks)))
    for rule in RULES:
        order = _Walk(problem, relations).order(rule)
        peak = peak_along(problem, order)
        if peak < lowest:
            best, lowest = (order, rule), peak
    return None if best is None else (_rearranged(problem, best[0]), *best)


class _Walk:
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
        saved = _saved(task, sizes, set(dying)) if task.takeovers and dying else 0
        return self._makes[number] - saved, self._stays[number] - sum(sizes[v] for v in dying)


def _saved(task: Task, sizes: Sequence[int], dying: set[int]) -> int:
    """The bytes of results that lie in dying operands, each in the first that is left."""
    placed: set[int] = set()
    total = 0
    for result, operand in task.takeovers:
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
