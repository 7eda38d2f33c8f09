"""Feasibility by CP-SAT, where the package `ortools` is installed (extra `exact`).

`feasible` asks about buffers in one arena: rectangles, fixed in time and free in offset, which `add_no_overlap_2d` keeps apart.
Fixed search, buffer after buffer in the order of the model, answers far sooner than the solver's own choice.

`improve_bodies` asks about bodies of several rectangles, arena and pools together. A body has one offset in each memory that may
host it, and lies in one of them; its rectangles are fixed in time and stand at a fixed distance from that offset.

The question is always whether all fit below a given capacity, and below a cost where pools have one, never how low either can
get: minimising from scratch finds neither good placements nor bounds on hard instances. What is asked about is halved between
what was refused and the best placement known. One worker and a limit in deterministic time make the answer repeatable for one
version of the solver.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from math import gcd
from typing import Any

from hotdesk.planning.placement.deadline import NO_DEADLINE, Deadline
from hotdesk.planning.placement.instance import Answer, Instance, common_unit
from hotdesk.planning.placement.tied import BodyPlacement, BodyProblem
from hotdesk.planning.problem.numbers import LARGEST_TOTAL
from hotdesk.python.interruptible import interruptible

NODES_PER_EFFORT = 1_000_000
"""What a unit of the solver's deterministic time counts for."""


def available() -> bool:
    """Whether `ortools` can be imported."""
    return find_spec("ortools") is not None


def require() -> None:
    """Raises ImportError, with the line that installs it, unless `ortools` can be imported."""
    if not available():
        raise ImportError(
            "the strategy 'cp-sat' needs the package 'ortools'; install it with: pip install 'hotdesk[exact]'"
        )


