"""Plans from a file, laid out for the sizes of a call and checked, as `runtime.plans.planner` does with those it makes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hotdesk.artifacts.records import PlanRecord, PlansRecord
from hotdesk.planning.problem.bounds import Bound, lower_bound
from hotdesk.planning.problem.checker import Checker
from hotdesk.planning.problem.plan import Placement, Plan
from hotdesk.planning.sizes.stacking import Stacking, lay_out
from hotdesk.runtime.lowered import Planned
from hotdesk.runtime.plans.problems import accepted, checked, placed, pools_of, problem_of

if TYPE_CHECKING:
    from hotdesk.planning.sizes.on_call import OnCall


class RecordedPlans:
    """The plans of a function as a file has them."""

    __slots__ = ("_all", "_checked", "_fixed", "_function", "_on_call", "_places", "_stackings")

    def __init__(self, function: Planned, record: PlansRecord) -> None:
        """`record` goes together with the function: see `validating.py`."""
        self._function = function
        self._places = placed(function)
        self._fixed = None if record.fixed is None else _plan(record.fixed)
        self._all = record.all
        self._stackings = tuple(Stacking(each.spaces, each.order, each.below) for each in record.stackings)
        self._on_call: tuple[OnCall, Checker] | None = None
        self._checked = False

    def plan(self, sizes: Sequence[int]) -> Plan:
        """Places every allocation of the function for these sizes. Raises PlanError: the check found a fault."""
        if self._fixed is not None:
            if not self._checked:
                checked(problem_of(self._function, sizes), self._fixed)
                self._checked = True
            return self._fixed
        if self._all:
            problem = problem_of(self._function, sizes)
            found = lay_out(self._stackings[0], problem)
            no_reuse = sum(buffer.footprint for buffer in problem.buffers)
            if found is not None and found[1] <= no_reuse:
                bound = lower_bound(problem)
                return checked(problem, Plan(found[0], found[1], bound, "for-all-sizes", no_reuse))
        own, pools = [sizes[place] for place in self._places], pools_of(self._function, sizes)
        planner, checker = self._planner()
        made = planner.plan_sizes(own, pools)
        return accepted(made, checker.check(own, pools, made))

    def _planner(self) -> tuple[OnCall, Checker]:
        if self._on_call is None:
            from hotdesk.planning.sizes.on_call import OnCall  # heuristics, which fixed sizes do without

            problem = problem_of(self._function, [1] * len(self._function.buffers))
            self._on_call = OnCall(problem.buffers, self._function.windows, self._stackings), Checker(problem)
        return self._on_call


def _plan(made: PlanRecord) -> Plan:
    placements = tuple(Placement(each.place, each.pool, each.offset) for each in made.placements)
    bound = Bound(made.bound.bytes, made.bound.step, made.bound.places, made.bound.kind)
    return Plan(placements, made.arena, bound, made.strategy, made.no_reuse)
