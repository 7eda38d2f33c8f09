"""A better arena for a plan in milliseconds: what pools hold stays there, and the rest is packed anew, lowest floor first."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from hotdesk.planning.placement.instance import build_instance
from hotdesk.planning.placement.skyline import SKYLINE_ORDERS, find_neighbours, skyline
from hotdesk.planning.problem.plan import Placement, Plan
from hotdesk.planning.problem.problem import Problem


def repacked(problem: Problem, made: Plan) -> Plan:
    """The plan, or one with a smaller arena that borrows the same; tried in turn until the bound is met.

    Nothing is tried where too many buffers are live together, or some are pinned.
    """
    lent = {i: placement for i, placement in enumerate(made.placements) if placement.pool is not None}
    instance = build_instance(problem, lent)
    if instance.is_dense or instance.obstacles:
        return made
    around = find_neighbours(instance)
    for name, order in SKYLINE_ORDERS.items():
        if made.proven_optimal:
            break
        found = skyline(instance, around, order(instance), name)
        if found.arena < made.arena:
            offsets = dict(zip(instance.origin, found.offsets, strict=True))
            placements = tuple(
                lent.get(i) or Placement(buffer.id, None, offsets.get(i, 0)) for i, buffer in enumerate(problem.buffers)
            )
            made = replace(made, placements=placements, arena=found.arena, strategy=name)
    return made


def borrowing_less(problem: Problem, made: Plan, kept: Collection[int]) -> Plan:
    """A plan in which of the loans only those of the buffers `kept`, by position, are left."""
    placements: list[Placement] = []
    top = made.arena
    for i, (buffer, placement) in enumerate(zip(problem.buffers, made.placements, strict=True)):
        if placement.pool is not None and i not in kept:
            offset = -(-top // buffer.alignment) * buffer.alignment
            top = offset + buffer.footprint
            placement = Placement(buffer.id, None, offset)
        placements.append(placement)
    return repacked(problem, replace(made, placements=tuple(placements), arena=top))
