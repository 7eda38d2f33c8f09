"""What is tied, as bodies, and how it is planned."""

from dataclasses import replace

import pytest

from hotdesk.planning import Buffer, Placement, Pool, Problem, Tie, Violation, adjacent, check, lower_bound, plan
from hotdesk.planning.problem import bounds
from hotdesk.planning.problem.bodies import Rectangle, bodies_of

PARTS = (Buffer("a", 0, 6, 64), Buffer("b", 2, 6, 128), Buffer("c", 4, 6, 64))


def test_a_buffer_with_gaps_is_a_rectangle_for_each_stretch() -> None:
    (body,) = bodies_of((Buffer("a", 0, 9, 10, 4, None, ((2, 3), (5, 8))),), ())
    assert body.rectangles == (Rectangle(0, 2, 0, 12), Rectangle(3, 5, 0, 12), Rectangle(8, 9, 0, 12))
    assert (body.end, body.top) == (10, 12)


def test_a_value_that_is_updated_in_place_is_one_rectangle() -> None:
    buffers = (Buffer("x", 0, 3, 64), Buffer("y", 2, 5, 64), Buffer("z", 4, 7, 64))
    (body,) = bodies_of(buffers, (Tie("y", "x"), Tie("z", "y")))
    assert body.rectangles == (Rectangle(0, 7, 0, 64),)


def test_parts_of_a_concatenation_leave_room_until_they_are_written() -> None:
    (body,) = bodies_of(PARTS, adjacent(PARTS))
    assert body.members == ((0, 0), (1, 64), (2, 192))
    assert body.rectangles == (Rectangle(0, 2, 0, 64), Rectangle(2, 4, 0, 192), Rectangle(4, 6, 0, 256))


def test_others_lie_where_a_part_is_not_written_yet() -> None:
    problem = Problem((*PARTS, Buffer("early", 0, 2, 192), Buffer("later", 2, 4, 64)), (), adjacent(PARTS))
    result = plan(problem)
    assert check(problem, result) == ()
    assert result.arena == result.bound.bytes == 256
    assert [p.offset for p in result.placements] == [0, 64, 192, 64, 192]


def test_others_lie_in_a_gap() -> None:
    holder = Buffer("holder", 0, 8, 100, 1, None, ((2, 6),))
    problem = Problem((holder, Buffer("guest", 2, 6, 100, 1)))
    result = plan(problem)
    assert check(problem, result) == ()
    assert (result.arena, result.proven_optimal) == (100, True)
    assert plan(Problem((replace(holder, gaps=()), problem.buffers[1]))).arena == 200


@pytest.mark.parametrize("pin", [None, 2, 106])
@pytest.mark.parametrize("others", [(), (Buffer("c", 0, 1, 5, 1), Buffer("d", 0, 1, 5, 1))])
def test_what_takes_no_bytes_still_lies_where_its_ties_and_alignments_say(
    pin: int | None, others: tuple[Buffer, ...]
) -> None:
    empty = (Buffer("a", 0, 1, 0, 4), Buffer("b", 0, 1, 0, 2, pin))
    problem = Problem((*empty, *others), (), (Tie("a", "b", 2),))
    for strategy in ("portfolio", "exact", "no-reuse"):
        result = plan(problem, strategy=strategy)
        assert check(problem, result) == ()
        assert result.arena == result.bound.bytes == sum(b.size for b in others)


def test_a_view_takes_no_bytes_of_its_own() -> None:
    problem = Problem((Buffer("whole", 0, 4, 256), Buffer("view", 1, 3, 64)), (), (Tie("view", "whole", 128),))
    result = plan(problem)
    assert result.placements == (Placement("whole", None, 0), Placement("view", None, 128))
    assert result.arena == lower_bound(problem).bytes == 256


def test_the_strictest_member_says_where_a_body_may_lie() -> None:
    """The head has four bytes, what follows is aligned to eight: the head starts four bytes after a multiple of eight."""
    head, body = Buffer("head", 0, 2, 4, 4), Buffer("body", 0, 2, 8, 8)
    problem = Problem((head, body), (), adjacent((head, body)))
    result = plan(problem)
    assert [p.offset for p in result.placements] == [4, 8]
    assert check(problem, result) == ()
    assert (result.bound.kind, result.bound.bytes, result.arena) == ("tied", 16, 16)


def test_what_is_tied_to_a_pinned_buffer_is_pinned() -> None:
    buffers = (Buffer("pin", 0, 2, 64, fixed_offset=64), Buffer("tied", 1, 3, 64), Buffer("free", 1, 3, 64))
    problem = Problem(buffers, (), (Tie("tied", "pin", 64),))
    result = plan(problem)
    assert [p.offset for p in result.placements] == [64, 128, 0]
    assert check(problem, result) == ()


def test_bodies_borrow_as_a_whole() -> None:
    problem = Problem(PARTS, (Pool("small", 255, ((0, 9),)), Pool("large", 256, ((0, 9),))), adjacent(PARTS))
    result = plan(problem)
    assert {p.pool for p in result.placements} == {"large"}
    assert (result.arena, result.proven_optimal) == (0, True)


