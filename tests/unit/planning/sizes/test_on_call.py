"""Plans for the sizes of one call: right, never above what stackings give, by work that is counted."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from statistics import fmean

import pytest

from benchmarks.planner_cases.shapes import COUNT, Family, shapes
from hotdesk.planning import Buffer, Plan, Pool, PoolId, Problem, check, lower_bound, plan
from hotdesk.planning.placement import borrow, portfolio
from hotdesk.planning.placement.greedy import Shelf, SmallShelf
from hotdesk.planning.placement.instance import Instance, build_instance
from hotdesk.planning.placement.skyline import find_neighbours, stack_in_gaps, stack_up
from hotdesk.planning.problem.bounds import eligibility
from hotdesk.planning.sizes import on_call
from hotdesk.planning.sizes.on_call import WORK, OnCall
from hotdesk.planning.sizes.stacking import Fitting, Measures, Stacking, lay_out, read_stacking


def few_shapes(seed: int) -> Iterator[tuple[int, int]]:
    return shapes(seed, 1)


@pytest.mark.parametrize("pools", [0, 1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_plans_are_right_and_no_worse_than_what_is_known(seed: int, pools: int) -> None:
    family = Family.random(seed, pools)
    known = family.stackings()
    planner = OnCall(family.problem(1, 1).buffers, family.windows, known)
    for m, n in few_shapes(seed):
        problem = family.problem(m, n)
        made = planner.plan(problem)
        assert check(problem, made) == ()
        assert made.bound == lower_bound(problem)
        laid_out = [found[1] for stacking in known if (found := lay_out(stacking, problem)) is not None]
        assert made.bound.bytes <= made.arena <= min([made.no_reuse, *laid_out])
        assert planner.plan(problem) == made == planner.plan_sizes(*family.sized(m, n))


def test_arenas_are_close_to_the_bound() -> None:
    """Over 756 shapes the mean is 0.6 %."""
    ratios: list[float] = []
    for seed in range(6):
        family = Family.random(seed, seed % 4)
        planner = family.planner()
        ratios += [made.arena / made.bound.bytes for at in shapes(seed) if (made := planner.plan(family.problem(*at)))]
    assert fmean(ratios) < 1.01


def test_without_stackings_buffers_are_packed() -> None:
    family = Family.random(0, 1)
    problem = family.problem(3, 1000)
    made = OnCall(problem.buffers, family.windows, []).plan(problem)
    assert check(problem, made) == ()
    assert made.arena < 1.2 * made.bound.bytes


def test_what_takes_no_bytes_and_pools_that_have_none_are_left_out() -> None:
    buffers = tuple(Buffer(i, i, i + 3, 100 * (i % 3)) for i in range(9))
    windows: dict[PoolId, tuple[tuple[int, int], ...]] = {"none": ((0, 9),), "some": ((0, 6),)}
    planner = OnCall(buffers, windows, [])
    for pools in ((), (Pool("some", 200, windows["some"]),)):
        for problem in (Problem(buffers, pools), Problem(tuple(replace(b, size=0) for b in buffers), pools)):
            made = planner.plan(problem)
            assert check(problem, made) == ()
            assert made.bound == lower_bound(problem)
    nothing = OnCall((), {}, []).plan(Problem(()))
    assert (nothing.arena, nothing.placements) == (0, ())


def test_sizes_that_are_none_are_refused_as_in_a_problem() -> None:
    buffers = tuple(Buffer(i, i, i + 3, 64) for i in range(3))
    planner = OnCall(buffers, {}, [])
    for sizes in ([64, -1, 64], [1 << 59, 1 << 59, 0], [1 << 80, 0, 0]):
        with pytest.raises(ValueError, match="expected") as told:
            Problem(tuple(replace(b, size=size) for b, size in zip(buffers, sizes, strict=True)))
        with pytest.raises(ValueError, match="expected") as refused:
            planner.plan_sizes(sizes)
        assert str(refused.value) == str(told.value)
    with pytest.raises(ValueError, match="shorter"):
        planner.plan_sizes([64, 64])


def test_work_is_counted_and_nothing_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    """For the worst of many shapes, packing places what it may, and loans are looked for once a buffer and pool.

    What depends on live ranges alone is not found again on a call.
    """
    placed: list[int] = []
    finds: list[int] = []

    def stack(instance: Instance, order: list[int], ceiling: int | None = None) -> tuple[list[int], int]:
        placed.append(len(order))
        return stack_in_gaps(instance, order, ceiling)

    def find(self: SmallShelf, *given: int) -> int:
        finds.append(1)
        return small_find(self, *given)

    small_find = SmallShelf.find
    families = [Family.random(seed, pools) for seed in range(4) for pools in (0, 2)]
    planners = [family.planner() for family in families]
    monkeypatch.setattr(on_call, "stack_in_gaps", stack)
    monkeypatch.setattr(SmallShelf, "find", find)
    for module, name in (
        *((portfolio, name) for name in ("search", "greedy_below", "search_whole", "find_neighbours")),
        (on_call, "build_instance"),
    ):
        monkeypatch.setattr(module, name, _never)
    most = 0
    for seed, (family, planner) in enumerate(zip(families, planners, strict=True)):
        for m, n in few_shapes(seed):
            placed.clear()
            finds.clear()
            planner.plan(family.problem(m, n))
            assert sum(placed) <= WORK * COUNT
            assert len(placed) <= 4
            assert len(finds) <= COUNT * len(family.lenders)
            most = max(most, len(placed))
    assert most > 2


def _never(*_: object, **__: object) -> None:
    raise AssertionError("not on a call")


def test_what_reached_too_high_is_packed_first() -> None:
    """For some shapes the smallest arena is that of an order with these at its front."""
    found = {
        made.strategy
        for seed in range(8)
        for family in (Family.random(seed, 0),)
        for planner in (OnCall(family.problem(1, 1).buffers, {}, []),)
        for m, n in shapes(seed)
        for problem in (family.problem(m, n),)
        if check(problem, made := planner.plan(problem)) == ()
    }
    assert {"skyline/area", "skyline/pressure", "skyline/area, twice", "skyline/pressure, twice"} <= found


def test_where_all_are_live_together_packing_is_no_worse_than_a_bad_stacking() -> None:
    buffers = tuple(Buffer(i, i % 7, 20 + i % 5, 64 * (1 + i % 9)) for i in range(COUNT))
    problem = Problem(buffers)
    worse = plan(problem, strategy="greedy/start")
    shuffled = replace(worse, placements=tuple(replace(p, offset=2 * p.offset) for p in worse.placements))
    stacking = read_stacking(buffers, shuffled)
    made = OnCall(buffers, {}, [stacking]).plan(problem)
    laid_out = lay_out(stacking, problem)
    assert check(problem, made) == ()
    assert laid_out is not None
    assert made.arena <= laid_out[1]


@pytest.mark.parametrize("seed", range(6))
def test_gaps_give_the_offsets_that_lists_of_neighbours_give(seed: int) -> None:
    """For all buffers and for some, with and without a ceiling."""
    rng = random.Random(seed)
    buffers = [
        Buffer(i, lower, lower + rng.choice((1, 2, 9, 40)), rng.choice((1, 64, 100, 640, 6400)))
        for i in range(rng.choice((1, 2, 30, 120)))
        for lower in (rng.randrange(60),)
    ]
    instance = build_instance(Problem(tuple(buffers)))
    around = find_neighbours(instance)
    for share in (0.0, 0.3, 1.0):
        order = [i for i in range(len(instance)) if rng.random() < share]
        rng.shuffle(order)
        offsets, _ = stack_up(instance, around, order)
        arena = max((offsets[i] + instance.size[i] for i in order), default=0)
        assert stack_in_gaps(instance, order) == stack_in_gaps(instance, order, arena) == (offsets, arena)
        if order:
            assert stack_in_gaps(instance, order, arena - 1)[1] > arena - 1


def test_without_lists_of_neighbours_floors_are_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_call, "MOST_LISTED", 100)
    buffers = tuple(Buffer(i, i, i + 2 + i % 3, 64 * (1 + i * i % 9)) for i in range(COUNT))
    problem = Problem(buffers, (Pool("p", 640, ((0, 50),)),))
    planner = OnCall(buffers, {"p": ((0, 50),)}, [])
    monkeypatch.setattr(on_call, "stack_in_gaps", _never)
    made = planner.plan(problem)
    assert check(problem, made) == ()
    assert made.strategy == "skyline/pressure"
    assert made.arena < 1.2 * made.bound.bytes


def test_a_stacking_keeps_less_than_three_pairs_a_buffer() -> None:
    """What is nearest is enough: offsets are those of all that lies below."""
    for seed in range(6):
        problem = Family.random(seed, seed % 3).problem(64, 64)
        made = plan(problem, effort=0)
        stacking = read_stacking(problem.buffers, made)
        pairs = sum(len(below) for below in stacking.below)
        assert pairs < 3 * COUNT < build_instance(problem).pairs
        every = replace(stacking, below=_all_below(problem, made, stacking))
        for factor in (1, 3, 64):
            footprints = [(buffer.size * (1 + i % factor) + 63) // 64 * 64 for i, buffer in enumerate(problem.buffers)]
            measures = Measures(footprints, footprints, dict.fromkeys(stacking.spaces, sum(footprints)))
            assert Fitting.of(stacking, measures).offsets == Fitting.of(every, measures).offsets


def _all_below(problem: Problem, made: Plan, stacking: Stacking) -> tuple[tuple[int, ...], ...]:
    rank = {i: position for position, i in enumerate(stacking.order)}
    return tuple(
        tuple(
            j
            for j, b in enumerate(problem.buffers)
            if made.placements[i].pool == made.placements[j].pool
            and rank[j] < rank[i]
            and a.lower < b.upper
            and b.lower < a.upper
        )
        for i, a in enumerate(problem.buffers)
    )


def test_a_shelf_for_few_is_a_shelf() -> None:
    rng = random.Random(7)
    for _ in range(20):
        large, small = Shelf(60), SmallShelf()
        for _ in range(60):
            lower = rng.randrange(20)
            upper, size, alignment = lower + rng.randint(1, 9), rng.randint(1, 200), rng.choice((1, 16, 64))
            place = large.find(lower, upper, size, alignment)
            assert small.find(lower, upper, size, alignment) == place
            large.insert(lower, upper, place, place + size)
            small.insert(lower, upper, place, place + size)


def test_lowering_peaks_borrows_what_fits() -> None:
    problem = Family.random(1, 2).problem(100, 100)
    instance, eligible = build_instance(problem), eligibility(problem)
    movable = borrow.Movable.of(problem, instance)
    found = borrow.lower_peaks(problem.pools, movable, eligible, instance.floor)
    assert found is not None
    loans, left = found
    assert loans
    assert build_instance(problem, loans).floor == left < instance.floor
    assert borrow.lower_peaks(problem.pools, movable, eligible, left + 1) == found
    assert borrow.lower_peaks(problem.pools, movable, eligible, left) is None
    for i, loan in loans.items():
        pool = problem.pools[loan.pool]
        assert loan.offset + problem.buffers[i].size <= pool.capacity
        assert problem.buffers[i].upper <= pool.free[0][1]


def test_of_a_call_the_same_is_known_as_of_its_problem() -> None:
    """The bound, peaks beside loans, and what lowers them, in steps that are counted otherwise."""
    lowered = 0
    for seed in range(4):
        family = Family.random(seed, 2)
        live = on_call.LiveRanges.of(family.problem(1, 1).buffers, family.windows)
        for problem in (family.problem(*at) for at in few_shapes(seed)):
            sized = on_call.SizedRanges(live, [b.size for b in problem.buffers], problem.pools)
            every = build_instance(Problem(tuple(replace(b, size=max(b.size, 1)) for b in problem.buffers)))
            instance = replace(every, size=tuple(b.footprint for b in problem.buffers))
            movable = borrow.Movable.of(problem, instance)
            found = borrow.lower_peaks(problem.pools, sized.movable(), sized.hosts, instance.floor)
            assert found == borrow.lower_peaks(problem.pools, movable, eligibility(problem), instance.floor)
            loans, left = found or ({}, instance.floor)
            assert sized.bound() == lower_bound(problem)
            assert sized.peaks([{}, loans]) == [build_instance(problem).floor, left]
            lowered += found is not None
    assert lowered > 4
