import random
import sys
from dataclasses import replace
from itertools import combinations
from types import FrameType
from typing import Any

import numpy as np
import pytest

from hotdesk.planning import STRATEGIES, Buffer, Placement, Pool, Problem, Tie, check, lower_bound, plan
from hotdesk.planning.problem.numbers import LARGEST_STEP


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"lower": 3, "upper": 3}, r"buffer 'x': expected lower < upper, got \[3, 3\)"),
        ({"lower": 4, "upper": 3}, r"expected lower < upper, got \[4, 3\)"),
        ({"size": -1}, "expected a size of 0 bytes or more, got -1"),
        ({"alignment": 0}, "expected an alignment that is a power of two, got 0"),
        ({"alignment": -2}, "expected an alignment that is a power of two, got -2"),
        ({"alignment": 48}, "expected an alignment that is a power of two, got 48"),
        ({"fixed_offset": 32}, "expected a fixed offset that is a multiple of 64, got 32"),
        ({"fixed_offset": -64}, "expected a fixed offset that is a multiple of 64, got -64"),
        ({"size": 4.5}, "buffer 'x': expected an integer for size, got 4.5"),
        ({"lower": "0"}, "buffer 'x': expected an integer for lower, got '0'"),
        ({"alignment": 64.0}, "buffer 'x': expected an integer for alignment, got 64.0"),
        ({"fixed_offset": 0.5}, "buffer 'x': expected an integer for fixed offset, got 0.5"),
        ({"upper": 9, "gaps": ((2.5, 3),)}, "buffer 'x': expected an integer for a gap, got 2.5"),
        ({"size": -(10**5000)}, "expected a size of 0 bytes or more, got an integer of 16,610 bits"),
        ({"id": "n" * 5000, "size": -1}, r"buffer 'n{60}'\.\.\. \(5,000 characters\): expected a size"),
    ],
)
def test_buffer_rejects(arguments: dict[str, Any], message: str) -> None:
    fields: dict[str, Any] = {"id": "x", "lower": 0, "upper": 1, "size": 8, **arguments}
    with pytest.raises(ValueError, match=message):
        Buffer(**fields)


def test_what_python_takes_for_an_integer_becomes_one() -> None:
    buffer = Buffer("x", np.int64(0), np.int32(2), np.int64(2**40), np.uint8(64), np.int64(64))  # pyright: ignore[reportArgumentType]
    assert buffer == Buffer("x", 0, 2, 2**40, 64, 64)
    assert {type(n) for n in (buffer.lower, buffer.upper, buffer.size, buffer.alignment, buffer.fixed_offset)} == {int}


@pytest.mark.parametrize(
    ("lower", "upper", "free", "message"),
    [
        (
            0,
            2**63,
            (0, 1),
            r"buffer 'x': expected steps between -1152921504606846976 and .*, got \[0, 9223372036854775808\)",
        ),
        (-(2**60), 0, (0, 1), r"expected steps between .*, got \[-1152921504606846976, 0\)"),
        (0, 2**500, (0, 1), r"expected steps between .*, got \[0, an integer of 501 bits\)"),
        (
            0,
            1,
            (0, 2**70),
            "pool 'p': expected free intervals between .* and 9223372036854775807, got them from 0 to 1180",
        ),
    ],
)
def test_no_plan_is_made_of_steps_beyond_the_limit(lower: int, upper: int, free: tuple[int, int], message: str) -> None:
    problem = Problem(
        (Buffer("x", lower, upper, 8), Buffer("y", 0, 9, 8, 64, None, ((2, 3),))), (Pool("p", 8, (free,)),)
    )
    for asked in (problem, replace(problem, buffers=problem.buffers[:1]), replace(problem, ties=(Tie("x", "y"),))):
        with pytest.raises(ValueError, match=message):
            plan(asked)
        with pytest.raises(ValueError, match=message):
            lower_bound(asked)


def test_steps_up_to_the_limit_are_planned() -> None:
    early, late = Buffer("a", 1 - LARGEST_STEP, 0, 4, 1), Buffer("b", -1, LARGEST_STEP - 1, 4, 1)
    holey = Buffer("c", 1 - LARGEST_STEP, LARGEST_STEP - 1, 4, 1, None, ((-5, 5),))
    always = Pool("p", 4, ((-(2**63) + 1, 2**63 - 1),), 1)
    for problem in (
        Problem((early, late)),
        Problem((early, late), (always,)),
        Problem((early, late, holey), (always,)),
    ):
        for strategy in STRATEGIES:
            for capacity in (None, 4):
                result = plan(problem, strategy=strategy, capacity=capacity, effort=1000)
                assert check(problem, result) == ()


def test_figures_of_any_size_are_planned() -> None:
    """What is borrowed, what it costs and what takes no bytes have no limit of their own."""
    buffers = (
        *(Buffer("a", 0, 4, 6, 1, None, ((1, 2),)), Buffer("b", 1, 3, 5, 1), Buffer("c", 2, 4, 3, 1)),
        *(Buffer("d", 0, 1, 0, 2**70), Buffer("e", 0, 1, 0, 1, 2**70)),
    )
    for kept in (buffers, buffers[1:]):
        for pool in (Pool("p", 2**70, ((0, 4),)), Pool("p", 8, ((0, 4),), 2**70), Pool("p", 2**70, ((0, 4),), 2**70)):
            problem = Problem(kept, (pool,))
            for strategy in STRATEGIES:
                for capacity in (None, 5, 2**70):
                    result = plan(problem, strategy=strategy, capacity=capacity, effort=2000)
                    assert check(problem, result) == ()


