"""Tied buffers as one buffer for each body, where each is what a buffer can be, and the plan of these as one of the members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hotdesk.planning.bodies import Body
from hotdesk.planning.borrow import Loan
from hotdesk.planning.bounds import eligible_pools, hosting_pools, lower_bound
from hotdesk.planning.buffers import Buffer
from hotdesk.planning.plan import Placement, Plan
from hotdesk.planning.problem import Problem


def merged_problem(problem: Problem, bodies: Sequence[Body]) -> Problem | None:
    """One buffer for each body, by number, where all bodies are what a buffer can be; None where some is not.

    What takes no bytes may have any place for all that the others care: `expanded_plan` gives it one that suits its members.
    """
    buffers: list[Buffer] = []
    for k, body in enumerate(bodies):
        first = problem.buffers[body.members[0][0]]
        only = next(iter(body.rectangles), None)
        if only is None:
            buffers.append(Buffer(k, first.lower, first.upper, 0, 1))
            continue
        if len(body.rectangles) > 1 or only.bottom or body.phase:
            return None
        buffer = Buffer(k, only.lower, only.upper, body.end, body.alignment, body.pinned)
        if buffer.footprint != only.top or eligible_pools(buffer, problem.pools) != hosting_pools(problem, body):
            return None
        buffers.append(buffer)
    return Problem(tuple(buffers), problem.pools)


def expanded_plan(problem: Problem, bodies: Sequence[Body], merged: Plan) -> Plan:
    """The plan of a merged problem as one of the problem it was made from."""
    number = {pool.id: k for k, pool in enumerate(problem.pools)}
    placed = [(k, p) for k, p in enumerate(merged.placements) if bodies[k].rectangles]
    loans = {k: Loan(number[p.pool], p.offset) for k, p in placed if p.pool is not None}
    offsets = {k: p.offset for k, p in placed if p.pool is None}
    bound = lower_bound(problem)
    if merged.bound.bytes > bound.bytes:  # a search proved it
        members = (i for k in merged.bound.buffer_ids for i, _ in bodies[int(k)].members if problem.buffers[i].size)
        bound = replace(merged.bound, buffer_ids=tuple(problem.buffers[i].id for i in members))
    return replace(merged, placements=spread(problem, bodies, loans, offsets), bound=bound)


def spread(
    problem: Problem, bodies: Sequence[Body], loans: Mapping[int, Loan], offsets: Mapping[int, int]
) -> tuple[Placement, ...]:
    """The members of bodies that have a loan or an offset, or stand where they are pinned; else at the ground."""
    placements: dict[int, Placement] = {}
    for k, body in enumerate(bodies):
        loan = loans.get(k)
        ground = body.phase if body.pinned is None else body.pinned
        pool, base = (problem.pools[loan.pool].id, loan.offset) if loan else (None, offsets.get(k, ground))
        for i, offset in body.members:
            placements[i] = Placement(problem.buffers[i].id, pool, base + offset)
    return tuple(placements[i] for i in range(len(problem.buffers)))
