import random

import pytest

from hotdesk.planning import Buffer, Problem, check, plan
from hotdesk.planning.placement.decompose import decompose, solve_parts
from hotdesk.planning.placement.instance import ArenaLayout, Instance, build_instance
from hotdesk.planning.placement.skyline import SKYLINE_ORDERS, find_neighbours, skyline, skyline_in_arrays

LAYER = ((0, 2, 30), (1, 4, 20), (2, 5, 10), (3, 5, 40))


def layers(count: int, *spanning: int) -> Problem:
    """`count` equal layers one after the other, and buffers that are live all the time."""
    buffers = [Buffer(f"weight{k}", 0, 5 * count, size, 1) for k, size in enumerate(spanning)]
    for n in range(count):
        buffers += [Buffer(f"{n}.{k}", 5 * n + a, 5 * n + b, size, 1) for k, (a, b, size) in enumerate(LAYER)]
    return Problem(tuple(buffers))


def test_what_is_live_all_the_time_lies_on_the_ground() -> None:
    found = decompose(build_instance(layers(3, 7, 5)))
    assert found.settled == {0: 0, 1: 7}
    assert [part.ground for part in found.parts] == [12, 12, 12]
    assert [len(part.members) for part in found.parts] == [4, 4, 4]


def test_grounds_within_grounds() -> None:
    """Behind the cut, `inner` is live all the time, and what is above it falls apart again."""
    inner = [Buffer("inner", 3, 9, 4, 1), Buffer("x", 3, 6, 2, 1), Buffer("y", 6, 9, 2, 1)]
    problem = Problem((Buffer("whole", 0, 9, 8, 1), Buffer("before", 0, 3, 1, 1), *inner))
    result = plan(problem)
    assert {p.buffer_id: p.offset for p in result.placements} == {"whole": 0, "before": 8, "inner": 8, "x": 12, "y": 12}
    assert result.proven_optimal


def test_equal_layers_are_planned_once() -> None:
    calls: list[Instance] = []

    def solve(part: Instance) -> ArenaLayout:
        calls.append(part)
        return skyline(part, find_neighbours(part), range(len(part)), "given")

    instance = build_instance(layers(50, 9))
    layout = solve_parts(instance, solve)
    assert len(calls) == 1
    assert layout.strategy == "given"
    assert layout.arena == instance.floor == 9 + 70


def test_parts_need_not_be_lower_than_the_highest() -> None:
    floors: list[int] = []

    def solve(part: Instance) -> ArenaLayout:
        floors.append(part.floor)
        return ArenaLayout((0,) * len(part), part.floor, "given")

    low = [Buffer(k, 5 + lower, 5 + upper, size // 10, 1) for k, (lower, upper, size) in enumerate(LAYER)]
    solve_parts(build_instance(Problem((*layers(1).buffers, *low))), solve)
    assert floors == [70, 70]


def test_a_pinned_buffer_stands_in_each_part_that_it_meets() -> None:
    problem = Problem((*layers(3, 8).buffers, Buffer("pin", 4, 9, 5, 1, fixed_offset=3)))
    found = decompose(build_instance(Problem(tuple(b for b in problem.buffers if b.id != "weight0"))))
    assert found.settled == {}
    taken = [[(o.lower, o.upper, o.bottom, o.top) for o in part.instance.obstacles] for part in found.parts]
    assert taken == [[(4, 5, 3, 8)], [(0, 4, 3, 8)], []]
    assert decompose(build_instance(problem)).settled == {}
    result = plan(problem, strategy="exact")
    assert check(problem, result) == ()
    assert result.arena == result.bound.bytes == 8 + 70 + 5 + 3  # below the pinned one there is no room for any


def test_parts_around_what_is_pinned_reach_as_high_as_it_does() -> None:
    """The pinned buffer is live with nothing; what is before it and behind has parts of its own."""
    problem = Problem((Buffer("a", 0, 1, 4, 1), Buffer("pin", 1, 2, 6, 1, fixed_offset=10), Buffer("b", 2, 3, 9, 1)))
    result = plan(problem)
    assert (result.arena, result.bound.kind) == (16, "pinned")
    assert check(problem, result) == ()
    assert len(decompose(build_instance(problem)).parts) == 0


def test_padding_keeps_buffers_off_the_ground() -> None:
    problem = Problem((Buffer("odd", 0, 4, 3, 1), Buffer("even", 0, 2, 8, 8), Buffer("other", 2, 4, 8, 8)))
    assert decompose(build_instance(problem)).settled == {}
    assert check(problem, plan(problem)) == ()


@pytest.mark.parametrize("pinned", [False, True])
@pytest.mark.parametrize("name", SKYLINE_ORDERS)
@pytest.mark.parametrize("seed", range(5))
def test_floors_looked_up_are_floors_kept(name: str, seed: int, pinned: bool) -> None:
    """The skyline without lists of neighbours is the skyline with them."""
    rng = random.Random(seed)
    starts = [rng.randrange(100) for _ in range(150)]
    buffers = (
        Buffer(i, s, s + rng.randrange(1, 30), rng.randrange(1, 999), rng.choice((1, 8))) for i, s in enumerate(starts)
    )
    pins = [Buffer("a", 0, 60, 2000, 8, 4000), Buffer("b", 50, 99, 640, 8, 0)] if pinned else []
    instance = build_instance(Problem((*buffers, *pins)))
    order = SKYLINE_ORDERS[name](instance)
    with_lists = skyline(instance, find_neighbours(instance), order, name)
    assert skyline_in_arrays(instance, order, name) == with_lists
    assert skyline_in_arrays(instance, order, name, with_lists.arena) == with_lists
    assert skyline_in_arrays(instance, order, name, with_lists.arena - 1) is None
    assert skyline_in_arrays(instance, order, name, work=100_000) is None
    assert skyline_in_arrays(instance, order, name, work=30_000_000) == with_lists
