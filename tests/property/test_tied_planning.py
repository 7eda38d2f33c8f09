"""Problems with ties, gaps and pools that cost something: plans against rules once more, optima against trying everything."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hotdesk.planning import (
    NO_REUSE,
    STRATEGIES,
    Buffer,
    Placement,
    Pool,
    Problem,
    Tie,
    adjacent,
    check,
    lower_bound,
    plan,
)

SETTINGS = settings(max_examples=50, deadline=None, derandomize=True)
HORIZON = 8


@st.composite
def buffers(draw: st.DrawFn, most: int, largest: int) -> list[Buffer]:
    result: list[Buffer] = []
    for i in range(draw(st.integers(1, most))):
        count = draw(st.integers(1, 3))
        steps = sorted(draw(st.sets(st.integers(0, HORIZON), min_size=2 * count, max_size=2 * count)))
        gaps = tuple(zip(steps[1:-1:2], steps[2:-1:2], strict=True))
        alignment = draw(st.sampled_from((1, 1, 2, 4)))
        result.append(Buffer(i, steps[0], steps[-1], draw(st.integers(0, largest)), alignment, None, gaps))
    return result


@st.composite
def problems(draw: st.DrawFn, most: int, largest: int, pool_count: int = 2, costs: bool = False) -> Problem:
    """Some buffers are tied, some in a row; where that leaves no place at all, they are not."""
    chosen = draw(buffers(most, largest))
    ties: list[Tie] = []
    if len(chosen) > 1:
        for _ in range(draw(st.integers(0, 2))):
            tied, host = draw(st.sampled_from(chosen)), draw(st.sampled_from(chosen))
            ties.append(Tie(tied.id, host.id, draw(st.integers(-2, 4))))
        if draw(st.booleans()):
            ties += adjacent(chosen[:2])
    if draw(st.booleans()):
        chosen[0] = replace(chosen[0], fixed_offset=draw(st.integers(0, 2)) * chosen[0].alignment)
    pools: list[Pool] = []
    for k in range(draw(st.integers(0, pool_count))):
        cuts = sorted(draw(st.sets(st.integers(0, HORIZON), max_size=4)))
        free = draw(st.sampled_from((((0, HORIZON),), tuple(zip(cuts[::2], cuts[1::2], strict=False)))))
        pools.append(Pool(f"p{k}", draw(st.integers(0, 2 * largest)), free, draw(st.integers(0, 3)) if costs else 0))
    for kept in (tuple(ties), tuple(ties[:1]), ()):
        try:
            return Problem(tuple(chosen), tuple(pools), kept)
        except ValueError:
            continue
    raise AssertionError("without ties every problem is one")


def needed(b: Buffer, step: int) -> bool:
    return b.lower <= step < b.upper and not any(start <= step < end for start, end in b.gaps)


def connected(problem: Problem) -> list[list[int]]:
    """Positions of buffers that ties connect."""
    groups = [{i} for i in range(len(problem.buffers))]
    for tie in problem.ties:
        position = {b.id: i for i, b in enumerate(problem.buffers)}
        a, b = (next(g for g in groups if position[name] in g) for name in (tie.buffer_id, tie.host_id))
        if a is not b:
            groups.remove(b)
            a |= b
    return [sorted(group) for group in groups]


def is_right(problem: Problem, placements: tuple[Placement, ...], arena: int) -> bool:
    """All rules, by looking at every byte of every step."""
    at = {p.buffer_id: p for p in placements}
    memory = {pool.id: pool for pool in problem.pools}
    for tie in problem.ties:
        tied, host = at[tie.buffer_id], at[tie.host_id]
        if tied.pool != host.pool or tied.offset != host.offset + tie.offset:
            return False
    group = {i: k for k, members in enumerate(connected(problem)) for i in members}
    for step in range(HORIZON):
        holder: dict[tuple[str | int | None, int], int] = {}
        for i, b in enumerate(problem.buffers):
            p = at[b.id]
            if not b.size or not needed(b, step):
                continue
            if p.pool is not None and not any(start <= step < end for start, end in memory[p.pool].free):
                return False
            for byte in range(p.offset, p.offset + b.footprint):
                if holder.setdefault((p.pool, byte), group[i]) != group[i]:
                    return False
    for b in problem.buffers:
        p = at[b.id]
        top = arena if p.pool is None else memory[p.pool].capacity
        size = b.footprint if p.pool is None else b.size
        pinned = b.fixed_offset is not None and (p.pool is not None or p.offset != b.fixed_offset)
        if p.offset < 0 or p.offset % b.alignment or pinned or (b.size and p.offset + size > top):
            return False
        if p.pool is not None and not within(b, memory[p.pool]):
            return False
    return True


def within(b: Buffer, pool: Pool) -> bool:
    """Whether each stretch between gaps lies inside one free interval: a pool is not the same memory after another."""
    steps = [b.lower, *(step for gap in b.gaps for step in gap), b.upper]
    return all(any(s <= a and z <= e for s, e in pool.free) for a, z in zip(steps[::2], steps[1::2], strict=True))


def optimum(problem: Problem, ceiling: int) -> dict[int, int]:
    """The least cost of each arena up to `ceiling` that a placement reaches, by trying all placements of each group."""
    groups = connected(problem)
    options: list[list[tuple[Placement, ...]]] = []
    for members in groups:
        offset = {members[0]: 0}
        position = {b.id: i for i, b in enumerate(problem.buffers)}
        for _ in problem.ties:
            for tie in problem.ties:
                tied, host = position[tie.buffer_id], position[tie.host_id]
                if host in offset:
                    offset[tied] = offset[host] + tie.offset
                elif tied in offset:
                    offset[host] = offset[tied] - tie.offset
        lowest = min(offset.values())
        furthest = max(
            ceiling, *(b.fixed_offset or 0 for b in problem.buffers), *(p.capacity for p in problem.pools), 0
        )
        spots = [(pool, base) for pool in (None, *(p.id for p in problem.pools)) for base in range(furthest + 1)]
        options.append(
            [
                tuple(Placement(problem.buffers[i].id, pool, base + offset[i] - lowest) for i in members)
                for pool, base in spots
                if is_right(
                    Problem(
                        tuple(problem.buffers[i] for i in members),
                        problem.pools,
                        tuple(t for t in problem.ties if position[t.buffer_id] in members),
                    ),
                    tuple(Placement(problem.buffers[i].id, pool, base + offset[i] - lowest) for i in members),
                    ceiling,
                )
            ]
        )
    best: dict[int, int] = {}
    buffers = {b.id: b for b in problem.buffers}
    cost = {p.id: p.cost for p in problem.pools}
    for choice in product(*options):
        placements = tuple(p for group in choice for p in group)
        arena = max(
            (p.offset + buffers[p.buffer_id].footprint for p in placements if not p.pool and buffers[p.buffer_id].size),
            default=0,
        )
        due = sum(cost[p.pool] * buffers[p.buffer_id].footprint for p in placements if p.pool is not None)
        if due < best.get(arena, 1 << 60) and is_right(problem, placements, arena):
            best[arena] = due
    return best


@SETTINGS
@given(problems(10, 12, costs=True), st.sampled_from([*STRATEGIES, NO_REUSE]), st.none() | st.integers(0, 30))
def test_plans_are_right(problem: Problem, strategy: str, capacity: int | None) -> None:
    result = plan(problem, strategy=strategy, effort=300, capacity=capacity)
    assert check(problem, result) == ()
    assert is_right(problem, result.placements, result.arena)
    assert result.bound.bytes <= result.arena
    assert result.least_cost <= result.cost or (capacity is not None and result.arena > capacity)
    assert capacity is not None or (result.cost == 0 and result.arena <= result.no_reuse)
    assert result == plan(problem, strategy=strategy, effort=300, capacity=capacity)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(problems(4, 3, pool_count=1))
def test_the_arena_against_trying_everything(problem: Problem) -> None:
    pytest.importorskip("ortools")
    assume(len(connected(problem)) <= 3)
    result = plan(problem, strategy="exact")
    smallest = min(optimum(problem, result.arena))
    assert lower_bound(problem).bytes <= smallest <= result.arena
    assert result.bound.bytes <= smallest
    if not problem.pools and not problem.is_plain:
        assert result.arena == smallest
        assert result.proven_optimal


@settings(max_examples=40, deadline=None, derandomize=True)
@given(problems(4, 3, pool_count=2, costs=True), st.integers(0, 4))
def test_the_cost_against_trying_everything(problem: Problem, capacity: int) -> None:
    pytest.importorskip("ortools")
    assume(len(connected(problem)) <= 3)
    result = plan(problem, strategy="exact", capacity=capacity)
    arenas = optimum(problem, max(capacity, result.arena))
    fitting = [cost for arena, cost in arenas.items() if arena <= capacity]
    if not fitting:
        assert result.arena > capacity
        return
    assert result.least_cost <= min(fitting)
    if result.arena <= capacity:
        assert result.cost >= min(fitting)
    if any(pool.cost for pool in problem.pools):
        assert result.arena <= capacity
        assert result.cost == result.least_cost == min(fitting)


@SETTINGS
@given(problems(8, 10), st.data())
def test_the_checker_agrees_with_looking_at_every_byte(problem: Problem, data: st.DataObject) -> None:
    right = plan(problem, effort=0)
    victim = data.draw(st.integers(0, len(problem.buffers) - 1))
    memory = data.draw(st.sampled_from([None, *(pool.id for pool in problem.pools)]))
    moved = replace(right.placements[victim], pool=memory, offset=data.draw(st.integers(-4, right.arena + 4)))
    placements = (*right.placements[:victim], moved, *right.placements[victim + 1 :])
    changed = replace(right, placements=placements, arena=right.arena + data.draw(st.sampled_from((-1, 0, 4))))
    assert (check(problem, changed) == ()) == is_right(problem, placements, changed.arena)
