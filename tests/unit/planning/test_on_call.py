"""Plans for the sizes of one call: right, never above what stackings give, by work that is counted."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from hotdesk.planning import Buffer, Plan, Pool, Problem, borrow, check, lower_bound, on_call, plan, portfolio
from hotdesk.planning.instance import build_instance
from hotdesk.planning.on_call import WORK, plan_on_call
from hotdesk.planning.shelf import Shelf, SmallShelf
from hotdesk.planning.stacking import Stacking, lay_out, offsets_of, read_stacking

COUNT = 200
SAMPLES = ((512, 512), (64, 64), (8, 8))


def family(seed: int, pools: int) -> tuple[list[tuple[int, int]], list[tuple[int, int, int]], list[tuple[int, int]]]:
    """Live ranges, a size `a * m + b * n + c` for each buffer, and the buffers whose sizes pools have, with their ends."""
    rng = random.Random(seed)
    kinds = [
        (rng.choice((0, rng.randint(1, 300))), rng.choice((0, rng.randint(1, 300))), rng.randrange(4096))
        for _ in range(12)
    ]
    live: list[tuple[int, int]] = []
    for _ in range(COUNT):
        lower = rng.randrange(COUNT)
        live.append((lower, lower + (rng.randint(1, 20) if rng.random() < 0.9 else rng.randint(20, 150))))
    return (
        live,
        [rng.choice(kinds) for _ in live],
        [(rng.randrange(COUNT), rng.randrange(1, COUNT)) for _ in range(pools)],
    )


def problem_at(seed: int, pools: int, m: int, n: int) -> Problem:
    live, sizes, lenders = family(seed, pools)
    bytes_ = [a * m + b * n + c for a, b, c in sizes]
    buffers = tuple(Buffer(i, *live[i], bytes_[i]) for i in range(COUNT))
    return Problem(
        buffers, tuple(Pool(f"p{k}", bytes_[i], ((0, end),)) for k, (i, end) in enumerate(lenders) if bytes_[i])
    )


def stackings(seed: int, pools: int) -> list[Stacking]:
    found: list[Stacking] = []
    for m, n in SAMPLES:
        problem = problem_at(seed, pools, m, n)
        found.append(read_stacking(problem.buffers, plan(problem, effort=0)))
    return found


def shapes(seed: int) -> Iterator[tuple[int, int]]:
    rng = random.Random(seed)
    for high in (4, 80, 2000):
        yield rng.randint(1, high), rng.randint(1, 2000)


@pytest.mark.parametrize("pools", [0, 1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_plans_are_right_and_no_worse_than_what_is_known(seed: int, pools: int) -> None:
    known = stackings(seed, pools)
    for m, n in shapes(seed):
        problem = problem_at(seed, pools, m, n)
        made = plan_on_call(problem, known)
        assert check(problem, made) == ()
        assert made.bound == lower_bound(problem)
        laid_out = [found[1] for stacking in known if (found := lay_out(stacking, problem)) is not None]
        assert made.bound.bytes <= made.arena <= min([made.no_reuse, *laid_out])
        assert plan_on_call(problem, known) == made


def test_without_stackings_buffers_are_packed() -> None:
    problem = problem_at(0, 1, 3, 1000)
    made = plan_on_call(problem, [])
    assert check(problem, made) == ()
    assert made.arena < 1.2 * made.bound.bytes


def test_work_is_counted_and_nothing_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    """For the worst of many shapes, packing stays within its looks, and loans are looked for once a buffer and pool."""
    looks: list[int] = []
    finds: list[int] = []

    def skyline(instance: object, *rest: object) -> object:
        looks.append(2 * instance.pairs)  # type: ignore[attr-defined]
        return on_call_skyline(instance, *rest)  # type: ignore[arg-type]

    def find(self: SmallShelf, *given: int) -> int:
        finds.append(1)
        return small_find(self, *given)

    on_call_skyline, small_find = on_call.skyline, SmallShelf.find
    known = {(seed, pools): stackings(seed, pools) for seed in range(4) for pools in (0, 2)}
    monkeypatch.setattr(on_call, "skyline", skyline)
    monkeypatch.setattr(SmallShelf, "find", find)
    for name in ("search", "greedy_below", "plan_layers"):
        monkeypatch.setattr(portfolio, name, _never)
    most = 0
    for (seed, pools), given in known.items():
        for m, n in shapes(seed):
            looks.clear()
            finds.clear()
            plan_on_call(problem_at(seed, pools, m, n), given)
            assert sum(looks) <= WORK * COUNT
            assert len(finds) <= COUNT * pools
            most = max(most, len(looks))
    assert most > 0


def _never(*_: object, **__: object) -> None:
    raise AssertionError("searched")


def test_where_neighbours_are_too_many_nothing_is_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_call, "find_neighbours", _never)
    buffers = tuple(Buffer(i, i % 7, 20 + i % 5, 64 * (1 + i % 9)) for i in range(COUNT))
    problem = Problem(buffers)
    assert 3 * build_instance(problem).pairs > WORK * COUNT
    worse = plan(problem, strategy="greedy/start")
    shuffled = replace(worse, placements=tuple(replace(p, offset=2 * p.offset) for p in worse.placements))
    made = plan_on_call(problem, [read_stacking(buffers, shuffled)])
    assert check(problem, made) == ()


def test_a_stacking_keeps_less_than_three_pairs_a_buffer() -> None:
    """What is nearest is enough: offsets are those of all that lies below."""
    for seed in range(6):
        problem = problem_at(seed, seed % 3, 64, 64)
        made = plan(problem, effort=0)
        stacking = read_stacking(problem.buffers, made)
        pairs = sum(len(below) for below in stacking.below)
        assert pairs < 3 * COUNT < build_instance(problem).pairs
        every = replace(stacking, below=_all_below(problem, made, stacking))
        for factor in (1, 3, 64):
            footprints = [(buffer.size * (1 + i % factor) + 63) // 64 * 64 for i, buffer in enumerate(problem.buffers)]
            assert offsets_of(stacking, footprints) == offsets_of(every, footprints)


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
    problem = problem_at(1, 2, 100, 100)
    loans = borrow.lower_peaks(problem)
    assert loans
    for i, loan in loans.items():
        pool = problem.pools[loan.pool]
        assert loan.offset + problem.buffers[i].size <= pool.capacity
        assert problem.buffers[i].upper <= pool.free[0][1]
