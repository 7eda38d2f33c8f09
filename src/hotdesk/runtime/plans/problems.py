"""The planning problem of a function: the live ranges of its buffers, with their sizes in one call."""

from __future__ import annotations

from collections.abc import Sequence

from hotdesk.errors import PlanError
from hotdesk.planning.problem.buffers import Buffer, Pool
from hotdesk.planning.problem.problem import LARGEST_TOTAL, Problem
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