@pytest.mark.parametrize(
    ("size", "alignment", "footprint"), [(0, 64, 0), (1, 64, 64), (64, 64, 64), (65, 64, 128), (7, 1, 7)]
)
def test_footprint_is_the_size_rounded_up(size: int, alignment: int, footprint: int) -> None:
    assert Buffer(0, 0, 1, size, alignment).footprint == footprint


@pytest.mark.parametrize(
    ("capacity", "free", "message"),
    [
        (-1, ((0, 1),), "pool 'p': expected a capacity of 0 bytes or more, got -1"),
        (8, ((2, 2),), r"expected a free interval with start < end, got \[2, 2\)"),
        (8, ((4, 6), (0, 2)), "in order and disjoint, got one that starts at 0 before 6"),
        (8, ((0, 3), (2, 4)), "in order and disjoint, got one that starts at 2 before 3"),
        (8, ((0, 3), (3, 5), (4, 6)), "in order and disjoint, got one that starts at 4 before 5"),
        (8, ((0.5, 2),), "pool 'p': expected an integer for a free interval, got 0.5"),
        (8.5, ((0, 2),), "pool 'p': expected an integer for capacity, got 8.5"),
    ],
)
def test_pool_rejects(capacity: Any, free: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Pool("p", capacity, free)


def test_intervals_that_touch_are_one() -> None:
    pool = Pool("p", 8, ((0, 1), (1, 2), (2, 3), (5, 6)))
    assert pool.free == ((0, 3), (5, 6))
    problem = Problem((Buffer("over", 1, 3, 8, 1),), (Pool("p", 8, ((1, 2), (2, 3))),))
    result = plan(problem)
    assert result.placements == (Placement("over", "p", 0),)
    assert result.arena == 0
    assert check(problem, result) == ()


def test_a_tie_needs_a_whole_offset() -> None:
    with pytest.raises(ValueError, match="the tie of 'a' to 'b': expected an integer for offset, got 1.5"):
        Tie("a", "b", 1.5)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"time_limit": float("nan")}, "expected a time limit of 0 or more, got nan"),
        ({"time_limit": -1}, "expected a time limit of 0 or more, got -1"),
        ({"effort": 0.5}, "plan: expected an integer for effort, got 0.5"),
        ({"capacity": 4.5}, "plan: expected an integer for capacity, got 4.5"),
        ({"capacity": -1}, "expected a capacity of 0 or more, got -1"),
    ],
)
def test_plan_rejects(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plan([Buffer("x", 0, 1, 8)], **arguments)


def test_problem_rejects_repeated_ids() -> None:
    with pytest.raises(ValueError, match="expected every buffer id once, got 'x' twice"):
        Problem((Buffer("x", 0, 1, 8), Buffer("x", 1, 2, 8)))
    with pytest.raises(ValueError, match="expected every pool id once, got 0 twice"):
        Problem((), (Pool(0, 8, ()), Pool(0, 8, ())))


def test_problem_rejects_pinned_buffers_that_collide() -> None:
    with pytest.raises(ValueError, match="to lie apart, got 'a' and 'b' at 0 and 64"):
        Problem((Buffer("a", 0, 2, 65, fixed_offset=0), Buffer("b", 1, 3, 1, fixed_offset=64)))


def test_problem_accepts_pinned_buffers_that_never_meet() -> None:
    Problem((Buffer("a", 0, 2, 65, fixed_offset=0), Buffer("b", 2, 3, 1, fixed_offset=64)))
    Problem((Buffer("a", 0, 2, 64, fixed_offset=0), Buffer("b", 1, 3, 1, fixed_offset=64)))


@pytest.mark.parametrize("seed", range(100))
def test_pinned_buffers_collide_where_a_pair_of_them_does(seed: int) -> None:
    draw = random.Random(seed)
    buffers: list[Buffer] = []
    for i in range(5):
        lower = draw.randrange(6)
        upper = draw.randint(lower + 1, 8)
        gaps = ((lower + 1, upper - 1),) if upper - lower > 2 and draw.random() < 0.3 else ()
        buffers.append(Buffer(i, lower, upper, draw.randrange(4), 1, draw.randrange(14), gaps))
    collide = any(
        set(range(a.lower, a.upper)).difference(*(range(*gap) for gap in a.gaps))
        & set(range(b.lower, b.upper)).difference(*(range(*gap) for gap in b.gaps))
        and set(range(a.fixed_offset or 0, (a.fixed_offset or 0) + a.size))
        & set(range(b.fixed_offset or 0, (b.fixed_offset or 0) + b.size))
        for a, b in combinations(buffers, 2)
    )
    if collide:
        with pytest.raises(ValueError, match="expected pinned buffers that are live together to lie apart"):
            Problem(tuple(buffers))
    else:
        assert check(Problem(tuple(buffers)), plan(buffers)) == ()


def test_pinned_buffers_are_compared_with_those_beside_them() -> None:
    """All live at once, twice as many take little more than twice the work."""

    def work(count: int) -> int:
        buffers = tuple(Buffer(i, i % 3, 9, 64, 64, 64 * (i * 7 % count)) for i in range(count))
        lines = 0

        def counting(frame: FrameType, event: str, _: object) -> Any:
            nonlocal lines
            lines += event == "line"
            return counting

        before = sys.gettrace()
        sys.settrace(counting)
        try:
            Problem(buffers)
        finally:
            sys.settrace(before)
        return lines

    assert work(400) < 2.2 * work(200)


def test_problem_rejects_sizes_beyond_its_integers() -> None:
    with pytest.raises(ValueError, match="expected sizes that sum to less than"):
        Problem((Buffer("a", 0, 1, 1 << 59), Buffer("b", 0, 1, 1 << 59)))
    with pytest.raises(
        ValueError, match="expected sizes that sum to less than .* bytes, got an integer of 16,610 bits"
    ):
        Problem((Buffer("a", 0, 1, 10**5000, 1),))
