"""Feasibility by CP-SAT, where the package `ortools` is installed (extra `exact`).

Buffers are rectangles, fixed in time and free in offset; `add_no_overlap_2d` keeps them apart. The question is always
whether they fit below a given capacity, never how low they can get: minimising from scratch finds neither good
placements nor bounds on hard instances. Fixed search, buffer after buffer in the order of the model, answers far sooner
than the solver's own choice. One worker and a limit in deterministic time make the answer repeatable for one version of
the solver.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from hotdesk.planning.beam import Answer
from hotdesk.planning.deadline import NO_DEADLINE, Deadline
from hotdesk.planning.instance import Instance, common_unit

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
    status = solver.solve(model)
    spent = int(solver.response_proto.deterministic_time * NODES_PER_EFFORT)
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        found = tuple(int(solver.value(offset)) * unit for offset in offsets)
        return Answer(found, exhausted=False, nodes=spent)
    return Answer(None, exhausted=status == cp_model.INFEASIBLE, nodes=spent)
