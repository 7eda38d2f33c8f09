"""Bytes that every order needs, from what must be live while a task runs.

1. Anywhere: a task's operands, results and scratch memory are live together, less what displacements could save.
2. In a part: so is every value that comes from before the task in the graph and is read behind it in the graph.
"""

from __future__ import annotations

from hotdesk.planning.scheduling.problem import ScheduleProblem
from hotdesk.planning.scheduling.state_space import NOBODY, Segment, Walk

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
