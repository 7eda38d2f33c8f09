"""What was decided about one tensor that control flow passes on."""

from __future__ import annotations

from dataclasses import dataclass, field

from hotdesk.analysis.in_place.interference import Clash, Conflict
from hotdesk.explain import Reason
from hotdesk.program.records import FlowEdge


@dataclass(frozen=True, slots=True)
class FlowDecision:
    """Whether what an op passes on is copied into its target's place, why, and the number of the op behind the reason."""

    edge: FlowEdge
    copied: bool
    reason: Reason
    conflict: int | None = None
    clash: Clash | None = field(default=None, compare=False)

    @staticmethod
    def of(edge: FlowEdge, conflict: Conflict | None) -> FlowDecision:
        """It lies where its target lies, or is copied there because of a conflict."""
        if conflict is None:
            return FlowDecision(edge, False, Reason.DIES_HERE)
        return FlowDecision(edge, True, conflict.reason, conflict.op, conflict.clash)
