"""How many bytes the tensors of a function take while each operation of its body runs, estimated before bufferization.

What is live when, and what may lie where an operand did, is the estimate of `schedules.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from hotdesk._bindings import ir
from hotdesk.analysis.order.schedules import Stretch, read_all, read_stretch, used_in_other_blocks
from hotdesk.planning.scheduling.problem import at_first, runs


@dataclass(slots=True)
class HeldStep:
    """A task as it runs.

    Attributes:
        level: the bytes that are there in front of it.
        made, dying: the bytes of the values that it makes, and of those that it reads last.
        over: the results that it writes over an operand, each with that.
        held: the bytes that are there while it runs.
    """

    level: int
    made: dict[int, int]
    dying: dict[int, int]
    over: dict[int, int]
    held: int


@dataclass(frozen=True, slots=True)
class HeldSteps:
    """The operations of a function's body, and the steps of those that are tasks."""

    stretch: Stretch
    steps: tuple[HeldStep, ...]


def read_held(function: ir.Operation, assumed: int, *, returned: bool) -> HeldSteps | None:
    """What the body of a function holds in its order; None if an element type has no size.

    Every symbol in a size counts as `assumed`. With `returned`, results of the function count.
    """
    record = read_all(function)
    if record is None:
        return None
    stretch = read_stretch(record, record.blocks[0], {}, used_in_other_blocks(record), assumed, returned=returned)
    sizes, steps = stretch.problem.sizes, list[HeldStep]()
    level = sum(sizes[value] for value in at_first(stretch.problem))
    for run in runs(stretch.problem, range(len(stretch.problem.tasks))):
        made, over = {value: sizes[value] for value in run.task.results}, run.taken_over
        dying = {value: sizes[value] for value in run.dying}
        new = sum(size for value, size in made.items() if value not in over)
        steps.append(HeldStep(level, made, dying, over, level + new + run.task.scratch))
        level += sum(sizes[value] for value in run.outliving) - sum(dying.values())
    return HeldSteps(stretch, tuple(steps))
