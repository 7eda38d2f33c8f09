import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from hotdesk.planning import Buffer, Checker, Placement, Plan, Pool, Problem, Tie, check, plan
from hotdesk.planning.problem import checker

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


def test_what_has_no_bytes_takes_none_of_a_pool() -> None:
    """Tied to what is lent, it lies in the pool, whenever it is needed and however far above."""
    buffers = (Buffer("empty", 0, 9, 0, 2), Buffer("lent", 5, 7, 1, 2))
    problem = Problem(buffers, (Pool("p", 4, ((3, 8),)),), (Tie("empty", "lent", 6),))
    made = plan(problem)
    assert [(p.pool, p.offset) for p in made.placements] == [("p", 6), ("p", 0)]
    assert check(problem, made) == ()
    taking = replace(problem, buffers=(replace(buffers[0], size=1), buffers[1]))
    assert {v.code for v in check(taking, made)} == {"capacity", "window"}


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


@pytest.mark.parametrize("few", [checker.FEW, -1])
def test_what_is_compared_and_what_is_swept_are_the_same_rule(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "FEW", few)
    assert check(PROBLEM, RIGHT) == ()
    (violation,) = check(PROBLEM, move("b", None, 64))
    assert violation.message == "'a' and 'b' overlap in the arena at step 1"
    assert [v.code for v in check(PROBLEM, move("a", "p", 0))] == ["overlap"]


