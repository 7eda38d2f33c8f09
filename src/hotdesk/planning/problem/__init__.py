"""What the planner is asked and what it answers.

In order: `buffers.py` (buffers, ties, pools; `numbers.py` says which integers), `bodies.py` (what ties hold together),
`problem.py`, `bounds.py` (what no plan can beat, and why), `plan.py`, `checker.py` (whether a plan is right), `csvform.py` (both
as text).
"""

from hotdesk.planning.problem.bounds import Bound, BoundCertificate, certificate, lower_bound, max_live
from hotdesk.planning.problem.buffers import Buffer, BufferId, Pool, PoolId, Tie, adjacent
from hotdesk.planning.problem.checker import Checker, Violation, ViolationCode, check
from hotdesk.planning.problem.csvform import read_csv, read_csv_plan, write_csv
from hotdesk.planning.problem.plan import Placement, Plan
from hotdesk.planning.problem.problem import LARGEST_TOTAL, Problem

__all__ = [
    "LARGEST_TOTAL",
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
    "lower_bound",
    "max_live",
    "read_csv",
    "read_csv_plan",
    "write_csv",
]
