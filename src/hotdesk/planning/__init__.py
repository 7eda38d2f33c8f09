"""From live ranges and sizes to offsets: the arena planner, its lower bounds and the checker of its plans; and task scheduling.

Numbers only; nothing here knows MLIR. `plan(Problem(buffers, pools))` returns a `Plan`, `check` says what is wrong with one.

Read `planner.py` first, which is `plan`, then the four rooms: `problem` (what is asked, what is answered, and the check of it),
`placement` (how offsets are found), `sizes` (sizes that vary by call), and `scheduling` (the order of operations).
"""

from typing import TYPE_CHECKING

from hotdesk.python.lazy_names import lazy_names

if TYPE_CHECKING:
    from hotdesk.planning.placement.portfolio import DEFAULT_EFFORT, NO_REUSE, STRATEGIES
    from hotdesk.planning.planner import plan
    from hotdesk.planning.problem.bound_checker import check_bound
    from hotdesk.planning.problem.bounds import Bound, BoundCertificate, certificate, lower_bound
    from hotdesk.planning.problem.buffers import Buffer, BufferId, Pool, PoolId, Tie, adjacent
    from hotdesk.planning.problem.checker import Checker, Violation, ViolationCode, check
    from hotdesk.planning.problem.csvform import read_csv, write_csv
    from hotdesk.planning.problem.plan import Placement, Plan
    from hotdesk.planning.problem.problem import Problem

__all__ = [
    "DEFAULT_EFFORT",
    "NO_REUSE",
    "STRATEGIES",
    "Bound",
    "BoundCertificate",
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
    "certificate",
    "check",
    "check_bound",
    "lower_bound",
    "plan",
    "read_csv",
    "write_csv",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "planner": ("plan",),
            "placement.portfolio": ("DEFAULT_EFFORT", "NO_REUSE", "STRATEGIES"),
            "problem.bound_checker": ("check_bound",),
            "problem.bounds": ("Bound", "BoundCertificate", "certificate", "lower_bound"),
            "problem.buffers": ("Buffer", "BufferId", "Pool", "PoolId", "Tie", "adjacent"),
            "problem.checker": ("Checker", "Violation", "ViolationCode", "check"),
            "problem.csvform": ("read_csv", "write_csv"),
            "problem.plan": ("Placement", "Plan"),
            "problem.problem": ("Problem",),
        },
    )
