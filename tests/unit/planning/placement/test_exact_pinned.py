"""The exact searches where some buffers are pinned: against trying every placement, and against CP-SAT."""

import random
from dataclasses import replace

import pytest

from hotdesk.planning import Buffer, Problem, check, plan
from hotdesk.planning.placement import cpsat, dive, exact
from hotdesk.planning.placement.instance import ArenaLayout, Instance, build_instance
from hotdesk.planning.placement.skyline import reach


def pinned_problem(seed: int, count: int, largest: int, alignments: tuple[int, ...]) -> Problem:
    """Some three in ten buffers are pinned, as far as they do not collide."""
    rng = random.Random(seed)
    buffers: list[Buffer] = []
    for i in range(count):
        lower, alignment = rng.randrange(7), rng.choice(alignments)
        one = Buffer(i, lower, lower + 1 + rng.randrange(5), rng.randrange(1, largest), alignment)
        at = rng.randrange(2 * largest) // alignment * alignment
        pinned = replace(one, fixed_offset=at)
        others = [
            (b.fixed_offset, b.fixed_offset + b.footprint)
            for b in buffers
            if b.fixed_offset is not None and b.lower < one.upper and one.lower < b.upper
        ]
        free = all(at + one.footprint <= bottom or top <= at for bottom, top in others)
        buffers.append(pinned if free and rng.random() < 0.3 else one)
    return Problem(tuple(buffers))


def is_right(instance: Instance, offsets: tuple[int, ...], capacity: int) -> bool:
    taken = [(instance.lower[i], instance.upper[i], at, at + instance.size[i]) for i, at in enumerate(offsets)]
    taken += [(o.lower, o.upper, o.bottom, o.top) for o in instance.obstacles]
    return (
        reach(instance, offsets) <= capacity
        and all(at % alignment == 0 for at, alignment in zip(offsets, instance.alignment, strict=True))
        and not any(
            a[0] < b[1] and b[0] < a[1] and a[2] < b[3] and b[2] < a[3] for i, a in enumerate(taken) for b in taken[:i]
        )
    )


@pytest.mark.parametrize("alignments", [(1,), (1, 2, 4)])
@pytest.mark.parametrize("seed", range(30))
def test_around_what_is_pinned_searches_answer_as_trying_everything_does(
    seed: int, alignments: tuple[int, ...]
) -> None:
    pytest.importorskip("numba")
    problem = pinned_problem(seed, 6, 6, alignments)
    instance = build_instance(problem)
    for capacity in (instance.floor - 1, instance.floor, instance.floor + 2):
        possible = tried(list(problem.buffers), capacity)
        answer = dive.dive(instance, capacity, 1_000_000)
        assert (answer.offsets is not None) == possible
        assert answer.exhausted == (not possible)
        assert answer.offsets is None or is_right(instance, answer.offsets, capacity)