def test_many_at_one_step_are_swept_and_few_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pairs that are compared stay below a number, however many there are."""
    compared: list[int] = []
    original = checker.__dict__["_compared"]

    def spy(pieces: object, later: object) -> object:
        compared.append(len(pieces[0]))  # type: ignore[index]
        return original(pieces, later)

    monkeypatch.setattr(checker, "_compared", spy)
    for count, expected in ((500, [500]), (600, [])):
        compared.clear()
        problem = Problem(tuple(Buffer(i, 0, 9, 64) for i in range(count)))
        made = plan(problem, strategy="skyline/area")
        assert check(problem, made) == ()
        assert compared == expected
        placements = (replace(made.placements[0], offset=made.placements[1].offset), *made.placements[1:])
        assert {v.code for v in check(problem, replace(made, placements=placements))} == {"overlap"}


@pytest.mark.parametrize("seed", range(8))
def test_sizes_beside_a_problem_are_checked_as_those_in_it(seed: int) -> None:
    """Whatever is wrong, the same faults are found, and the sizes in the problem do not count."""
    rng = random.Random(seed)
    found: set[str] = set()
    for _ in range(40):
        count = rng.randint(1, 8)
        live = [(lower, lower + rng.randint(1, 6)) for lower in (rng.randrange(9) for _ in range(count))]
        structure = Problem(tuple(Buffer(i, *each, 1 + i) for i, each in enumerate(live)))
        sizes = [rng.choice((0, 1, 64, 100, 300)) for _ in live]
        pools = (Pool("p", rng.choice((64, 600)), ((0, 5), (6, 9)), rng.randrange(2)),)
        problem = Problem(tuple(replace(b, size=size) for b, size in zip(structure.buffers, sizes, strict=True)), pools)
        places = [Placement(i, rng.choice((None, None, "p", "q")), 32 * rng.randrange(24)) for i in range(count)]
        rng.choice((places.pop, places.reverse, places.copy, places.copy))()
        made = replace(RIGHT, placements=tuple(places), arena=rng.choice((64, 1024)))
        faults = check(problem, made)
        assert Checker(structure).check(sizes, pools, made) == faults
        found |= {fault.code for fault in faults}
    assert found >= {"arena", "capacity", "cost", "misaligned", "missing", "overlap", "pool", "window"}


def test_a_size_is_needed_for_each_buffer() -> None:
    for sizes in ([64], [64] * (len(PROBLEM.buffers) + 1)):
        for made in (RIGHT, replace(RIGHT, placements=RIGHT.placements[:-1])):
            with pytest.raises(ValueError, match=r"expected 6 sizes|argument 2 is"):
                Checker(PROBLEM).check(sizes, PROBLEM.pools, made)


def test_numbers_of_any_size_are_checked() -> None:
    """Sums do not leave 64 bits, whatever a plan says and wherever on the time line its buffers are."""
    huge = 1 << 80
    assert codes(move("b", None, (1 << 63) - 64)) == ["arena"]
    assert codes(move("lent", "p", (1 << 63) - 64)) == ["capacity"]
    assert codes(move("b", None, huge)) == ["arena"]
    far = Problem(
        (Buffer("a", huge, huge + 2, 64), Buffer("b", huge + 1, huge + 3, 64)), (Pool("p", huge, ((0, huge),)),)
    )
    places = (Placement("a", None, 0), Placement("b", None, 0))
    faulty = replace(RIGHT, placements=places, arena=128)
    assert [v.message for v in check(far, faulty)] == [f"'a' and 'b' overlap in the arena at step {huge + 1}"]
    assert check(far, replace(faulty, placements=(places[0], Placement("b", None, 64)))) == ()
    assert [v.code for v in check(far, replace(faulty, placements=(places[0], Placement("b", "p", 0))))] == ["window"]


@pytest.mark.parametrize(("origin", "unit"), [(0, 1), (-7, 1), (1 << 60, 1), (1 << 70, 1), (-(1 << 60), 1 << 57)])
@pytest.mark.parametrize("few", [checker.FEW, -1])
def test_memories_are_compared_in_one_pass(monkeypatch: pytest.MonkeyPatch, few: int, origin: int, unit: int) -> None:
    """What lies in two of them does not overlap, however far its steps are, and faults come memory by memory."""
    monkeypatch.setattr(checker, "FEW", few)
    passes: list[str] = []
    for name in ("_compared", "_by_sweep"):
        original = checker.__dict__[name]

        def spy(*given: object, name: str = name, original: Callable[..., object] = original) -> object:
            passes.append(name)
            return original(*given)

        monkeypatch.setattr(checker, name, spy)
    live = ((0, 4), (1, 3), (3, 9))
    buffers = tuple(
        Buffer(f"{space}{k}", origin + unit * lower, origin + unit * upper, 64)
        for space in ("p", "arena", "q")
        for k, (lower, upper) in enumerate(live)
    )
    pools = tuple(Pool(space, 128, ((origin, origin + 9 * unit),)) for space in ("p", "q"))
    problem = Problem(buffers, pools)
    places = (("p", 0), ("p", 64), ("p", 64), (None, 0), (None, 0), (None, 64), ("q", 0), ("q", 64), ("q", 0))
    placements = tuple(Placement(b.id, *place) for b, place in zip(buffers, places, strict=True))
    made = replace(RIGHT, placements=placements, arena=128)
    assert [fault.message for fault in check(problem, made)] == [
        f"'arena0' and 'arena1' overlap in the arena at step {origin + unit}",
        f"'q0' and 'q2' overlap in pool 'q' at step {origin + 3 * unit}",
    ]
    assert passes == ["_compared" if few > 0 else "_by_sweep"]


def test_ties_are_checked_in_proportion_to_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """The columns are looked through as often for many groups of tied buffers as for few."""
    looks: list[int] = []
    original = checker.__dict__["_alone"]

    def spy(table: object, chosen: object) -> object:
        looks.append(1)
        return original(table, chosen)

    monkeypatch.setattr(checker, "_alone", spy)
    for pairs in (10, 200):
        looks.clear()
        buffers = tuple(Buffer(i, i, i + 3, 64) for i in range(2 * pairs))
        problem = Problem(buffers, (), tuple(Tie(2 * i + 1, 2 * i) for i in range(pairs)))
        made = plan(problem, strategy="greedy/start")
        assert check(problem, made) == ()
        assert len(looks) == 2
        moved = tuple(replace(p, offset=0) for p in made.placements)
        assert {v.code for v in check(problem, replace(made, placements=moved))} == {"overlap"}