@pytest.mark.parametrize(
    ("ties", "message"),
    [
        ((Tie("a", "nobody"),), "expected ties between buffers of the problem, got one of 'nobody'"),
        ((Tie("b", "a", 64), Tie("b", "a")), "expected ties that agree, got 'b' both (0|64) and (0|64) bytes from 'a'"),
        ((Tie("a", "a", 1),), "expected ties that agree, got 'a' both 0 and 1 bytes from 'a'"),
        ((Tie("b", "a", 8),), "expected ties that keep alignments, got '.', aligned to 64, 8 bytes from '.', aligned"),
        ((Tie("pin", "a", 64), Tie("other", "a", 64)), "expected fixed offsets that agree with the ties, got "),
        ((Tie("a", "pin", -192),), "expected what is tied to 'pin' at offset 0 or above, got -64"),
        ((Tie("a", "pin", 64), Tie("b", "other")), "pinned buffers that are live together to lie apart"),
    ],
)
def test_ties_that_no_plan_keeps(ties: tuple[Tie, ...], message: str) -> None:
    pin, other = Buffer("pin", 0, 9, 64, fixed_offset=128), Buffer("other", 0, 9, 64, fixed_offset=192)
    with pytest.raises(ValueError, match=message):
        Problem((*PARTS, pin, other), (), ties)


def test_the_checker_tells_broken_ties() -> None:
    problem = Problem(PARTS, (), adjacent(PARTS))
    right = plan(problem)
    placements = (right.placements[0], Placement("b", None, 128), right.placements[2])
    assert check(problem, replace(right, placements=placements)) == (
        Violation("tied", ("a", "b"), "'b' is at 128, not 64 bytes after 'a' at 0"),
        Violation("tied", ("b", "c"), "'c' is at 192, not 128 bytes after 'b' at 128"),
    )


def test_the_checker_tells_a_wrong_cost() -> None:
    problem = Problem((Buffer("a", 0, 1, 64),), (Pool("p", 64, ((0, 1),), cost=3),))
    right = plan(problem, capacity=0)
    assert (right.cost, right.least_cost, right.arena) == (192, 192, 0)
    assert check(problem, right) == ()
    assert check(problem, replace(right, cost=191)) == (Violation("cost", (), "the loans cost 192, the plan says 191"),)


def test_only_what_does_not_fit_goes_where_it_costs() -> None:
    pools = (Pool("dear", 1024, ((0, 9),), cost=5), Pool("cheap", 128, ((0, 9),), cost=1))
    problem = Problem((Buffer("a", 0, 2, 128), Buffer("b", 1, 3, 128), Buffer("c", 1, 3, 192)), pools)
    assert plan(problem).cost == 0
    assert plan(problem, capacity=448).cost == 0
    result = plan(problem, capacity=320)
    assert (result.cost, result.arena <= 320, result.proven_cheapest) == (128, True, True)
    assert "cheap" in {p.pool for p in result.placements}
    assert plan(problem, capacity=0, strategy="exact").cost == 128 + 5 * (128 + 192)


def test_bytes_below_a_body_that_nobody_needs_are_free_to_others() -> None:
    """An empty view one byte before a buffer keeps it off the ground; the bound counts no byte there."""
    buffers = (Buffer("a", 0, 1, 1, 1), Buffer("b", 0, 1, 1, 1), Buffer("empty", 0, 1, 0, 1))
    problem = Problem(buffers, (), (Tie("empty", "a", -1),))
    result = plan(problem)
    assert check(problem, result) == ()
    assert (result.bound.bytes, result.arena) == (2, 2)
    assert [p.offset for p in result.placements] == [1, 0, 0]


def test_the_search_leaves_pinned_bodies_where_they_are() -> None:
    """A pinned body reaches the top of the arena, so it is in the way, but it is none of those that move."""
    buffers = (Buffer(0, 0, 1, 2, 1, 0), Buffer(1, 0, 1, 0, 1), Buffer(2, 0, 1, 2, 1), Buffer(3, 0, 1, 1, 2))
    problem = Problem(buffers, (Pool("p", 3, ((0, 8),), cost=1),), (Tie(1, 0, 2),))
    result = plan(problem, capacity=3)
    assert check(problem, result) == ()
    assert (result.arena, result.placements[0]) == (2, Placement(0, None, 0))


def test_costs_of_parts_that_never_meet_add_up() -> None:
    buffers = tuple(Buffer(i, 2 * i, 2 * i + 2, 64) for i in range(5))
    problem = Problem(buffers, (Pool("p", 64, ((0, 99),), cost=2),))
    assert bounds.least_cost(problem, bodies_of(buffers, ()), 0) == 5 * 128
    assert plan(problem, capacity=0).cost == 5 * 128


def test_where_time_is_out_no_two_bodies_share_a_byte() -> None:
    buffers = tuple(Buffer(i, i, i + 9, 64, 1, None, ((i + 2, i + 5),)) for i in range(300))
    problem = Problem(buffers)
    result = plan(problem, time_limit=0)
    assert (result.strategy, result.arena) == ("no-reuse", 300 * 64)
    assert check(problem, result) == ()
    assert plan(problem).arena < 10 * 64
