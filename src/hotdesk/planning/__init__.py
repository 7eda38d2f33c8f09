"""From live ranges and sizes to offsets: the arena planner, its lower bounds and the checker of its plans; and task scheduling.

Numbers only; nothing here knows MLIR. `plan(Problem(buffers, pools))` returns a `Plan`, `check` says what is wrong with one.

Read `planner.py` first, which is `plan`, then the four rooms: `problem` (what is asked, what is answered, and the check of it),
`placement` (how offsets are found), `sizes` (sizes that vary by call), and `scheduling` (the order of operations).
"""

from hotdesk.planning.placement.portfolio import DEFAULT_EFFORT, NO_REUSE, STRATEGIES
from hotdesk.planning.planner import plan
from hotdesk.planning.problem import (
    Bound,
    Buffer,
    BufferId,
    Certificate,
    Checker,
    Placement,
    Plan,
    Pool,
    PoolId,
    Problem,
    Tie,
    Violation,
    ViolationCode,
    adjacent,
    certificate,
    check,
    lower_bound,
    max_live,
    read_csv,
    read_csv_plan,
    write_csv,
)

__all__ = [
    "DEFAULT_EFFORT",
    "NO_REUSE",
    "STRATEGIES",
    "Bound",
    "Buffer",
    "BufferId",
    "Certificate",
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
    "certificate",
    "check",
    "lower_bound",
    "max_live",
    "plan",
    "read_csv",
    "read_csv_plan",
    "write_csv",
]
