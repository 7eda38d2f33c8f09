"""A block as a scheduling problem: its operations with memory as tasks, and the others, which follow them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hotdesk._bindings import ir
from hotdesk.ir.sizes import Size
from hotdesk.planning.scheduling.problem import ScheduleProblem
from hotdesk.program.graphs import reached


@dataclass(frozen=True, slots=True)
class Stretch:
    """The operations of a block, without the terminator, and the problem of ordering those that are tasks.

    Attributes:
        operations: in the order of the text.
        tasks: positions in `operations`, one for each task of `problem`.
        light: for each position, the positions of the operations that are no tasks and that it needs directly.
        fences: tasks that nothing crosses.
        problem: with sizes as numbers of bytes.
        sizes: of its values, as they are.
    """

    operations: tuple[ir.Operation, ...]
    tasks: tuple[int, ...]
    light: tuple[tuple[int, ...], ...]
    fences: frozenset[int]
    problem: ScheduleProblem
    sizes: tuple[Size, ...]

    def arranged(self, order: Sequence[int]) -> tuple[int, ...]:
        """Positions of all operations for an order of the tasks.

        What is no task goes right before the first task that needs it; at a fence, and at the end, come those left.
        """
        tasks, placed = set(self.tasks), dict[int, None]()
        left = [position for position in range(len(self.operations)) if position not in tasks][::-1]
        for task in order:
            position = self.tasks[task]
            if task in self.fences:
                while left and left[-1] < position:
                    self._place(left.pop(), placed)
            self._place(position, placed)
        while left:
            self._place(left.pop(), placed)
        return tuple(placed)

    def _place(self, position: int, placed: dict[int, None]) -> None:
        needed = reached([position], lambda each: [other for other in self.light[each] if other not in placed])
        placed.update((each, None) for each in sorted(needed))