def feasible(instance: Instance, capacity: int, effort: float, deadline: Deadline = NO_DEADLINE) -> Answer:
    """Offsets below `capacity` bytes, or the solver's proof that there are none, or neither within `effort`.

    `effort` is in the solver's units of deterministic time, of which one takes about 30 seconds; the deadline holds
    too. `NODES_PER_EFFORT` says what the nodes of the answer stand for: what was spent of the effort. Pinned buffers are
    part of the question. Raises ImportError without `ortools`.
    """
    from ortools.sat.python import cp_model

    unit = common_unit(instance)
    height = capacity // unit
    model: Any = cp_model.CpModel()
    spans: list[Any] = []
    places: list[Any] = []
    offsets: list[Any] = []
    for lower, upper, size, alignment in zip(
        instance.lower, instance.upper, instance.size, instance.alignment, strict=True
    ):
        units = size // unit
        if units > height:
            return Answer(None, exhausted=True, nodes=0)
        step = max(alignment // unit, 1)
        place = model.new_int_var(0, (height - units) // step, "")
        offset = place if step == 1 else step * place
        offsets.append(offset)
        places.append(model.new_fixed_size_interval_var(offset, units, ""))
        spans.append(model.new_fixed_size_interval_var(lower, upper - lower, ""))
    for obstacle in instance.obstacles:
        if obstacle.top > capacity:
            return Answer(None, exhausted=True, nodes=0)
        places.append(
            model.new_fixed_size_interval_var(obstacle.bottom // unit, (obstacle.top - obstacle.bottom) // unit, "")
        )
        spans.append(model.new_fixed_size_interval_var(obstacle.lower, obstacle.upper - obstacle.lower, ""))
    model.add_no_overlap_2d(spans, places)
    solver: Any = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.search_branching = cp_model.FIXED_SEARCH
    solver.parameters.max_deterministic_time = effort
    if (left := deadline.left()) is not None:
        solver.parameters.max_time_in_seconds = left
    status = _solved(solver, model)
    spent = int(solver.response_proto.deterministic_time * NODES_PER_EFFORT)
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        found = tuple(int(solver.value(offset)) * unit for offset in offsets)
        return Answer(found, exhausted=False, nodes=spent)
    return Answer(None, exhausted=status == cp_model.INFEASIBLE, nodes=spent)


def _solved(solver: Any, model: Any) -> Any:
    """What the solver says of a model; KeyboardInterrupt as soon as Ctrl-C is pressed.

    OR-Tools' own handler of the signal ends the search as if time were up, and leaves Python without a handler.
    """
    solver.parameters.catch_sigint_signal = False
    return interruptible(lambda: solver.solve(model), "hotdesk-cp-sat", solver.stop_search)


LARGEST = 4_000
"""Rectangles up to which a model is built."""

_EFFORT = 0.25
"""Of the solver's deterministic time, of which a unit takes about 30 seconds, for one question."""


@dataclass(frozen=True, slots=True)
class Proven:
    """The best placement known, an arena that none is below, and a cost that none within the capacity is below."""

    best: BodyPlacement
    arena: int
    cost: int


def improve_bodies(asked: BodyProblem, best: BodyPlacement, effort: float, deadline: Deadline) -> Proven:
    """Asks at the capacity how little it costs, where that is open, and without a capacity how low the arena is.

    `effort` is deterministic time for all questions together. Without `ortools`, for more than `LARGEST` rectangles, or where
    sums leave the solver's integers, nothing is asked.
    """
    proven = Proven(best, 0, asked.least_cost)
    if best.suffices(asked) or not available() or sum(len(b.rectangles) for b in asked.bodies) > LARGEST:
        return proven
    if _costliest(asked) >= LARGEST_TOTAL:
        return proven
    asking = _Questions(asked, effort, deadline)
    if asked.capacity is None:
        return _lowest_arena(asking, best)
    if best.arena > asked.capacity:
        answer = asking.about(best, asked.capacity, None, 2 * _EFFORT)
        if answer.found is None:
            return Proven(best, asked.capacity + 1 if answer.complete else 0, asked.least_cost)
        best = answer.found
    return _lowest_cost(asking, best, asked.capacity)


def _costliest(asked: BodyProblem) -> int:
    """What it costs to have each body where that costs most."""
    return sum(max((asked.price(k, pool) for pool in hosts), default=0) for k, hosts in enumerate(asked.hosts))


def _lowest_arena(asking: _Questions, best: BodyPlacement) -> Proven:
    asked = asking.asked
    best, proven = _bisect(
        asking,
        best,
        floor=asked.floor,
        unit=1,
        of=lambda placement: placement.arena,
        about=lambda known, target: asking.about(known, target, None),
    )
    return Proven(best, proven, asked.least_cost)


def _lowest_cost(asking: _Questions, best: BodyPlacement, capacity: int) -> Proven:
    """Whatever is borrowed, the cost is a multiple of what divides all prices."""
    asked = asking.asked
    prices = [asked.price(k, pool) for k, hosts in enumerate(asked.hosts) for pool in hosts]
    best, proven = _bisect(
        asking,
        best,
        floor=asked.least_cost,
        unit=gcd(*prices) or 1,
        of=lambda placement: placement.cost,
        about=lambda known, target: asking.about(known, capacity, target),
    )
    return Proven(best, 0, max(proven, asked.least_cost))


def _bisect(
    asking: _Questions,
    best: BodyPlacement,
    *,
    floor: int,
    unit: int,
    of: Callable[[BodyPlacement], int],
    about: Callable[[BodyPlacement, int], _BodiesAnswer],
) -> tuple[BodyPlacement, int]:
    """The placement with the lowest figure `of` that was found, and what none is below by the solver's proof, else 0.

    Asks `about` the floor first. Figures are multiples of `unit`.
    """
    refused, proven, target = floor - 1, 0, floor
    while asking.effort > 0 and refused + 1 < of(best) and not asking.deadline.passed():
        answer = about(best, target)
        if answer.found is not None:
            best = min(best, answer.found, key=of)
        else:
            following = target // unit * unit + unit
            refused = max(refused, following - 1)
            if answer.complete:
                proven = max(proven, following)
            elif target > floor or of(best) - refused <= floor // 200 + 1:
                break
        target = min((refused + of(best)) // 2, of(best) - 1)
    return best, proven


class _Questions:
    """Questions about one problem, and the effort that is left for them."""

    def __init__(self, asked: BodyProblem, effort: float, deadline: Deadline) -> None:
        self.asked, self.effort, self.deadline = asked, effort, deadline

    def about(self, best: BodyPlacement, capacity: int, cost: int | None, effort: float = _EFFORT) -> _BodiesAnswer:
        """Whether all fit into an arena of this capacity, at no more than this cost if there is one; `best` is a hint."""
        answer = _BodiesModel(self.asked, capacity, cost, best).solve(min(self.effort, effort), self.deadline)
        self.effort -= answer.effort
        return answer


@dataclass(frozen=True, slots=True)
class _BodiesAnswer:
    found: BodyPlacement | None
    complete: bool
    effort: float


class _BodiesModel:
    """The question whether all bodies fit, the arena below a capacity, and the cost below a limit.

    Bodies without bytes are no part of it, and stay where they are in the hint.
    """

    def __init__(self, asked: BodyProblem, capacity: int, cost: int | None, hint: BodyPlacement) -> None:
        from ortools.sat.python import cp_model

        self._cp: Any = cp_model
        self._asked = asked
        self._hint = hint
        self._model: Any = cp_model.CpModel()
        self._choices: dict[int, list[tuple[Any, int | None, Any]]] = {}
        self._rectangles: dict[int | None, tuple[list[Any], list[Any]]] = {}
        self._costs: list[Any] = []
        for k, body in enumerate(asked.bodies):
            if body.rectangles:
                self._add_body(k, min(capacity, LARGEST_TOTAL))
        for times, places in self._rectangles.values():
            self._model.add_no_overlap_2d(times, places)
        if self._costs and cost is not None:
            self._model.add(sum(self._costs) <= cost)

    def _add_body(self, k: int, capacity: int) -> None:
        body = self._asked.bodies[k]
        choices: list[tuple[Any, int | None, Any]] = []
        pools = self._asked.problem.pools
        rooms = [
            (None, capacity - body.top),
            *((pool, min(pools[pool].capacity, LARGEST_TOTAL) - body.end) for pool in self._asked.hosts[k]),
        ]
        for pool, highest in rooms:
            if body.pinned is not None:
                if pool is None and body.pinned <= highest:
                    choices.append((self._model.new_constant(1), pool, body.pinned))
            elif highest >= body.phase:
                last = (highest - body.phase) // body.alignment
                steps, chosen = self._model.new_int_var(0, last, ""), self._model.new_bool_var("")
                self._give_hint(k, pool, chosen, steps, last)
                choices.append((chosen, pool, steps * body.alignment + body.phase))
        self._model.add_exactly_one([chosen for chosen, _, _ in choices])
        self._choices[k] = choices
        for chosen, pool, offset in choices:
            times, places = self._rectangles.setdefault(pool, ([], []))
            for r in body.rectangles:
                span = r.upper - r.lower
                times.append(self._model.new_optional_fixed_size_interval_var(r.lower, span, chosen, ""))
                height = r.top - r.bottom
                places.append(self._model.new_optional_fixed_size_interval_var(offset + r.bottom, height, chosen, ""))
            if price := self._asked.price(k, pool):
                self._costs.append(price * chosen)

    def _give_hint(self, k: int, pool: int | None, chosen: Any, steps: Any, last: int) -> None:
        there, offset = self._hint.places[k]
        self._model.add_hint(chosen, there == pool)
        if there == pool:
            self._model.add_hint(
                steps, min((offset - self._asked.bodies[k].phase) // self._asked.bodies[k].alignment, last)
            )

    def solve(self, effort: float, deadline: Deadline) -> _BodiesAnswer:
        """A placement; or none, where `complete` because there is none."""
        solver: Any = self._cp.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.max_deterministic_time = effort
        if (left := deadline.left()) is not None:
            solver.parameters.max_time_in_seconds = left
        status = _solved(solver, self._model)
        spent = solver.response_proto.deterministic_time
        if status not in (self._cp.OPTIMAL, self._cp.FEASIBLE):
            return _BodiesAnswer(None, status == self._cp.INFEASIBLE, spent)
        places = list(self._hint.places)
        arena = cost = 0
        for k, choices in self._choices.items():
            pool, offset = next((p, int(solver.value(at))) for chosen, p, at in choices if solver.value(chosen))
            places[k] = (pool, offset)
            cost += self._asked.price(k, pool)
            if pool is None:
                arena = max(arena, offset + self._asked.bodies[k].top)
        return _BodiesAnswer(BodyPlacement(tuple(places), arena, cost, "cp-sat"), False, spent)
