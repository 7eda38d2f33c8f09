"""The order of tasks whose peak is as small as can be found.

In order: `problem.py` (what is asked and answered), `scheduler.py` (the steps), `reduction.py` (what is settled without a
search), `state_space.py`, `heuristics.py`, `exact.py`, `all_sizes.py` (orders compared for all sizes), `checker.py`.
`recomputation.py` does tasks again, so that what they make need not be kept.
"""

from hotdesk.planning.scheduling.checker import check_schedule
from hotdesk.planning.scheduling.problem import Schedule, ScheduleProblem, Task
from hotdesk.planning.scheduling.scheduler import schedule

__all__ = ["Schedule", "ScheduleProblem", "Task", "check_schedule", "schedule"]
