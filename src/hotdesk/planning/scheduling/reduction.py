"""What can be said of an order before any search: tasks that stand beside one other, cuts of the graph, and lower bounds.

Two rewrites keep the smallest peak as it is:

1. A task without operands that could die, without scratch memory, and with one task that needs it runs right before that one:
   earlier, its results would only be live for longer.
2. A task that nobody needs and that makes no bytes runs right after the only task that it needs: later, its operands would only
   be live for longer.

A *cut* is a task that stands in the graph before or after every other one. What is before it runs before it in every order, so
the parts between cuts are scheduled on their own. O(tasks and operands).

Every order needs the bytes that must be live while a task runs:

1. Anywhere: a task's operands, results and scratch memory are live together, less what displacements could save.
2. In a part: so is every value that comes from before the task in the graph and is read behind it in the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hotdesk.planning.scheduling.problem import ScheduleProblem, Task
from hotdesk.planning.scheduling.state_space import NOBODY, Relations, Segment, Walk, relate

Groups = tuple[tuple[int, ...], ...]
"""For each task of a reduced problem, the tasks that it stands for, in order."""


def reduce_problem(problem: ScheduleProblem) -> tuple[ScheduleProblem, Groups]:
    """Joins tasks that run side by side in some best order (rules 1 and 2)."""
    first, groups = _join_sources(problem)
    second, joined = _join_sinks(first)
    return second, tuple(tuple(task for member in group for task in groups[member]) for group in joined)


def _join_sources(problem: ScheduleProblem) -> tuple[ScheduleProblem, Groups]:
    """Rule 1, from the first task on, so that a task has its sources before it is looked at as a source."""
    relations = relate(problem)
    dependents = _dependents(relations)
    tasks = list(problem.tasks)
    sources: list[list[int]] = [[] for _ in tasks]
    for number in range(len(tasks)):
        task = tasks[number] = _with_sources(problem, tasks, number, sources[number])
        user = dependents[number][0] if len(dependents[number]) == 1 else None
        if user is None or task.scratch or not all(relations.readers[v] for v in task.results):
            continue
        may_end = any(problem.sizes[v] and v not in problem.kept for v in task.operands)
        taken = any(operand in task.results for _, operand in tasks[user].displacements)
        if may_end or any(v in problem.kept for v in task.results) or (taken and len(tasks[user].results) > 1):
            continue
        sources[user].append(number)
    return _rebuilt(problem, tasks, _groups(sources, before=True), {i for found in sources for i in found})


def _with_sources(problem: ScheduleProblem, tasks: Sequence[Task], number: int, sources: Sequence[int]) -> Task:
    """A task together with those that make some of its operands."""
    task = tasks[number]
    if not sources:
        return task
    joined = set(sources)
    inner = {v for source in sources for v in tasks[source].results}
    taken: dict[int, int] = {}
    for result, operand in task.displacements:
        if operand in inner:
            taken.setdefault(result, operand)
    others = (v for source in sources for v in tasks[source].operands)
    before = (other for source in sources for other in tasks[source].after)
    return Task(
        tuple(dict.fromkeys([*others, *(v for v in task.operands if v not in inner)])),
        task.results,
        tuple(pair for pair in task.displacements if pair[0] not in taken),
        tuple(dict.fromkeys([*before, *(other for other in task.after if other not in joined)])),
        task.scratch + sum(problem.sizes[v] for v in inner) - sum(problem.sizes[v] for v in taken),
    )


def _join_sinks(problem: ScheduleProblem) -> tuple[ScheduleProblem, Groups]:
    """Rule 2, from the last task on, so that a task has its sinks before it is looked at as a sink."""
    relations = relate(problem)
    waiting = [len(found) for found in _dependents(relations)]
    tasks = list(problem.tasks)
    sinks: list[list[int]] = [[] for _ in tasks]
    for number in reversed(range(len(tasks))):
        task = tasks[number] = _with_sinks(tasks, number, sinks[number])
        if waiting[number] or len(relations.needs[number]) != 1 or task.scratch:
            continue
        if not any(problem.sizes[v] for v in task.results):
            needed = relations.needs[number][0]
            sinks[needed].append(number)
            waiting[needed] -= 1
    return _rebuilt(problem, tasks, _groups(sinks, before=False), {i for found in sinks for i in found})


def _with_sinks(tasks: Sequence[Task], number: int, sinks: Sequence[int]) -> Task:
    """A task together with those that read what it makes, and make no bytes."""
    task = tasks[number]
    if not sinks:
        return task
    read = {v for sink in sinks for v in tasks[sink].operands}
    return replace(
        task,
        operands=tuple(dict.fromkeys([*task.operands, *sorted(read.difference(task.results))])),
        results=(*task.results, *(v for sink in sinks for v in tasks[sink].results)),
        displacements=tuple(pair for pair in task.displacements if pair[1] not in read),
    )


def _groups(joined: Sequence[Sequence[int]], *, before: bool) -> list[tuple[int, ...]]:
    """For each task, itself and all that are joined to it, directly or not, in the order in which they run."""
    gone = {number for found in joined for number in found}
    groups: list[tuple[int, ...]] = [()] * len(joined)
    for number in range(len(joined)):
        if number not in gone:
            found, waiting = list[int](), [number]
            while waiting:
                found.append(waiting.pop())
                waiting.extend(joined[found[-1]])
            groups[number] = tuple(reversed(found) if before else found)
    return groups


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


_MOST_PAIRS = 250_000


def local_bound(problem: ScheduleProblem) -> int:
    """Rule 1 for the largest task; 0 without tasks."""
    most = 0
    for task in problem.tasks:
        held = sum(problem.sizes[v] for v in (*task.operands, *task.results))
        saved = sum(problem.sizes[v] for v in {result for result, _ in task.displacements})
        most = max(most, held + task.scratch - saved)
    return most


def least_peak(part: Segment) -> int:
    """Rule 2 for the largest task of a part; `part.start` for a part with too many pairs of tasks and values."""
    if part.count * len(part.released) > _MOST_PAIRS:
        return part.start
    forwards, backwards = part.forwards(), part.backwards()
    before, behind = _reached(forwards), _reached(backwards)
    leaving = [part.outliving(task) for task in range(part.count)]
    for maker, _, size in part.released:
        if maker != NOBODY:
            leaving[maker] -= size
    most = part.start
    for task in range(part.count):
        held = part.start + sum(bytes_ for other, bytes_ in enumerate(leaving) if before[task] >> other & 1)
        here_or_behind = behind[task] | 1 << task
        for maker, readers, size in part.released:
            if maker == NOBODY:
                held -= 0 if readers & here_or_behind else size
            elif before[task] >> maker & 1 and readers & here_or_behind:
                held += size
        most = max(most, held + part.least_growth(task, behind[task]))
    return most


def _reached(walk: Walk) -> list[int]:
    """For each task of a walk, in the walk's direction, the tasks that are done before it in any order, as a bit set."""
    tasks = range(walk.count - 1, -1, -1) if walk.is_backward else range(walk.count)
    found: list[int] = [0] * walk.count
    for task in tasks:
        needs = walk.needs[task]
        reached = needs
        while needs:
            reached |= found[(needs & -needs).bit_length() - 1]
            needs &= needs - 1
        found[task] = reached
    return found
