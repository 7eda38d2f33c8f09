"""The planning problem of a function, and the check of its plans."""

from __future__ import annotations

from collections.abc import Sequence

from hotdesk.errors import PlanError
from hotdesk.planning.problem.buffers import Buffer, Pool
from hotdesk.planning.problem.checker import Violation, check
from hotdesk.planning.problem.numbers import ALIGNMENT, LARGEST_TOTAL
from hotdesk.planning.problem.plan import Plan
from hotdesk.planning.problem.problem import Problem
from hotdesk.runtime.lowered import Planned

MOST_BYTES = LARGEST_TOTAL // 2
"""Buffers take less together, more than any machine has, or nothing is planned."""


def problem_of(function: Planned, sizes: Sequence[int]) -> Problem:
    """What there is to plan if the buffers of a function have these sizes, in bytes, by place in the pointer table.

    A result lends its memory until it is written first, a donated input once nothing reads it any more. A buffer that nothing
    uses needs none.

    Raises:
        PlanError: they take `MOST_BYTES` or more together.
    """
    pools = pools_of(function, sizes)
    uses = function.buffers
    buffers = [Buffer(i, uses[i].lower, uses[i].upper, sizes[i], ALIGNMENT) for i in placed(function)]
    return Problem(tuple(buffers), pools)


def placed(function: Planned) -> tuple[int, ...]:
    """The buffers of a function that need a place, by place in the pointer table."""
    return tuple(i for i, use in enumerate(function.buffers) if use.kind == "alloc" and use.lower < use.upper)


def pools_of(function: Planned, sizes: Sequence[int]) -> tuple[Pool, ...]:
    """The memory of the caller's that is lent if the buffers of a function have these sizes.

    Raises:
        PlanError: they take `MOST_BYTES` or more together.
    """
    if (total := sum(sizes)) >= MOST_BYTES:
        raise PlanError(
            "the buffers of a call",
            expected=f"less than {MOST_BYTES:,} bytes together",
            got=f"{total:,}",
            hint="Use smaller sizes, or declare smaller ranges for those that vary.",
        )
    return tuple(Pool(place, sizes[place], free) for place, free in function.windows.items() if sizes[place])


def checked(problem: Problem, made: Plan) -> Plan:
    """The plan, if code that did not make it finds no fault in it.

    Raises:
        PlanError: it found one.
    """
    return accepted(made, check(problem, made))


def accepted(made: Plan, faults: Sequence[Violation]) -> Plan:
    """The plan, if no fault was found in it.

    Raises:
        PlanError: one was.
    """
    if faults:
        raise PlanError(
            f"the planner's `{made.strategy}` made an invalid plan",
            expected="buffers that are live together apart",
            got=faults[0].message,
            hint="This is a defect of Hotdesk; please report it.",
        )
    return made
