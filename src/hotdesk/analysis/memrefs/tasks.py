"""What runs on beside the program in OpenMP: tasks, and what a team does without waiting for one another.

1. A *task* is an `omp.task`, an `omp.taskloop.context` without a group, and whatever says `nowait`.
2. It is done at an `omp.barrier` of its block, or, if it is no work that a team shares, at an `omp.taskwait` that names no
   dependences.
3. It is done as well when control leaves a region around it at whose end all wait: a parallel region, a group of tasks, a loop of
   tasks with a group, work that a team shares and waits for.

Source: OpenMP Application Programming Interface 5.2, sections 11 to 15.
"""

from __future__ import annotations

from bisect import bisect_left

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.buffer_program import BufferOp, BufferProgram

_SHARED = ("omp.wsloop", "omp.sections", "omp.single", "omp.workshare", "omp.scope")
_TASKLOOP = "omp.taskloop.context"
_ALL_WAIT = frozenset({"omp.parallel", "omp.taskgroup", "omp.teams", "omp.target", _TASKLOOP, *_SHARED})
_BARRIER, _TASKWAIT = "omp.barrier", "omp.taskwait"
_SOME = ("depend_kinds", "depend_iterated_kinds", "nowait")
"""With one of these attributes `omp.taskwait` does not wait for all."""


def is_task(op: ir.Operation) -> bool:
    """Whether an op may run on when control has left it (rule 1)."""
    name = op.name
    if not name.startswith("omp."):
        return False
    return name == "omp.task" or "nowait" in op.attributes or (name == _TASKLOOP and "nogroup" in op.attributes)


def waits_inside(op: ir.Operation) -> bool:
    """Whether all that was started inside of an op is done when control leaves it (rule 3)."""
    return op.name in _ALL_WAIT and not is_task(op)


class Waits:
    """The ops of one function that wait for tasks, by block."""

    def __init__(self, program: BufferProgram) -> None:
        self._barriers: dict[int, list[int]] = {}
        self._all: dict[int, list[int]] = {}
        for op in program.ops:
            if op.name == _BARRIER:
                self._barriers.setdefault(op.block, []).append(op.number)
            if op.name == _BARRIER or (op.name == _TASKWAIT and not _waits_for_some(op.operation)):
                self._all.setdefault(op.block, []).append(op.number)

    def behind(self, task: BufferOp) -> int:
        """The first op behind a task at which it is done (rule 2); -1 if there is none in its block."""
        found = (self._barriers if task.name in _SHARED else self._all).get(task.block, [])
        return next(iter(found[bisect_left(found, task.end) :]), -1)


def _waits_for_some(taskwait: ir.Operation) -> bool:
    return any(name in taskwait.attributes for name in _SOME)
