"""Checks plans before they are used: what `planning.check` finds wrong is raised as an error."""

from __future__ import annotations

from collections.abc import Sequence

from hotdesk.errors import PlanError
from hotdesk.planning.problem.checker import Violation, check
from hotdesk.planning.problem.plan import Plan
from hotdesk.planning.problem.problem import Problem


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
