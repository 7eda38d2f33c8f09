"""CP-SAT on bodies of several rectangles: questions below a capacity and a cost, from a placement that is known."""

from __future__ import annotations

import random
from typing import Any

import pytest

from hotdesk.planning import Buffer, Pool, Problem, Tie, check, plan
from hotdesk.planning.bodies import bodies_of
from hotdesk.planning.deadline import NO_DEADLINE
from hotdesk.planning.rigid import Rigid, RigidProblem
from hotdesk.planning.rigid_cpsat import Proven, improve_rigid

cp_model: Any = pytest.importorskip("ortools.sat.python.cp_model")

LEFT, RIGHT = (Buffer(name, 0, 4, 6, 1, None, (gap,)) for name, gap in (("left", (1, 2)), ("right", (2, 3))))


def improved(problem: Problem, capacity: int | None = None) -> Proven:
    """From every body on top of the others in the arena."""
    bodies = bodies_of(problem.buffers, problem.ties)
    places: list[tuple[int | None, int]] = []
    top = 0
    for body in bodies:
        at = body.pinned if body.pinned is not None else top + (body.phase - top) % body.alignment
        places.append((None, at))
        top = max(top, at + body.top if body.rectangles else 0)
    asked = RigidProblem.of(problem, bodies, capacity, 0, 0)
    return improve_rigid(asked, Rigid(tuple(places), top, 0, "apart"), 1.0, NO_DEADLINE)


def test_what_takes_no_bytes_has_no_part_in_the_question() -> None:
    """No room is left for it below the least arena, and none is needed."""
    empty = (Buffer("a", 0, 1, 0, 4), Buffer("b", 0, 1, 0, 2, 106))
    guests = (Buffer("g", 1, 2, 6, 1), Buffer("h", 2, 3, 6, 1))
    found = improved(Problem((LEFT, *empty, *guests, RIGHT), (), (Tie("a", "b", 2),)))
    assert (found.best.arena, found.arena) == (12, 12)
    assert found.best.places[1] == (None, 106)


def test_minimising_is_left_to_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a question of feasibility was expected")

    monkeypatch.setattr(cp_model.CpModel, "minimize", refuse)
    found = improved(Problem((LEFT, RIGHT, Buffer("x", 1, 3, 5, 1)), (Pool("p", 11, ((0, 4),), 3),)), 6)
    assert (found.best.arena, found.best.cost, found.cost) == (6, 33, 33)


@pytest.mark.parametrize("cost", [1, 7, 2**55, 2**70])
def test_the_least_cost_is_found_and_proven(cost: int) -> None:
    """Of six, five and four bytes beside six, the four go where it costs; from there on the solver's integers are too small."""
    buffers = (LEFT, Buffer("x", 0, 4, 5, 1), Buffer("y", 0, 4, 4, 1))
    problem = Problem(buffers, (Pool("p", 2**70, ((0, 4),), cost),))
    found = improved(problem, 11)
    if cost == 2**70:
        assert found.best.strategy == "apart"
        return
    assert (found.best.arena, found.best.cost, found.cost) == (11, 4 * cost, 4 * cost)
    made = plan(problem, strategy="exact", capacity=11)
    assert check(problem, made) == ()
    assert (made.arena, made.cost, made.proven_cheapest) == (11, 4 * cost, True)


@pytest.mark.parametrize("seed", range(4))
def test_costs_are_least_where_the_solver_says_so_when_asked_to_minimise(seed: int) -> None:
    rng = random.Random(seed)
    buffers = [Buffer("tall", 0, 6, 9, 1, None, ((2, 4),))]
    for i in range(6):
        lower = rng.randrange(5)
        buffers.append(Buffer(i, lower, lower + 1 + rng.randrange(4), rng.randint(1, 9), 1))
    pools = (Pool("near", 12, ((0, 9),), 2), Pool("far", 90, ((0, 9),), 5))
    problem = Problem(tuple(buffers), pools)
    made = plan(problem, strategy="exact", capacity=10)
    assert check(problem, made) == ()
    assert made.arena <= 10
    assert (made.cost, made.least_cost) == (minimised(problem, 10),) * 2


def minimised(problem: Problem, capacity: int) -> int:
    """The least cost, by a model of its own."""
    model: Any = cp_model.CpModel()
    memories = [(capacity, 0), *((pool.capacity, pool.cost) for pool in problem.pools)]
    rectangles: list[tuple[list[Any], list[Any]]] = [([], []) for _ in memories]
    costs: list[Any] = []
    for buffer in problem.buffers:
        chosen = [model.new_bool_var("") for _ in memories]
        model.add_exactly_one(chosen)
        for (room, cost), (steps, bytes_), here in zip(memories, rectangles, chosen, strict=True):
            offset = model.new_int_var(0, max(room - buffer.size, 0), "")
            model.add(offset + buffer.size <= room).only_enforce_if(here)
            for start, end in buffer.live:
                steps.append(model.new_optional_fixed_size_interval_var(start, end - start, here, ""))
                bytes_.append(model.new_optional_fixed_size_interval_var(offset, buffer.size, here, ""))
            costs.append(cost * buffer.size * here)
    for steps, bytes_ in rectangles:
        model.add_no_overlap_2d(steps, bytes_)
    model.minimize(sum(costs))
    solver: Any = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    assert solver.solve(model) == cp_model.OPTIMAL
    return int(solver.objective_value)
