"""From live ranges and sizes to offsets: the arena planner, its lower bounds and the checker of its plans; and task scheduling.

Numbers only; nothing here knows MLIR. `plan(Problem(buffers, pools))` returns a `Plan`, `check` says what is wrong with one.

Read `planner.py` first, which is `plan`, then the four rooms: `problem` (what is asked, what is answered, and the check of it),
`placement` (how offsets are found), `sizes` (sizes that vary by call), and `scheduling` (the order of operations).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hotdesk.planning.placement.portfolio import DEFAULT_EFFORT, NO_REUSE, STRATEGIES
    from hotdesk.planning.planner import plan
    from hotdesk.planning.problem import (
        Bound,
        BoundCertificate,
        Buffer,
        BufferId,
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
    "plan",
    "read_csv",
    "read_csv_plan",
    "write_csv",
]

_MODULES = {
    **dict.fromkeys(("DEFAULT_EFFORT", "NO_REUSE", "STRATEGIES"), "hotdesk.planning.placement.portfolio"),
    "plan": "hotdesk.planning.planner",
}


def _found(name: str) -> Any:
    """A public name, when it is first used: who lays out a plan that is made already needs no planner."""
    if name not in __all__:
        raise AttributeError(f"module 'hotdesk.planning' has no attribute '{name}'", name=name)
    module = import_module(_MODULES.get(name, "hotdesk.planning.problem"))
    return globals().setdefault(name, getattr(module, name))


if not TYPE_CHECKING:
    __getattr__ = _found
