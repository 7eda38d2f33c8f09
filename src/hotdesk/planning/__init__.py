"""From live ranges and sizes to offsets: the arena planner, its lower bounds and the checker of its plans.

Numbers only; nothing here knows MLIR. `plan(Problem(buffers, pools))` returns a `Plan`, `check` says what is wrong
with one.
"""

from hotdesk.planning.bounds import Bound, lower_bound, max_live
from hotdesk.planning.buffers import Buffer, BufferId, Pool, PoolId, Tie, adjacent
from hotdesk.planning.check import Checker, check
from hotdesk.planning.csvform import read_csv, read_csv_plan, write_csv
from hotdesk.planning.plan import Placement, Plan
from hotdesk.planning.planner import plan
from hotdesk.planning.portfolio import DEFAULT_EFFORT, NO_REUSE, STRATEGIES
from hotdesk.planning.problem import Problem
from hotdesk.planning.violations import Violation, ViolationCode

__all__ = [
    "DEFAULT_EFFORT",
    "NO_REUSE",
    "STRATEGIES",
    "Bound",
    "Buffer",
    "BufferId",
    "Checker",
    "Placement",
    "Plan",
    "Pool",
    "PoolId",
    "Problem",
    "Tie",
    "Violation",
    "ViolationCode",
    "adjacent",
    "check",
    "lower_bound",
    "max_live",
    "plan",
    "read_csv",
    "read_csv_plan",
    "write_csv",
]
