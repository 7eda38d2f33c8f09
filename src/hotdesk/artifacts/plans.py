"""Plans that a file holds: `laying_out.py`, which lays them out, is imported when the first one is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hotdesk.artifacts.records import PlansRecord
from hotdesk.runtime.lowered import Planned

if TYPE_CHECKING:
    from hotdesk.artifacts.laying_out import RecordedPlans
    from hotdesk.planning.problem.plan import Plan


class MadePlans:
    """The plans of a function: implements `runtime.function.Plans`."""

    __slots__ = ("_function", "_plans", "_record", "made")

    def __init__(self, function: Planned, record: PlansRecord) -> None:
        """`record` goes together with the function: see `validating.py`."""
        self._function = function
        self._record = record
        self._plans: RecordedPlans | None = None
        self.made = 0

    def prepare(self) -> object:
        """What does not depend on the sizes of a call."""
        return self._record

    @property
    def serves_all_sizes(self) -> bool:
        return self.made > 0 and self._record.all

    def plan(self, sizes: Sequence[int]) -> Plan:
        """Places every allocation of the function for these sizes. Raises PlanError: the check found a fault."""
        self.made = 1 if self._record.all else self.made + 1
        if self._plans is None:
            from hotdesk.artifacts.laying_out import RecordedPlans

            self._plans = RecordedPlans(self._function, self._record)
        return self._plans.plan(sizes)
