"""An independent check of orders: nothing here is shared with the code that makes them.

An order is right when it has every task once, each after the tasks that it needs. Its peak is computed from live ranges: the
first and last step of each value, a difference array over the steps, and at each step the results that lie in dying operands,
found by trying all ways of pairing them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from hotdesk.planning.scheduling.problem import Schedule, ScheduleProblem, Task


def check_schedule(problem: ScheduleProblem, schedule: Schedule) -> tuple[str, ...]:
    """What is wrong with a schedule, a sentence each; empty for a correct one."""
    faults = check_order(problem, schedule.order)
    if faults:
        return faults
    peak, given = peak_of(problem, schedule.order), peak_of(problem, range(len(problem.tasks)))
    found: list[str] = []
    if schedule.peak != peak:
        found.append(f"expected a peak of {peak} bytes, got {schedule.peak}")
    if schedule.given != given:
        found.append(f"expected {given} bytes for the given order, got {schedule.given}")
    if schedule.peak > schedule.given:
        found.append(f"expected no more than the {schedule.given} bytes of the given order, got {schedule.peak}")
    if schedule.bound > schedule.peak:
        found.append(f"expected a bound of at most {schedule.peak} bytes, got {schedule.bound}")
    return tuple(found)


def check_order(problem: ScheduleProblem, order: Sequence[int]) -> tuple[str, ...]:
    """Where an order breaks the rules of the module docstring; empty for one that is allowed."""
    if sorted(order) != list(range(len(problem.tasks))):
        return ("expected every task once",)
    step = {task: at for at, task in enumerate(order)}
    maker = {value: number for number, task in enumerate(problem.tasks) for value in task.results}
    needs = [
        sorted({*task.after, *(maker[value] for value in task.operands if value in maker)}) for task in problem.tasks
    ]
    return tuple(
        f"expected task {needed} before task {number}"
        for number, before in enumerate(needs)
        for needed in before
        if step[needed] > step[number]
    )


def peak_of(problem: ScheduleProblem, order: Sequence[int]) -> int:
    """The most bytes that are live at a task of an order that is allowed; 0 without tasks."""
    steps = len(order)
    first, last = [0] * len(problem.sizes), [-1] * len(problem.sizes)
    for at, number in enumerate(order):
        for value in problem.tasks[number].results:
            first[value] = last[value] = at
        for value in problem.tasks[number].operands:
            last[value] = at
    for value in problem.kept:
        last[value] = steps - 1
    change = [0] * (steps + 1)
    for value, size in enumerate(problem.sizes):
        if last[value] >= 0:
            change[first[value]] += size
            change[last[value] + 1] -= size
    held = list(accumulate(change))
    peak = 0
    for at, number in enumerate(order):
        task = problem.tasks[number]
        dying = {value for value in task.operands if last[value] == at and value not in problem.kept}
        peak = max(peak, held[at] + task.scratch - _most_saved(problem, task, task.results, dying))
    return peak


def _most_saved(problem: ScheduleProblem, task: Task, results: Sequence[int], free: set[int]) -> int:
    """The most bytes of these results that can lie in these operands, one in each."""
    if not results or not task.displacements:
        return 0
    first, rest = results[0], results[1:]
    best = _most_saved(problem, task, rest, free)
    for result, operand in task.displacements:
        if result == first and operand in free:
            best = max(best, problem.sizes[first] + _most_saved(problem, task, rest, free - {operand}))
    return best
