"""CP-SAT on bodies of several rectangles, arena and pools together, where `ortools` is installed (extra `exact`).

A body has one offset in each memory that may host it, and lies in one of them; its rectangles are fixed in time and stand at
a fixed distance from that offset. Whether all fit below a capacity is a question of feasibility; what that costs at least is
minimised. One worker and a limit in deterministic time make the answer repeatable for one version of the solver.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hotdesk.planning.cpsat import available
from hotdesk.planning.deadline import Deadline
from hotdesk.planning.rigid import Rigid, RigidProblem

LARGEST = 4_000
"""Rectangles up to which a model is built."""

_EFFORT = 0.25
"""Of the solver's deterministic time, of which a unit takes about 30 seconds, for one question."""


@dataclass(frozen=True, slots=True)
class Proven:
    """The best placement known, an arena that none is below, and a cost that none within the capacity is below."""

    best: Rigid
    arena: int
    cost: int


def improve_rigid(asked: RigidProblem, best: Rigid, effort: float, deadline: Deadline) -> Proven:
    """Asks at the capacity what it costs, where that is open, and else at the floor and by bisection how low the arena is.

    `effort` is deterministic time for all questions together. Without `ortools`, or for more than `LARGEST` rectangles,
    nothing is asked.
    """
    proven = Proven(best, 0, asked.least_cost)
    if best.suffices(asked) or not available() or sum(len(b.rectangles) for b in asked.bodies) > LARGEST:
        return proven
    if asked.capacity is not None:
        answer = _Model(asked, asked.capacity).solve(min(effort, 2 * _EFFORT), deadline)
        found = answer.found if answer.found is not None else best
        better = min(best, found, key=lambda each: each.score(asked))
        if answer.complete and answer.found is None:
            return Proven(better, asked.capacity + 1, asked.least_cost)
        return Proven(better, 0, answer.found.cost if answer.complete and answer.found else asked.least_cost)
    return _bisect(asked, best, effort, deadline)


def _bisect(asked: RigidProblem, best: Rigid, effort: float, deadline: Deadline) -> Proven:
    refused, proven, capacity = asked.floor - 1, 0, asked.floor
    while effort > 0 and refused + 1 < best.arena and not deadline.passed():
        answer = _Model(asked, capacity).solve(min(effort, _EFFORT), deadline)
        effort -= answer.effort
        if answer.found is not None:
            best = min(best, answer.found, key=lambda each: each.arena)
        else:
            refused = max(refused, capacity)
            if answer.complete:
                proven = max(proven, capacity + 1)
            elif refused > asked.floor or best.arena - refused <= asked.floor // 200 + 1:
                break
        capacity = min((refused + best.arena) // 2, best.arena - 1)
    return Proven(best, proven, asked.least_cost)


@dataclass(frozen=True, slots=True)
class _Answer:
    found: Rigid | None
    complete: bool
    effort: float


class _Model:
    """The question whether all bodies fit, the arena below a capacity, and at what cost if some pools have one."""

    def __init__(self, asked: RigidProblem, capacity: int) -> None:
        from ortools.sat.python import cp_model

        self._cp: Any = cp_model
        self._asked = asked
        self._model: Any = cp_model.CpModel()
        self._choices: list[list[tuple[Any, int | None, Any]]] = []
        self._rectangles: dict[int | None, tuple[list[Any], list[Any]]] = {}
        self._costs: list[Any] = []
        for k in range(len(asked.bodies)):
            self._add_body(k, capacity)
        for times, places in self._rectangles.values():
            self._model.add_no_overlap_2d(times, places)
        if self._costs:
            self._model.minimize(sum(self._costs))

    def _add_body(self, k: int, capacity: int) -> None:
        body = self._asked.bodies[k]
        choices: list[tuple[Any, int | None, Any]] = []
        pools = self._asked.problem.pools
        rooms = [
            (None, capacity - body.top),
            *((pool, pools[pool].capacity - body.end) for pool in self._asked.hosts[k]),
        ]
        for pool, highest in rooms:
            if body.pinned is not None:
                if pool is None and body.pinned <= highest:
                    choices.append((self._model.new_constant(1), pool, body.pinned))
            elif highest >= body.phase:
                steps = self._model.new_int_var(0, (highest - body.phase) // body.alignment, "")
                choices.append((self._model.new_bool_var(""), pool, steps * body.alignment + body.phase))
        self._model.add_exactly_one([chosen for chosen, _, _ in choices])
        self._choices.append(choices)
        for chosen, pool, offset in choices:
            times, places = self._rectangles.setdefault(pool, ([], []))
            for r in body.rectangles:
                span = r.upper - r.lower
                times.append(self._model.new_optional_fixed_size_interval_var(r.lower, span, chosen, ""))
                height = r.top - r.bottom
                places.append(self._model.new_optional_fixed_size_interval_var(offset + r.bottom, height, chosen, ""))
            if price := self._asked.price(k, pool):
                self._costs.append(price * chosen)

    def solve(self, effort: float, deadline: Deadline) -> _Answer:
        """A placement, the cheapest where `complete`; or none, where `complete` because there is none."""
        solver: Any = self._cp.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.max_deterministic_time = effort
        if (left := deadline.left()) is not None:
            solver.parameters.max_time_in_seconds = left
        status = solver.solve(self._model)
        spent = solver.response_proto.deterministic_time
        if status not in (self._cp.OPTIMAL, self._cp.FEASIBLE):
            return _Answer(None, status == self._cp.INFEASIBLE, spent)
        places: list[tuple[int | None, int]] = []
        arena = cost = 0
        for k, choices in enumerate(self._choices):
            pool, offset = next((p, int(solver.value(at))) for chosen, p, at in choices if solver.value(chosen))
            places.append((pool, offset))
            cost += self._asked.price(k, pool)
            if pool is None and self._asked.bodies[k].rectangles:
                arena = max(arena, offset + self._asked.bodies[k].top)
        return _Answer(Rigid(tuple(places), arena, cost, "cp-sat"), status == self._cp.OPTIMAL, spent)
