"""What can be said of an order before any search: tasks that stand beside one other, and cuts of the graph.

Two rewrites keep the smallest peak as it is:

1. A task without operands that could die, without scratch memory, and with one task that needs it runs right before that one:
   earlier, its results would only be live for longer.
2. A task that nobody needs and that makes no bytes runs right after the only task that it needs: later, its operands would only
   be live for longer.

A *cut* is a task that stands in the graph before or after every other one. What is before it runs before it in every order, so
the parts between cuts are scheduled on their own. O(tasks and operands).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hotdesk.planning.scheduling_parts import Relations, relate
from hotdesk.planning.scheduling_problem import ScheduleProblem, Task

Groups = tuple[tuple[int, ...], ...]
"""For each task of a reduced problem, the tasks that it stands for, in order."""


def reduce_problem(problem: ScheduleProblem) -> tuple[ScheduleProblem, Groups]:
    """Joins tasks that run side by side in some best order (rules 1 and 2)."""
    first, groups = _join_sources(problem)
    second, joined = _join_sinks(first)
    return second, tuple(tuple(task for member in group for task in groups[member]) for group in joined)


def _join_sources(problem: ScheduleProblem) -> tuple[ScheduleProblem, Groups]:
    relations = relate(problem)
    dependents = _dependents(relations)
    tasks = list(problem.tasks)
    groups = [[number] for number in range(len(tasks))]
    gone: set[int] = set()
    for number, task in enumerate(tasks):
        user = dependents[number][0] if len(dependents[number]) == 1 else None
        if user is None or task.scratch or not all(relations.readers[v] for v in task.results):
            continue
        may_end = any(problem.sizes[v] and v not in problem.kept for v in task.operands)
        taken = any(operand in task.results for _, operand in tasks[user].takeovers)
        if may_end or any(v in problem.kept for v in task.results) or (taken and len(tasks[user].results) > 1):
            continue
        tasks[user] = _with_source(tasks[user], task, number, problem.sizes)
        groups[user] = groups[number] + groups[user]
        gone.add(number)
    return _rebuilt(problem, tasks, groups, gone)


def _with_source(task: Task, source: Task, number: int, sizes: Sequence[int]) -> Task:
    """A task together with one that makes some of its operands."""
    inner = set(source.results)
    taken = {result for result, operand in task.takeovers if operand in inner}
    return Task(
        tuple(dict.fromkeys([*source.operands, *(v for v in task.operands if v not in inner)])),
        task.results,
        tuple(pair for pair in task.takeovers if pair[0] not in taken),
        tuple(dict.fromkeys([*source.after, *(other for other in task.after if other != number)])),
        task.scratch + sum(sizes[v] for v in inner) - sum(sizes[v] for v in taken),
    )


def _join_sinks(problem: ScheduleProblem) -> tuple[ScheduleProblem, Groups]:
    relations = relate(problem)
    waiting = [len(found) for found in _dependents(relations)]
    tasks = list(problem.tasks)
    groups = [[number] for number in range(len(tasks))]
    gone: set[int] = set()
    for number in reversed(range(len(tasks))):
        task = tasks[number]
        if (
            waiting[number]
            or len(relations.needs[number]) != 1
            or task.scratch
            or any(problem.sizes[v] for v in task.results)
        ):
            continue
        needed = relations.needs[number][0]
        host = tasks[needed]
        kept_takeovers = tuple(pair for pair in host.takeovers if pair[1] not in task.operands)
        operands = (v for v in task.operands if v not in host.results)
        tasks[needed] = replace(
            host,
            operands=tuple(dict.fromkeys([*host.operands, *operands])),
            results=(*host.results, *task.results),
            takeovers=kept_takeovers,
        )
        groups[needed] = groups[needed] + groups[number]
        waiting[needed] -= 1
        gone.add(number)
    return _rebuilt(problem, tasks, groups, gone)


def _dependents(relations: Relations) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in relations.needs]
    for number, needs in enumerate(relations.needs):
        for needed in needs:
            found[needed].append(number)
    return found


def _rebuilt(
    problem: ScheduleProblem, tasks: Sequence[Task], groups: Sequence[Sequence[int]], gone: set[int]
) -> tuple[ScheduleProblem, Groups]:
    """The problem without the tasks that are gone, in the order of the others."""
    left = [number for number in range(len(tasks)) if number not in gone]
    place = {number: at for at, number in enumerate(left)}
    kept = tuple(replace(tasks[number], after=tuple(place[i] for i in tasks[number].after)) for number in left)
    return ScheduleProblem(kept, problem.sizes, problem.kept), tuple(tuple(groups[number]) for number in left)


def find_parts(relations: Relations) -> list[tuple[int, int]]:
    """The stretches of tasks between cuts, half open, in order; a cut ends its part."""
    count = len(relations.needs)
    nearest_need = [max(needs, default=-1) for needs in relations.needs]
    nearest_use = [count] * count
    for number, needs in enumerate(relations.needs):
        for needed in needs:
            nearest_use[needed] = min(nearest_use[needed], number)
    reached = [count] * (count + 1)  # the least that a task from here on needs
    for number in reversed(range(count)):
        reached[number] = min(reached[number + 1], nearest_need[number])
    parts: list[tuple[int, int]] = []
    first, used = 0, -1
    for number in range(count):
        if used <= number <= reached[number + 1]:
            parts.append((first, number + 1))
            first = number + 1
        used = max(used, nearest_use[number])
    return parts if first == count else [*parts, (first, count)]
