"""Random problems: plans are right by the checker, the checker by comparing all pairs, the bound by brute force."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hotdesk.planning import NO_REUSE, STRATEGIES, Buffer, Placement, Plan, Pool, Problem, check, lower_bound, plan

SETTINGS = settings(max_examples=150, deadline=None, derandomize=True)


@st.composite
def buffers(draw: st.DrawFn, most: int, largest: int, horizon: int, *, pinned: bool) -> tuple[Buffer, ...]:
    result: list[Buffer] = []
    for i in range(draw(st.integers(0, most))):
        lower = draw(st.integers(0, horizon - 1))
        upper = draw(st.integers(lower + 1, horizon))
        alignment = draw(st.sampled_from((1, 2, 4, 64) if largest > 8 else (1, 2)))
        pin = draw(st.none() | st.integers(0, 4)) if pinned and draw(st.booleans()) else None
        size = draw(st.integers(0, largest))
        result.append(Buffer(i, lower, upper, size, alignment, None if pin is None else pin * alignment))
    return tuple(result)


@st.composite
def pools(draw: st.DrawFn, most: int, largest: int, horizon: int) -> tuple[Pool, ...]:
    result: list[Pool] = []
    for i in range(draw(st.integers(0, most))):
        cuts = sorted(draw(st.sets(st.integers(0, horizon), max_size=4)))
        free = tuple(zip(cuts[::2], cuts[1::2], strict=False))
        result.append(Pool(f"p{i}", draw(st.integers(0, largest)), free))
    return tuple(result)


@st.composite
def problems(draw: st.DrawFn, most: int = 24, largest: int = 300, horizon: int = 16, pool_count: int = 3) -> Problem:
    wanted = draw(buffers(most, largest, horizon, pinned=True))
    kept: list[Buffer] = []
    for buffer in wanted:
        loose = replace(buffer, fixed_offset=None)
        kept.append(loose if any(collide(buffer, other) for other in kept) else buffer)
    return Problem(tuple(kept), draw(pools(pool_count, largest * 2, horizon)))


def collide(a: Buffer, b: Buffer) -> bool:
    if a.fixed_offset is None or b.fixed_offset is None:
        return False
    return meet(a, a.fixed_offset, b, b.fixed_offset)


def meet(a: Buffer, at_a: int, b: Buffer, at_b: int) -> bool:
    """Whether two buffers at these offsets of one memory share a byte at some step."""
    together = a.lower < b.upper and b.lower < a.upper
    return together and bool(a.size and b.size) and at_a < at_b + b.footprint and at_b < at_a + a.footprint


def is_right(problem: Problem, placements: tuple[Placement, ...], arena: int) -> bool:
    """The rules once more, for complete placements in order, by comparing all pairs."""
    memory = {pool.id: pool for pool in problem.pools}
    pairs = list(zip(problem.buffers, placements, strict=True))
    for b, p in pairs:
        pinned_elsewhere = b.fixed_offset is not None and (p.pool is not None or p.offset != b.fixed_offset)
        if p.offset < 0 or p.offset % b.alignment or pinned_elsewhere:
            return False
        if p.pool is None and b.size and p.offset + b.footprint > arena:
            return False
        if p.pool is not None:
            pool = memory.get(p.pool)
            if pool is None:
                return False
            if not b.size:
                continue
            if p.offset + b.size > pool.capacity or not any(
                start <= b.lower and b.upper <= end for start, end in pool.free
            ):
                return False
    return not any(
        p.pool == q.pool and meet(a, p.offset, b, q.offset) for i, (a, p) in enumerate(pairs) for b, q in pairs[:i]
    )


def smallest_arena(problem: Problem, ceiling: int) -> int:
    """By trying every placement below `ceiling`."""
    options: list[list[tuple[str | int | None, int]]] = []
    for b in problem.buffers:
        spots: list[tuple[str | int | None, int]] = [(None, o) for o in range(0, ceiling + 1, b.alignment)]
        spots += [(p.id, o) for p in problem.pools for o in range(0, p.capacity + 1, b.alignment)]
        options.append(spots)
    best = ceiling
    for choice in product(*options):
        placements = tuple(Placement(b.id, *spot) for b, spot in zip(problem.buffers, choice, strict=True))
        tops = [
            p.offset + b.footprint
            for b, p in zip(problem.buffers, placements, strict=True)
            if p.pool is None and b.size
        ]
        arena = max(tops, default=0)
        if arena < best and is_right(problem, placements, arena):
            best = arena
    return best


@SETTINGS
@given(problems(), st.sampled_from([*STRATEGIES, NO_REUSE]), st.integers(0, 3))
def test_plans_are_right(problem: Problem, strategy: str, seed: int) -> None:
    result = plan(problem, strategy=strategy, seed=seed, effort=300)
    assert check(problem, result) == ()
    assert is_right(problem, result.placements, result.arena)
    assert lower_bound(problem).bytes <= result.arena <= result.no_reuse
    assert all(
        p.offset == (b.fixed_offset or 0) for b, p in zip(problem.buffers, result.placements, strict=True) if not b.size
    )


@SETTINGS
@given(problems())
def test_no_reuse_is_the_sum_of_footprints_where_nothing_is_pinned(problem: Problem) -> None:
    loose = Problem(tuple(replace(b, fixed_offset=None) for b in problem.buffers), problem.pools)
    assert plan(loose, effort=0).no_reuse == sum(b.footprint for b in loose.buffers)


@SETTINGS
@given(problems(), st.integers(0, 5))
def test_the_same_question_has_the_same_answer(problem: Problem, seed: int) -> None:
    assert plan(problem, seed=seed, effort=500) == plan(problem, seed=seed, effort=500)


@SETTINGS
@given(problems(most=3, largest=3, horizon=4, pool_count=1))
def test_the_bound_is_no_higher_than_the_optimum(problem: Problem) -> None:
    result = plan(problem, effort=100)
    optimum = smallest_arena(problem, result.arena)
    assert lower_bound(problem).bytes <= optimum <= result.arena


@SETTINGS
@given(problems(), st.data())
def test_the_checker_agrees_with_comparing_all_pairs(problem: Problem, data: st.DataObject) -> None:
    assume(problem.buffers)
    right = plan(problem, effort=0)
    victim = data.draw(st.integers(0, len(problem.buffers) - 1))
    memory = data.draw(st.sampled_from([None, *(pool.id for pool in problem.pools), "nowhere"]))
    moved = replace(right.placements[victim], pool=memory, offset=data.draw(st.integers(-64, right.arena + 64)))
    placements = (*right.placements[:victim], moved, *right.placements[victim + 1 :])
    changed = replace(right, placements=placements, arena=right.arena + data.draw(st.sampled_from((-1, 0, 64))))
    assert (check(problem, changed) == ()) == is_right(problem, placements, changed.arena)


@pytest.mark.parametrize("shift", [-64, 64])
@SETTINGS
@given(count=st.integers(2, 12), data=st.data())
def test_a_shift_in_a_full_arena_is_caught(shift: int, count: int, data: st.DataObject) -> None:
    """Buffers that are all live together fill the arena: whichever moves hits another, or leaves."""
    problem = Problem(tuple(Buffer(i, i, count + i, 64) for i in range(count)))
    right: Plan = plan(problem)
    assert right.proven_optimal
    victim = data.draw(st.integers(0, count - 1))
    placements = list(right.placements)
    placements[victim] = replace(placements[victim], offset=placements[victim].offset + shift)
    codes = {v.code for v in check(problem, replace(right, placements=tuple(placements)))}
    assert codes & {"overlap", "negative", "arena"}
