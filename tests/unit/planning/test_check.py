from dataclasses import replace

import pytest

from hotdesk.planning import Buffer, Placement, Plan, Pool, Problem, check, plan

PROBLEM = Problem(
    (
        Buffer("a", 0, 4, 100),
        Buffer("b", 1, 6, 64),
        Buffer("c", 4, 8, 64),
        Buffer("pin", 0, 8, 64, fixed_offset=256),
        Buffer("lent", 2, 4, 64),
        Buffer("empty", 0, 8, 0),
    ),
    (Pool("p", 100, ((0, 4), (6, 8))),),
)
RIGHT = Plan(
    placements=(
        Placement("a", None, 0),
        Placement("b", None, 128),
        Placement("c", None, 0),
        Placement("pin", None, 256),
        Placement("lent", "p", 0),
        Placement("empty", None, 0),
    ),
    arena=320,
    bound=plan(PROBLEM).bound,
    strategy="by hand",
    no_reuse=512,
)


def move(name: str, pool: str | None, offset: int) -> Plan:
    placements = tuple(Placement(name, pool, offset) if p.buffer_id == name else p for p in RIGHT.placements)
    return replace(RIGHT, placements=placements)


def codes(changed: Plan) -> list[str]:
    return [violation.code for violation in check(PROBLEM, changed)]


def test_a_right_plan_breaks_no_rule() -> None:
    assert check(PROBLEM, RIGHT) == ()


@pytest.mark.parametrize(
    ("name", "pool", "offset", "code"),
    [
        ("b", None, 64, "overlap"),  # a ends at 100, its padding at 128
        ("c", None, 256, "overlap"),
        ("b", None, 160, "misaligned"),
        ("b", None, -64, "negative"),
        ("b", None, 320, "arena"),
        ("pin", None, 192, "pinned"),
        ("pin", "p", 256, "pinned"),
        ("lent", "p", 64, "capacity"),
        ("lent", "q", 0, "pool"),
        ("b", "p", 64, "window"),
        ("c", "p", 0, "window"),
        ("a", "p", 0, "overlap"),
    ],
)
def test_a_planted_fault_is_found(name: str, pool: str | None, offset: int, code: str) -> None:
    assert code in codes(move(name, pool, offset))


def test_the_message_names_buffers_memory_and_step() -> None:
    (violation,) = check(PROBLEM, move("b", None, 64))
    assert violation.buffer_ids == ("a", "b")
    assert violation.message == "'a' and 'b' overlap in the arena at step 1"


def test_an_arena_too_small_is_found() -> None:
    assert codes(replace(RIGHT, arena=319)) == ["arena"]


def test_the_census_counts_every_buffer_once() -> None:
    assert codes(replace(RIGHT, placements=RIGHT.placements[:-1])) == ["missing"]
    assert codes(replace(RIGHT, placements=(*RIGHT.placements, RIGHT.placements[0]))) == ["duplicate"]
    assert codes(replace(RIGHT, placements=(*RIGHT.placements, Placement("x", None, 0)))) == ["unknown"]
    assert codes(replace(RIGHT, placements=RIGHT.placements[::-1])) == ["order"]


def test_an_overlap_with_a_wide_buffer_is_found_past_a_narrow_one() -> None:
    """The wide range starts far below its victim; a neighbour in between must not hide it."""
    problem = Problem((Buffer("wide", 0, 9, 640), Buffer("gone", 0, 1, 64), Buffer("late", 2, 3, 64)))
    places = (Placement("wide", None, 0), Placement("gone", None, 640), Placement("late", None, 512))
    faulty = replace(RIGHT, placements=places, arena=704)
    assert [v.buffer_ids for v in check(problem, faulty)] == [("wide", "late")]
