"""What the arena planner answers: one placement a buffer, the arena they need, and how far that is from the bound."""

from __future__ import annotations

from dataclasses import dataclass, field

from hotdesk.planning.problem.bounds import Bound
from hotdesk.planning.problem.buffers import BufferId, PoolId


@dataclass(frozen=True, slots=True)
class Placement:
    """`buffer_id` starts at byte `offset` of the pool `pool`, or of the arena when `pool` is None."""

    buffer_id: BufferId
    pool: PoolId | None
    offset: int


@dataclass(frozen=True, slots=True)
class Plan:
    """Placements in the problem's order, and their figures in bytes.

    `arena` is what must be allocated, `bound` what any plan must allocate, `no_reuse` what it would take if no two
    buffers shared a byte and nothing was borrowed. `strategy` names the rule that found the placements, `seconds` is the
    wall time that took, and no part of what makes two plans equal. `bound` is the certificate: what proves it, at which
    step, by which buffers. `cost` is what the loans cost, `least_cost` what any plan costs whose arena has the capacity that
    was asked for.
    """

    placements: tuple[Placement, ...]
    arena: int
    bound: Bound
    strategy: str
    no_reuse: int
    seconds: float = field(default=0.0, compare=False)
    cost: int = 0
    least_cost: int = 0

    @property
    def gap(self) -> float:
        """How far the arena lies above the bound: 0.25 means a quarter more.

        0 when both are 0, infinite for an arena above a bound of 0.
        """
        if self.bound.bytes:
            return self.arena / self.bound.bytes - 1
        return float("inf") if self.arena else 0.0

    @property
    def proven_optimal(self) -> bool:
        """Whether the arena meets the bound, so that no plan is smaller."""
        return self.arena == self.bound.bytes

    @property
    def proven_cheapest(self) -> bool:
        """Whether no plan within the capacity that was asked for costs less."""
        return self.cost == self.least_cost
