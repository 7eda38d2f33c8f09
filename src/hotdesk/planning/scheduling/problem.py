"""What the scheduler is asked and what it answers: tasks that make and read values, and an order for them with its peak.

A value is live from the task that makes it to the last one that reads it, a kept value to the end; one that no task makes is
there from the start. While a task runs, its operands and results are live, and its scratch memory; a result that takes over an
operand which no later task reads lies in that operand's bytes. The peak of an order is the largest number of bytes at any task.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Task:
    """One operation. Values are positions in `ScheduleProblem.sizes`, tasks in `ScheduleProblem.tasks`.

    Attributes:
        operands: values that it reads, each once.
        results: values that it makes.
        displacements: (result, operand) pairs: the result may lie where the operand does, if this task is the last to read it.
        after: tasks that run before it, apart from those that make its operands.
        scratch: bytes that it needs while it runs.
    """

    operands: tuple[int, ...] = ()
    results: tuple[int, ...] = ()
    displacements: tuple[tuple[int, int], ...] = ()
    after: tuple[int, ...] = ()
    scratch: int = 0


@dataclass(frozen=True, slots=True)
class ScheduleProblem:
    """Tasks in an order that is allowed, the sizes of values in bytes, and the values that are wanted at the end.

    Raises ValueError for a value made twice or read before it is made, a task after a later one, a negative size, and a
    displacement of an operand with another size.
    """

    tasks: tuple[Task, ...]
    sizes: tuple[int, ...]
    kept: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        if min(self.sizes, default=0) < 0:
            raise ValueError(f"expected sizes of 0 bytes or more, got {min(self.sizes)}")
        makers: dict[int, int] = {}
        for number, task in enumerate(self.tasks):
            for value in task.results:
                if value in makers:
                    raise ValueError(f"expected a task for each value, got {makers[value]} and {number} for {value}")
                makers[value] = number
        for number, task in enumerate(self.tasks):
            self._check(number, task, makers)

    def _check(self, number: int, task: Task, makers: dict[int, int]) -> None:
        if task.scratch < 0:
            raise ValueError(f"task {number}: expected scratch of 0 bytes or more, got {task.scratch}")
        if len(set(task.operands)) != len(task.operands):
            raise ValueError(f"task {number}: expected each operand once, got {task.operands}")
        for earlier in (*task.after, *(makers.get(value, -1) for value in task.operands)):
            if earlier >= number:
                raise ValueError(f"expected an order that is allowed, got task {number} before {earlier}")
        for result, operand in task.displacements:
            if result not in task.results or operand not in task.operands:
                raise ValueError(f"task {number}: expected a result and an operand of it, got {result} and {operand}")
            if self.sizes[result] != self.sizes[operand]:
                raise ValueError(
                    f"task {number}: expected a displacement of equal size, "
                    f"got {self.sizes[result]} and {self.sizes[operand]} bytes"
                )


class TaskRun(NamedTuple):
    """A task as it runs in an order: the operands that no later task reads, and the results that are there behind it."""

    task: Task
    dying: tuple[int, ...]
    outliving: tuple[int, ...]

    @property
    def taken_over(self) -> dict[int, int]:
        """The results that lie where dying operands do, each with its operand: the first that is free, in the order of pairs."""
        found: dict[int, int] = {}
        for result, operand in self.task.displacements:
            if operand in self.dying and operand not in found.values():
                found.setdefault(result, operand)
        return found


def runs(problem: ScheduleProblem, order: Sequence[int]) -> Iterator[TaskRun]:
    """The tasks of an order that is allowed, as they run."""
    last = {value: place for place, number in enumerate(order) for value in problem.tasks[number].operands}
    last.update(dict.fromkeys(problem.kept, len(order)))
    for place, number in enumerate(order):
        task = problem.tasks[number]
        dying = tuple([value for value in task.operands if last[value] == place])
        yield TaskRun(task, dying, tuple([value for value in task.results if last.get(value, place) > place]))


def at_first(problem: ScheduleProblem) -> list[int]:
    """The values that are there in front of all tasks: those that are read or kept, and that none makes."""
    made = {value for task in problem.tasks for value in task.results}
    wanted = {value for task in problem.tasks for value in task.operands} | problem.kept
    return sorted(wanted - made)


@dataclass(frozen=True, slots=True)
class Schedule:
    """An order of tasks and its figures in bytes.

    `peak` is that of `order`, `given` that of the order in which the tasks came, `bound` one that no order goes below.
    `strategy` names what found the order, `nodes` counts the states that were looked at, `seconds` is wall time and no part of
    what makes two schedules equal.
    """

    order: tuple[int, ...]
    peak: int
    given: int
    bound: int
    strategy: str
    nodes: int = 0
    seconds: float = field(default=0.0, compare=False)

    @property
    def proven_optimal(self) -> bool:
        """Whether no order has a smaller peak."""
        return self.peak == self.bound