@pytest.mark.parametrize("block", [0, *(pytest.param(block, marks=pytest.mark.slow) for block in range(1, 10))])
def test_around_what_is_pinned_searches_answer_as_cp_sat_does(block: int) -> None:
    pytest.importorskip("ortools")
    pytest.importorskip("numba")
    for seed in range(25 * block, 25 * block + 25):
        instance = build_instance(
            pinned_problem(1000 + seed, 10, (20, 90)[seed % 2], ((1,), (1, 4, 16))[seed // 2 % 2])
        )
        for capacity in (instance.floor, instance.floor + instance.floor // 16):
            solved = cpsat.feasible(instance, capacity, effort=1.0)
            assert solved.exhausted == (solved.offsets is None)
            answer = dive.dive(instance, capacity, 1_000_000)
            assert (answer.offsets is None, answer.exhausted) == (solved.offsets is None, solved.exhausted)
            assert answer.offsets is None or is_right(instance, answer.offsets, capacity)


@pytest.mark.parametrize("seed", range(12))
def test_without_the_solver_an_optimum_is_proven(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    problem = pinned_problem(2000 + seed, 9, 12, (1, 2))
    monkeypatch.setattr(cpsat, "available", lambda: False)
    result = plan(problem, strategy="exact")
    assert check(problem, result) == ()
    assert result.proven_optimal
    assert result.bound.kind in ("live", "pinned", "dive")
    assert not tried_by_searching(problem, result.arena - 1)


def tried_by_searching(problem: Problem, capacity: int) -> bool:
    """Whether buffers fit below `capacity`: put down one after the other in every order, each as low as is clear.

    From any placement buffers can sink, the lowest first, each to where it is clear of those below it and of what is pinned.
    """
    instance = build_instance(problem)
    dead: set[tuple[tuple[int, int], ...]] = set()

    def clear(i: int, at: int) -> int:
        at += -at % instance.alignment[i]
        for o in sorted(instance.obstacles, key=lambda o: o.bottom):
            met = o.lower < instance.upper[i] and instance.lower[i] < o.upper
            if met and at < o.top and o.bottom < at + instance.size[i]:
                return clear(i, o.top)
        return at

    def place(offsets: dict[int, int]) -> bool:
        if len(offsets) == len(instance):
            return True
        state = tuple(sorted(offsets.items()))
        if state in dead:
            return False
        for i in range(len(instance)):
            if i not in offsets:
                met = (
                    j
                    for j in offsets
                    if instance.lower[i] < instance.upper[j] and instance.lower[j] < instance.upper[i]
                )
                at = clear(i, max((offsets[j] + instance.size[j] for j in met), default=0))
                if at + instance.size[i] <= capacity and place({**offsets, i: at}):
                    return True
        dead.add(state)
        return False

    return capacity >= max((o.top for o in instance.obstacles), default=0) and place({})


def test_a_hard_problem_ends_within_its_nodes_and_the_same_way_each_time() -> None:
    pytest.importorskip("numba")
    instance = build_instance(pinned_problem(7, 60, 1000, (1, 8)))
    given = ArenaLayout((0,) * len(instance), 10**6, "given")
    walks = exact.Rung(moves=30_000)
    first, second = (exact.improve(instance, given, rungs=(walks,), budget=60_000) for _ in range(2))
    assert first == second
    assert first.arena < given.arena
    assert is_right(instance, first.offsets, first.arena)
    lower = first.arena - 1
    answer = dive.dive(instance, lower, 5_000)
    assert answer.nodes <= 10_000
    assert not answer.exhausted


def test_cp_sat_keeps_clear_of_what_is_pinned() -> None:
    pytest.importorskip("ortools")
    problem = Problem((Buffer("pin", 1, 3, 4, 1, fixed_offset=2), Buffer("a", 0, 2, 3, 1), Buffer("b", 2, 4, 2, 1)))
    result = plan(problem, strategy="cp-sat")
    assert check(problem, result) == ()
    assert result.arena == 9
    assert result.bound.kind == "cp-sat"
    assert result.proven_optimal


def test_every_capacity_below_an_optimum_is_asked_for() -> None:
    """Proof by proof the floor rises until one capacity is left, which nobody was asked about."""
    pytest.importorskip("ortools")
    rows = (
        *((0, 4, 3, 4), (9, 11, 7, 1), (7, 10, 33, 4), (9, 10, 6, 4), (5, 8, 11, 4)),
        *((1, 6, 12, 4), (7, 11, 6, 1), (5, 8, 12, 1), (6, 7, 8, 4)),
    )
    pinned = Buffer("pinned", 7, 8, 12, 4, fixed_offset=16)
    result = plan([pinned, *(Buffer(i, *row) for i, row in enumerate(rows))], strategy="exact")
    assert (result.arena, result.bound.bytes) == (82, 82)


@pytest.mark.parametrize("scale", [1, 700])
@pytest.mark.parametrize("seed", range(8))
def test_around_what_is_pinned_an_optimum_is_proven(seed: int, scale: int) -> None:
    """Whatever the sizes are counted in: from a half per cent above what is proven on, the questions do not stop."""
    pytest.importorskip("ortools")
    rng = random.Random(seed)
    small_ones: list[Buffer] = []
    for i in range(6):
        lower = rng.randrange(6)
        small_ones.append(Buffer(i, lower, lower + 1 + rng.randrange(5), rng.randrange(1, 6), 1))
    small_ones[0] = replace(small_ones[0], fixed_offset=rng.randrange(1, 8))
    scaled = [
        replace(b, size=b.size * scale, fixed_offset=None if b.fixed_offset is None else b.fixed_offset * scale)
        for b in small_ones
    ]
    result = plan(scaled, strategy="exact")
    assert check(Problem(tuple(scaled)), result) == ()
    assert result.proven_optimal
    least = next(capacity for capacity in range(100) if tried(small_ones, capacity))
    assert result.arena == least * scale


def tried(buffers: list[Buffer], capacity: int) -> bool:
    """Whether some offsets below `capacity` keep all apart, by trying each."""
    offsets = [
        range(0, capacity - b.footprint + 1, b.alignment) if b.fixed_offset is None else (b.fixed_offset,)
        for b in buffers
    ]

    def place(placed: tuple[int, ...]) -> bool:
        i = len(placed)
        if i == len(buffers):
            return True
        b = buffers[i]
        taken = [
            (at, at + other.footprint)
            for other, at in zip(buffers, placed, strict=False)
            if other.lower < b.upper and b.lower < other.upper
        ]
        return any(
            at + b.footprint <= capacity
            and all(at + b.footprint <= bottom or top <= at for bottom, top in taken)
            and place((*placed, at))
            for at in offsets[i]
        )

    return place(())
