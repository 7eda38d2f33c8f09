"""Bounds that count whole loans: by hand, and against every placement that there is; the checker of bounds agrees."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from hotdesk.planning import Bound, Buffer, Plan, Pool, PoolId, Problem, certificate, check_bound, lower_bound, plan
from hotdesk.planning.problem import loan_bounds

UNIT = 64
ALWAYS = ((0, 100),)


def buffers(*given: tuple[str, int, int, int]) -> tuple[Buffer, ...]:
    """Names, live ranges, and sizes in units."""
    return tuple(Buffer(name, lower, upper, size * UNIT, UNIT) for name, lower, upper, size in given)


def test_bytes_that_no_whole_buffer_fills() -> None:
    """Of a pool of five units and buffers of two, one unit is left over."""
    problem = Problem(buffers(*((name, 0, 2, 2) for name in "abcd")), (Pool("p", 5 * UNIT, ALWAYS),))
    made = plan(problem)
    assert lower_bound(problem).bytes == 3 * UNIT
    assert (made.arena, made.bound) == (4 * UNIT, Bound(4 * UNIT, 0, ("a", "b", "c", "d"), "live"))
    proof = certificate(problem, made.bound)
    assert (proof.together, proof.lent) == (8 * UNIT, 4 * UNIT)


def test_what_is_lent_is_lent_all_its_life() -> None:
    """Where `b` lies in the pool, `a` has no room in it; where it does not, it is in the arena beside `d`."""
    problem = Problem(
        buffers(("a", 0, 1, 4), ("b", 0, 2, 1), ("c", 1, 2, 2), ("d", 1, 3, 3)), (Pool("p", 4 * UNIT, ((0, 2),)),)
    )
    made = plan(problem)
    assert lower_bound(problem).bytes == 3 * UNIT
    assert (made.arena, made.bound) == (4 * UNIT, Bound(4 * UNIT, 0, ("a", "b", "c", "d"), "lent"))
    proof = certificate(problem, made.bound)
    assert (proof.together, proof.lent) == (10 * UNIT, 0)
    compare([(problem, made)])


def test_the_padding_of_the_last_one_needs_no_memory() -> None:
    tight = Problem((Buffer("a", 0, 1, 100, 64), Buffer("b", 0, 1, 100, 64)), (Pool("p", 228, ALWAYS),))
    assert (plan(tight).arena, plan(tight).bound.bytes) == (0, 0)
    short = replace(tight, pools=(Pool("p", 227, ALWAYS),))
    made = plan(short)
    assert (made.arena, made.bound.bytes, lower_bound(short).bytes) == (128, 128, 64)


def test_problems_with_too_many_ways_keep_their_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem(buffers(*((name, 0, 2, 2) for name in "abcd")), (Pool("p", 5 * UNIT, ALWAYS),))
    monkeypatch.setattr(loan_bounds, "MOST_STATES", 1)
    assert plan(problem).bound == lower_bound(problem)


def test_a_proof_that_the_checker_does_not_take_is_not_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem(buffers(*((name, 0, 2, 2) for name in "abcd")), (Pool("p", 5 * UNIT, ALWAYS),))
    for verdict in ("open", "refuted"):

        def checked(*_: object, verdict: str = verdict) -> str:
            return verdict

        monkeypatch.setattr(loan_bounds, "check_bound", checked)
        assert plan(problem).bound == lower_bound(problem)


# Against every placement


def some_problem(random: Random) -> Problem:
    """Few buffers of few units, and pools that whole ones seldom fill; alignments differ in some."""
    alignments = random.choice([(1,), (2,), (1, 2)])
    wanted: list[Buffer] = []
    for number in range(random.randint(3, 6)):
        lower = random.randrange(4)
        wanted.append(
            Buffer(number, lower, random.randint(lower + 1, 5), random.randint(1, 4), random.choice(alignments))
        )
    pools: list[Pool] = []
    for number in range(random.randint(1, 2)):
        start = random.choice((0, 0, 0, 1))
        pools.append(Pool(f"p{number}", random.randint(1, 6), ((start, random.randint(start + 2, 5)),)))
    return Problem(tuple(wanted), tuple(pools))


def is_possible(problem: Problem, arena: int) -> bool:
    """Whether there is a plan of this arena, by trying all places of one buffer after the other."""
    spaces: list[tuple[PoolId | None, int]] = [(None, arena), *((pool.id, pool.capacity) for pool in problem.pools)]
    free = {pool.id: pool.free for pool in problem.pools}
    placed: list[tuple[Buffer, PoolId | None, int]] = []

    def meets(buffer: Buffer, space: PoolId | None, offset: int) -> bool:
        return any(
            space == other_space
            and buffer.lower < other.upper
            and other.lower < buffer.upper
            and offset < at + other.footprint
            and at < offset + buffer.footprint
            for other, other_space, at in placed
        )

    def place(number: int) -> bool:
        if number == len(problem.buffers):
            return True
        buffer = problem.buffers[number]
        for space, capacity in spaces:
            if space is not None and not any(s <= buffer.lower and buffer.upper <= e for s, e in free[space]):
                continue
            needed = buffer.footprint if space is None else buffer.size
            for offset in range(0, capacity - needed + 1, buffer.alignment):
                if not meets(buffer, space, offset):
                    placed.append((buffer, space, offset))
                    if place(number + 1):
                        return True
                    placed.pop()
        return False

    return place(0)


def raised(first: int, count: int) -> list[tuple[Problem, Plan]]:
    """Of random problems those whose bound counts whole loans."""
    problems = (some_problem(Random(seed)) for seed in range(first, first + count))
    made = [(problem, plan(problem, effort=0)) for problem in problems]
    return [(problem, each) for problem, each in made if each.bound.bytes > lower_bound(problem).bytes]


def compare(found: list[tuple[Problem, Plan]]) -> None:
    for problem, made in found:
        assert made.bound.bytes <= made.arena
        assert not is_possible(problem, made.bound.bytes - 1)
        assert check_bound(problem, made.bound) == "proven"
        assert check_bound(problem, replace(made.bound, bytes=made.bound.bytes + 1)) == "refuted"


def test_no_placement_is_below() -> None:
    found = raised(0, 100)
    assert len(found) > 5
    compare(found)


@pytest.mark.slow
def test_no_placement_of_many_is_below() -> None:
    found = raised(100, 5_000)
    assert {made.bound.kind for _, made in found} == {"live", "lent"}
    compare(found)
