"""CP-SAT on bodies of several rectangles: questions below a capacity and a cost, from a placement that is known."""

from __future__ import annotations

import random
from typing import Any

import pytest

from hotdesk.planning import Buffer, Pool, Problem, Tie, check, lower_bound, plan
from hotdesk.planning.placement.cpsat import Proven, improve_bodies
from hotdesk.planning.placement.deadline import NO_DEADLINE
from hotdesk.planning.placement.tied import BodyPlacement, BodyProblem
from hotdesk.planning.problem.bodies import bodies_of

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
    asked = BodyProblem.of(problem, bodies, capacity, 0, 0)
    return improve_bodies(asked, BodyPlacement(tuple(places), top, 0, "apart"), 1.0, NO_DEADLINE)


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


@pytest.mark.parametrize("strategy", ["exact", "cp-sat"])
def test_loans_are_chosen_together_with_the_places_beside_them(strategy: str) -> None:
    """The pool takes two bytes and three, one above the other, and the arena four: loans in order of size leave it five."""
    buffers = (Buffer("a", 2, 6, 4, 1), Buffer("b", 3, 5, 2, 1), Buffer("c", 4, 5, 3, 1))
    problem = Problem(buffers, (Pool("p", 5, ((1, 7),)),))
    made = plan(problem, strategy=strategy)
    assert check(problem, made) == ()
    assert plan(problem).arena == 5
    assert (made.arena, made.proven_optimal, made.strategy) == (4, True, "cp-sat")


@pytest.mark.parametrize("strategy", ["exact", "cp-sat"])
def test_what_loans_cannot_reach_is_proven(strategy: str) -> None:
    """Nine bytes at step 5, of which the pool can hold four but not five; the bound by sums believes it can.

    A search tells that, and without one the count of whole loans.
    """
    buffers = (Buffer("a", 4, 6, 4, 1), Buffer("b", 1, 6, 3, 1), Buffer("c", 5, 7, 2, 1))
    problem = Problem(buffers, (Pool("p", 5, ((2, 7),)),))
    made = plan(problem, strategy=strategy)
    assert (lower_bound(problem).bytes, made.arena, made.bound.bytes, made.bound.kind) == (4, 5, 5, "cp-sat")
    assert set(made.bound.buffer_ids) == {"a", "b", "c"}
    counted = plan(problem).bound
    assert (counted.bytes, counted.kind, set(counted.buffer_ids)) == (5, "live", {"a", "b", "c"})
    assert plan(problem, strategy=strategy, capacity=5).arena == 5


def test_a_pool_that_nothing_fits_is_no_obstacle_to_a_proof() -> None:
    """Four stacks that no seven bytes hold: what a search of the arena alone proves stands where nothing can be lent."""
    sizes = ((0, 2, 2), (1, 4, 2), (3, 6, 2), (5, 7, 2), (0, 1, 3), (2, 3, 3), (4, 5, 3), (6, 7, 3))
    buffers = tuple(Buffer(i, lower, upper, size, 1) for i, (lower, upper, size) in enumerate(sizes))
    alone = plan(buffers, strategy="exact")
    beside = plan(Problem(buffers, (Pool("p", 1, ((0, 7),)),)), strategy="exact")
    assert (beside.arena, beside.bound.bytes, beside.proven_optimal) == (alone.arena, alone.bound.bytes, True)


@pytest.mark.parametrize("seed", range(25))
def test_with_pools_the_strategy_exact_finds_the_least_arena(seed: int) -> None:
    draw = random.Random(seed)
    buffers: list[Buffer] = []
    for i in range(draw.randint(3, 5)):
        lower = draw.randrange(6)
        buffers.append(Buffer(i, lower, draw.randint(lower + 1, 7), draw.randint(1, 4), 1))
    since = draw.randrange(3)
    pools = tuple(Pool(f"p{k}", draw.randint(2, 5), ((since, draw.randint(since + 2, 8)),)) for k in range(2))
    problem = Problem(tuple(buffers), pools)
    made = plan(problem, strategy="exact")
    assert check(problem, made) == ()
    assert made.proven_optimal
    assert made.arena == least_arena(buffers, pools)


def least_arena(buffers: list[Buffer], pools: tuple[Pool, ...]) -> int:
    """Every way to place buffers of alignment 1 tried in turn."""

    def fits(arena: int, placed: tuple[tuple[Buffer, object, int], ...], rest: list[Buffer]) -> bool:
        if not rest:
            return True
        one, *others = rest
        rooms: list[tuple[object, int]] = [(None, arena)]
        rooms += [(p.id, p.capacity) for p in pools if p.free[0][0] <= one.lower and one.upper <= p.free[0][1]]
        for room, capacity in rooms:
            for at in range(capacity - one.size + 1):
                clear = all(
                    where != room
                    or other.upper <= one.lower
                    or one.upper <= other.lower
                    or at + one.size <= there
                    or there + other.size <= at
                    for other, where, there in placed
                )
                if clear and fits(arena, (*placed, (one, room, at)), others):
                    return True
        return False

    return next(arena for arena in range(sum(b.size for b in buffers) + 1) if fits(arena, (), buffers))
