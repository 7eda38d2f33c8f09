import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hotdesk.errors import PlanError
from hotdesk.planning import NO_REUSE, STRATEGIES, Buffer, Placement, Plan, Pool, Problem, check, plan, read_csv
from hotdesk.planning.placement import greedy, portfolio, skyline
from hotdesk.planning.placement import instance as instances
from hotdesk.planning.placement.deadline import NO_DEADLINE, Deadline
from hotdesk.planning.placement.greedy import online
from hotdesk.planning.placement.portfolio import Request
from hotdesk.planning.placement.search import search_whole
from hotdesk.planning.placement.skyline import SKYLINE_ORDERS
from tests.unit.planning.placement.clock import Clock

CHAIN = Problem((Buffer("a", 0, 2, 100), Buffer("b", 1, 3, 100), Buffer("c", 2, 4, 100)))


def mixed(count: int, seed: int) -> Problem:
    """Random live ranges, sizes and alignments, with two pinned buffers and two pools."""
    rng = random.Random(seed)
    buffers = [Buffer("low", 0, count // 2, 512, fixed_offset=1024), Buffer("high", 3, count, 64, fixed_offset=4096)]
    for i in range(count):
        lower = rng.randrange(count)
        buffers.append(
            Buffer(i, lower, lower + 1 + rng.randrange(9), rng.randrange(2000), rng.choice((1, 16, 64, 256)))
        )
    return Problem(tuple(buffers), (Pool("out", 3000, ((0, count // 3),)), Pool("in", 900, ((5, 20), (30, 60)))))


def test_a_chain_alternates_between_two_places() -> None:
    result = plan(CHAIN)
    assert result == Plan(
        placements=(Placement("a", None, 0), Placement("b", None, 128), Placement("c", None, 0)),
        arena=256,
        bound=result.bound,
        strategy="skyline/pressure",
        no_reuse=384,
    )
    assert result.proven_optimal
    assert result.gap == 0


def test_no_reuse_gives_every_buffer_its_own_bytes() -> None:
    result = plan(CHAIN, strategy=NO_REUSE)
    assert [p.offset for p in result.placements] == [0, 128, 256]
    assert result.arena == result.no_reuse == 384
    assert result.gap == 0.5
    assert not result.proven_optimal


def test_an_empty_problem_needs_no_arena() -> None:
    for buffers in ((), (Buffer("nothing", 0, 3, 0),)):
        result = plan(Problem(buffers))
        assert (result.arena, result.gap, result.proven_optimal) == (0, 0.0, True)
        assert [p.offset for p in result.placements] == [0] * len(buffers)


@pytest.mark.parametrize("strategy", [*STRATEGIES, NO_REUSE])
@pytest.mark.parametrize("count", [8, 40, 150])
def test_every_strategy_makes_right_plans(strategy: str, count: int) -> None:
    problem = mixed(count, seed=count)
    result = plan(problem, strategy=strategy, effort=2_000)
    assert check(problem, result) == ()
    assert result.bound.bytes <= result.arena <= result.no_reuse


def test_unknown_strategy_and_negative_effort() -> None:
    with pytest.raises(ValueError, match=r"expected a strategy among portfolio, .*, no-reuse, got 'magic'"):
        plan(CHAIN, strategy="magic")
    with pytest.raises(ValueError, match="expected an effort of 0 placements or more, got -1"):
        plan(CHAIN, effort=-1)


def test_more_effort_never_costs_memory() -> None:
    problem = mixed(150, seed=1)
    arenas = [plan(problem, effort=effort).arena for effort in (0, 1_000, 20_000)]
    assert arenas == sorted(arenas, reverse=True)


def test_the_search_improves_on_the_heuristics() -> None:
    rng = random.Random(3)
    starts = [rng.randrange(60) for _ in range(120)]
    problem = Problem(
        tuple(Buffer(i, s, s + rng.randrange(1, 25), rng.randrange(1, 60), 1) for i, s in enumerate(starts))
    )
    heuristic, searched = plan(problem, effort=0), plan(problem, effort=20_000)
    assert searched.strategy == "search"
    assert searched.arena < heuristic.arena
    assert searched == plan(problem, effort=20_000)


def test_a_buffer_borrows_the_smallest_pool_that_holds_it() -> None:
    pools = (Pool("wide", 4096, ((0, 9),)), Pool("snug", 128, ((0, 9),)))
    result = plan(Problem((Buffer("a", 1, 3, 100),), pools))
    assert result.placements == (Placement("a", "snug", 0),)
    assert (result.arena, result.no_reuse, result.proven_optimal) == (0, 128, True)


def test_a_buffer_of_the_pools_very_size_fits() -> None:
    result = plan(Problem((Buffer("a", 0, 1, 100),), (Pool("p", 100, ((0, 1),)),)))
    assert result.placements == (Placement("a", "p", 0),)


def test_a_buffer_alive_beyond_the_window_stays_in_the_arena() -> None:
    result = plan(Problem((Buffer("a", 0, 5, 64),), (Pool("p", 64, ((0, 3), (4, 5))),)))
    assert result.placements == (Placement("a", None, 0),)


def test_loans_go_where_the_arena_is_fullest() -> None:
    """The pool holds one of the two; only the one at the peak lowers the arena, though the other is larger."""
    buffers = (
        Buffer("large", 0, 2, 256),
        Buffer("peak", 1, 4, 192),
        Buffer("crowd", 2, 4, 512),
    )
    result = plan(Problem(buffers, (Pool("p", 256, ((0, 4),)),)))
    assert [p.pool for p in result.placements] == [None, "p", None]
    assert result.arena == 512
    assert result.proven_optimal


def test_buffers_share_a_pool_one_after_the_other() -> None:
    buffers = tuple(Buffer(i, i, i + 1, 64) for i in range(4))
    result = plan(Problem(buffers, (Pool("p", 64, ((0, 4),)),)))
    assert {p.pool for p in result.placements} == {"p"}
    assert result.arena == 0


def test_pinned_buffers_stay_and_others_fill_the_hole_below() -> None:
    problem = Problem((Buffer("pin", 0, 4, 64, fixed_offset=128), Buffer("a", 0, 4, 128), Buffer("b", 1, 3, 64)))
    for strategy in STRATEGIES:
        result = plan(problem, strategy=strategy)
        assert check(problem, result) == ()
        assert result.placements == (Placement("pin", None, 128), Placement("a", None, 0), Placement("b", None, 192))
        assert result.arena == 256


def test_never_worse_than_no_reuse() -> None:
    """In order of start every alignment gap is paid for; the fallback stacks the strictest alignment first."""
    problem = Problem((Buffer("tiny", 0, 9, 1, 1), Buffer("wide", 1, 9, 4096, 4096), Buffer("last", 2, 9, 8192, 1)))
    result = plan(problem, strategy="greedy/start")
    assert result.arena <= result.no_reuse == 1 + 4096 + 8192
    assert check(problem, result) == ()
    assert result.strategy == NO_REUSE


def refuse(_: object) -> None:
    raise AssertionError("neighbours were listed")


def short_lived(count: int) -> Problem:
    """No step cuts the problem in parts."""
    return Problem(tuple(Buffer(i, i, i + 2 + i * 7 % 20, 64 * (1 + i * i % 61)) for i in range(count)))


def test_above_5000_buffers_nothing_lists_which_overlap(monkeypatch: pytest.MonkeyPatch) -> None:
    listed: list[int] = []
    original = portfolio.find_neighbours

    def spy(instance: instances.Instance) -> object:
        listed.append(len(instance))
        return original(instance)

    monkeypatch.setattr(portfolio, "find_neighbours", spy)
    plan(short_lived(5_000), effort=0)
    assert listed == [5_000]
    monkeypatch.setattr(portfolio, "find_neighbours", refuse)
    problem = short_lived(5_001)
    made = plan(problem, effort=0)
    assert check(problem, made) == ()
    assert made.gap < 0.05


@pytest.mark.parametrize("alignments", [(1,), (1, 16, 64)])
def test_compiled_placement_is_placement(alignments: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    problem = mixed(700, seed=9)
    buffers = tuple(replace(b, alignment=alignments[i % len(alignments)]) for i, b in enumerate(problem.buffers))
    instance = instances.build_instance(Problem(buffers))
    for name, order in greedy.GREEDY_ORDERS.items():
        plain = greedy.greedy_below(instance, order(instance), name)
        assert plain is not None
        with monkeypatch.context() as patch:
            patch.setattr(greedy, "WORTH_COMPILING", 0)
            assert greedy.greedy_below(instance, order(instance), name) == plain
            assert greedy.greedy_below(instance, order(instance), name, plain.arena) == plain
            assert greedy.greedy_below(instance, order(instance), name, plain.arena - 1) is None
        assert greedy.greedy_below(instance, order(instance), name, plain.arena - 1) is None


@pytest.mark.parametrize("limit", ["DENSEST", "MOST_LISTED"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_no_strategy_lists_pairs_where_they_are_too_many(
    strategy: str, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(instances, limit, 10)
    monkeypatch.setattr(portfolio, "find_neighbours", refuse)
    pinned = mixed(60, seed=5)
    loose = Problem(tuple(replace(b, fixed_offset=None) for b in pinned.buffers))
    for problem in (loose, pinned):
        assert check(problem, plan(problem, strategy=strategy, effort=2_000)) == ()


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_where_time_is_out_there_is_what_an_allocator_would_do(strategy: str) -> None:
    starts = [i * 37 % 4000 for i in range(4000)]
    problem = Problem(tuple(Buffer(i, s, s + 700 + i % 900, 64 + i % 555) for i, s in enumerate(starts)))
    assert instances.build_instance(problem).is_dense
    result = plan(problem, strategy=strategy, time_limit=0)
    assert result.strategy == "online"
    assert check(problem, result) == ()


@pytest.mark.parametrize("seed", range(20))
def test_online_placement(seed: int) -> None:
    problem = Problem(tuple(replace(b, fixed_offset=None) for b in mixed(120, seed).buffers if b.size))
    instance = instances.build_instance(problem)
    layout = online(instance)
    placements = tuple(
        Placement(problem.buffers[i].id, None, o) for i, o in zip(instance.origin, layout.offsets, strict=True)
    )
    assert check(problem, replace(plan(problem, effort=0), placements=placements, arena=layout.arena)) == ()


def test_online_placement_fills_the_smallest_hole_and_joins_free_neighbours() -> None:
    """`a` and `b` die beside each other: `wide` lies where both were; `snug` takes the hole of its size, not the wide one."""
    buffers = (
        *(
            Buffer(name, 0, end, size, 1)
            for name, end, size in (("k", 9, 50), ("a", 2, 40), ("b", 2, 30), ("l", 9, 20))
        ),
        *(Buffer(name, 0, end, size, 1) for name, end, size in (("s", 2, 10), ("m", 9, 5))),
        Buffer("wide", 2, 9, 70, 1),
        Buffer("snug", 2, 9, 9, 1),
    )
    layout = online(instances.build_instance(Problem(buffers)))
    assert layout.offsets == (0, 50, 90, 120, 140, 150, 50, 140)
    assert layout.arena == 155


def test_pairs_are_counted() -> None:
    problem = mixed(60, seed=2)
    movable = [b for b in problem.buffers if b.size and b.fixed_offset is None]
    pairs = sum(a.lower < b.upper and b.lower < a.upper for i, a in enumerate(movable) for b in movable[:i])
    assert instances.build_instance(problem).pairs == pairs


def test_large_problems_do_not_list_pairs() -> None:
    problem = Problem(tuple(Buffer(i, i % 7, 2000 + i, 64 + i % 5) for i in range(2000)))
    assert instances.build_instance(problem).is_dense
    result = plan(problem)
    assert check(problem, result) == ()
    assert result.proven_optimal


def crowded(count: int, steps: int) -> instances.Instance:
    rng = random.Random(count)
    buffers: list[Buffer] = []
    for i in range(count):
        lower = rng.randrange(steps)
        buffers.append(Buffer(i, lower, lower + 1 + rng.randrange(steps // 2), 1 + rng.randrange(900), 1))
    return instances.build_instance(Problem(tuple(buffers)))


@pytest.mark.parametrize("dense", [False, True])
def test_with_a_time_limit_it_goes_on_until_the_time_or_the_bound_is_reached(
    dense: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted in looks at the clock. More of them never cost memory, and there is no other end but the bound."""
    monkeypatch.setattr(portfolio, "DEFAULT_EFFORT", 2_000)
    if dense:
        monkeypatch.setattr(instances, "MOST_LISTED", 10)
    text = (Path(__file__).parents[3] / "data" / "planning" / "E.1048576.csv").read_text(encoding="utf-8")
    instance = instances.build_instance(read_csv(text))
    quick = portfolio.STRATEGIES["portfolio"](instance, Request(0, 2_000, 1_000, NO_DEADLINE))
    arenas: list[int] = []
    for most in (20, 300, 1_500):
        limit = Clock(most)
        found = portfolio.STRATEGIES["portfolio"](instance, Request(0, 2_000, 1_000, limit.as_deadline))
        assert limit.looks >= most or found.arena <= max(instance.floor, found.proven)
        arenas.append(found.arena)
    assert arenas == sorted(arenas, reverse=True)
    assert arenas[-1] < quick.arena


def test_a_capacity_is_asked_for_until_none_can_fit() -> None:
    """Six bytes are live at each step, seven are needed. Where the bound says so already, little is asked."""
    ranges = ((0, 2, 3), (0, 1, 3), (1, 4, 1), (1, 3, 2), (4, 5, 3), (3, 5, 3), (2, 4, 1), (2, 4, 1))
    problem = Problem(tuple(Buffer(i, *row, 1) for i, row in enumerate(ranges)))
    needed = plan(problem).arena
    refused = plan(problem, capacity=needed - 1)
    assert refused.bound.bytes == needed
    assert plan(problem, capacity=needed).arena == needed
    assert plan(problem, capacity=3).bound.kind in ("live", "dive")


@pytest.mark.parametrize("strategy", ["greedy/start", "skyline/lifetime"])
def test_what_reached_too_high_goes_first_the_next_time(strategy: str) -> None:
    instance = crowded(60, 40)
    known = STRATEGIES[strategy](instance, Request(0, 0, 0, NO_DEADLINE))
    arenas = [search_whole(instance, known, passes).arena for passes in (0, 1, 5, 40)]
    assert arenas[0] == known.arena
    assert arenas == sorted(arenas, reverse=True)
    assert arenas[-1] < known.arena
    assert search_whole(instance, known, 40) == search_whole(instance, known, 40)


def test_what_is_placed_greedily_is_placed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """As often as the effort allows, and no more where the work for greedy orders is used up."""
    monkeypatch.setattr(instances, "MOST_LISTED", 10)
    monkeypatch.setattr(portfolio, "SKYLINE_ORDERS", {})
    instance = crowded(60, 40)
    quick = portfolio.STRATEGIES["portfolio"]
    alone, again = (quick(instance, Request(0, effort, 0, NO_DEADLINE)) for effort in (0, 60 * 40))
    assert alone.strategy in greedy.GREEDY_ORDERS
    assert again.strategy == f"{alone.strategy}, again"
    assert again.arena < alone.arena
    monkeypatch.setattr(portfolio, "_GREEDY_WORK", 60**2 // 2)
    assert quick(instance, Request(0, 60 * 40, 0, NO_DEADLINE)).strategy == "greedy/size"


def test_buffers_may_be_plain_tuples() -> None:
    assert plan([("a", 0, 2, 3), ("b", 1, 3, 5, 1)]) == plan([Buffer("a", 0, 2, 3), Buffer("b", 1, 3, 5, 1)])


@pytest.mark.parametrize("given", [("a", 0, 2), 7, "abcd", {"id": "a"}, ("a", 0, 2, 3, 1, None, (), 9)])
def test_what_is_no_buffer_is_refused(given: Any) -> None:
    with pytest.raises(PlanError, match=r"plan: expected buffers, or tuples such as \('a', 0, 2, 100\): id, lower"):
        plan([given])


@pytest.mark.parametrize("alignment", [1, 64])
def test_the_compiled_skyline_is_the_skyline(alignment: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    rng = random.Random(alignment)
    starts = [rng.randrange(500) for _ in range(400)]
    buffers = tuple(
        Buffer(i, start, start + rng.randrange(1, 60), rng.randrange(1, 5000), alignment)
        for i, start in enumerate(starts)
    )
    instance = instances.build_instance(Problem(buffers), {})
    for name, order in SKYLINE_ORDERS.items():
        monkeypatch.setattr(skyline, "WORTH_COMPILING", 1 << 62)
        one_by_one = skyline.skyline_in_arrays(instance, order(instance), name)
        monkeypatch.setattr(skyline, "WORTH_COMPILING", 0)
        assert skyline.skyline_in_arrays(instance, order(instance), name) == one_by_one
        assert one_by_one is not None
        work = 400 * skyline.LOOK  # some buffers are looked at again
        assert skyline.skyline_in_arrays(instance, order(instance), name, work=work) is None
        assert skyline.skyline_in_arrays(instance, order(instance), name, one_by_one.arena - 1) is None
        assert skyline.skyline_in_arrays(instance, order(instance), name, deadline=Deadline.after(0.0)) is None
