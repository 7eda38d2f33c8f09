"""The planning problem of a function, and what is proved of its plans: that they are right, and what no plan can beat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from hotdesk.errors import PlanError
from hotdesk.explain import Source
from hotdesk.planning.problem.bounds import Bound, certificate
from hotdesk.planning.problem.buffers import Buffer, Pool
from hotdesk.planning.problem.checker import Violation, check
from hotdesk.planning.problem.plan import Plan
from hotdesk.planning.problem.problem import LARGEST_TOTAL, Problem
from hotdesk.report.records import Certificate, CertifiedBuffer
from hotdesk.runtime.lowered import Planned
from hotdesk.runtime.plans.layout import ALIGNMENT

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
    buffers = [
        Buffer(i, use.lower, use.upper, sizes[i], ALIGNMENT)
        for i, use in enumerate(function.buffers)
        if use.kind == "alloc" and use.lower < use.upper
    ]
    return Problem(tuple(buffers), pools)


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


class Located(Planned, Protocol):
    """A function whose operations have names and lines, by op number."""

    @property
    def sources(self) -> Sequence[Source]: ...


def certified(function: Located, sizes: Sequence[int], bound: Bound) -> Certificate:
    """The certificate of a bound for a function whose buffers have these sizes, in bytes, by place.

    A buffer has the name and the line of the operation that uses it first.
    """
    found = certificate(problem_of(function, sizes), bound)
    point = function.sources[bound.step] if found.buffers else Source("", "")
    named = tuple(
        CertifiedBuffer(source.op, buffer.size, buffer.footprint, source.location)
        for buffer in found.buffers
        for source in [function.sources[buffer.lower]]
    )
    return Certificate(bound.bytes, bound.kind, bound.step, point.op, point.location, named, found.lent)
