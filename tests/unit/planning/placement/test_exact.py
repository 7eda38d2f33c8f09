"""The exact searches against trying every placement, and what they prove."""

import os
import random
import signal
import threading
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from hotdesk.planning import Buffer, Problem, check, plan
from hotdesk.planning.placement import cpsat, exact
from hotdesk.planning.placement.dive import dive
from hotdesk.planning.placement.instance import ArenaLayout, Instance, build_instance
from hotdesk.planning.placement.skyline import reach


def small(seed: int, count: int = 7, alignments: tuple[int, ...] = (1,)) -> Instance:
    rng = random.Random(seed)
    buffers: list[Buffer] = []
    for i in range(count):
        lower = rng.randrange(6)
        upper = lower + 1 + rng.randrange(5)
        buffers.append(Buffer(i, lower, upper, rng.randrange(1, 6), rng.choice(alignments)))
    return build_instance(Problem(tuple(buffers)))


def fits(instance: Instance, capacity: int) -> bool:
    """Whether any placement below `capacity` keeps all apart.

    Whatever the placement, buffers can sink one after the other, the lowest first, until each rests on the ground or
    on others: it is enough to put them down in every order, each at the first aligned offset above those it is live with.
    """
    dead: set[tuple[tuple[int, int], ...]] = set()

    def place(offsets: dict[int, int]) -> bool:
        state = tuple(sorted(offsets.items()))
        if state in dead:
            return False
        if len(offsets) == len(instance):
            return True
        for i in range(len(instance)):
            if i not in offsets:
                tops = [o + instance.size[j] for j, o in offsets.items() if live_together(instance, i, j)]
                offset = -(-max(tops, default=0) // instance.alignment[i]) * instance.alignment[i]
                if offset + instance.size[i] <= capacity and place({**offsets, i: offset}):
                    return True
        dead.add(state)
        return False

    return place({})


def live_together(instance: Instance, i: int, j: int) -> bool:
    return instance.lower[i] < instance.upper[j] and instance.lower[j] < instance.upper[i]


def apart(instance: Instance, i: int, at_i: int, j: int, at_j: int) -> bool:
    together = live_together(instance, i, j)
    return not together or at_i + instance.size[i] <= at_j or at_j + instance.size[j] <= at_i


def is_right(instance: Instance, offsets: tuple[int, ...], capacity: int) -> bool:
    pairs = [(i, j) for i in range(len(instance)) for j in range(i)]
    aligned = all(o % a == 0 for o, a in zip(offsets, instance.alignment, strict=True))
    return (
        aligned
        and reach(instance, offsets) <= capacity
        and all(apart(instance, i, offsets[i], j, offsets[j]) for i, j in pairs)
    )


@pytest.mark.parametrize("alignments", [(1,), (1, 2, 4)])
@pytest.mark.parametrize("seed", range(20))
def test_walks_answer_as_trying_everything_does(seed: int, alignments: tuple[int, ...]) -> None:
    pytest.importorskip("numba")
    instance = small(seed, alignments=alignments)
    for capacity in range(max(instance.floor - 1, 0), instance.floor + 3):
        answer = dive(instance, capacity, moves=1_000_000)
        assert (answer.offsets is not None) == fits(instance, capacity)
        assert answer.exhausted == (answer.offsets is None)
        assert answer.offsets is None or is_right(instance, answer.offsets, capacity)


@pytest.mark.parametrize("seed", range(10))
def test_walks_that_are_cut_short_prove_nothing(seed: int) -> None:
    pytest.importorskip("numba")
    instance = small(seed, count=9)
    for moves in (0, 3, 9):
        answer = dive(instance, instance.floor, moves=moves)
        assert answer.nodes <= moves
        assert answer.offsets is not None or not answer.exhausted or not fits(instance, instance.floor)
    assert not dive(instance, instance.floor, moves=8).exhausted


@pytest.mark.parametrize("seed", range(10))
def test_cp_sat_answers_as_trying_everything_does(seed: int) -> None:
    pytest.importorskip("ortools")
    instance = small(seed, alignments=(1, 2, 4))
    for capacity in (instance.floor, instance.floor + 1):
        answer = cpsat.feasible(instance, capacity, effort=1.0)
        assert (answer.offsets is not None) == fits(instance, capacity)
        assert answer.exhausted == (answer.offsets is None)
        assert answer.offsets is None or is_right(instance, answer.offsets, capacity)


def test_sizes_beyond_thirty_two_bits() -> None:
    pytest.importorskip("numba")
    for scale in (1 << 20, (1 << 40) + 1):
        buffers = tuple(Buffer(i, i % 3, i % 3 + 2, scale + i, 1) for i in range(8))
        problem = Problem(buffers)
        result = plan(problem, strategy="dive")
        assert check(problem, result) == ()
        assert result.proven_optimal


def unreachable() -> Problem:
    """Six bytes are live at each of five steps, and no arena of six bytes holds them: `fits` tries every one."""
    ranges = ((0, 2, 3), (0, 1, 3), (1, 4, 1), (1, 3, 2), (4, 5, 3), (3, 5, 3), (2, 4, 1), (2, 4, 1))
    return Problem(tuple(Buffer(i, lower, upper, size, 1) for i, (lower, upper, size) in enumerate(ranges)))


@pytest.mark.parametrize("strategy", ["dive", "cp-sat", "exact"])
def test_a_load_out_of_reach_is_proven_to_be(strategy: str) -> None:
    for name, package in (("cp-sat", "ortools"), ("dive", "numba")):
        if strategy == name:
            pytest.importorskip(package)
    problem = unreachable()
    heuristic, result = plan(problem, effort=0), plan(problem, strategy=strategy)
    assert heuristic.bound.kind == "live"
    assert result.bound.bytes > heuristic.bound.bytes
    assert result.bound.kind in ("dive", "cp-sat")
    assert result.proven_optimal
    assert check(problem, result) == ()
    assert not fits(build_instance(problem), result.arena - 1)


def test_what_a_solver_did_not_need_is_left_to_ask_with() -> None:
    pytest.importorskip("ortools")
    instance = build_instance(unreachable())
    answer = cpsat.feasible(instance, instance.floor, effort=1.0)
    assert answer.exhausted
    assert 0 < answer.nodes < cpsat.NODES_PER_EFFORT // 10


def test_nothing_is_tried_after_a_plan_that_fits() -> None:
    problem = unreachable()
    roomy = plan(problem, strategy="exact", capacity=1000)
    assert roomy.strategy.startswith("skyline/")
    assert roomy.bound.kind == "live"


def test_the_ladder_stops_at_its_budget_and_keeps_what_it_was_given() -> None:
    instance = build_instance(unreachable())
    given = ArenaLayout((0,) * len(instance), 10**6, "given")
    assert exact.improve(instance, given, budget=0) == given


class Searching:
    """A solver that searches until it is told to stop."""

    def __init__(self) -> None:
        self.parameters = SimpleNamespace(catch_sigint_signal=True)
        self.stopped = threading.Event()

    def solve(self, model: object) -> str:
        os.kill(os.getpid(), signal.SIGINT)
        assert self.stopped.wait(60)
        return "stopped"

    def stop_search(self) -> None:
        self.stopped.set()


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Python's own handler, which what runs in the background has not."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_a_search() -> None:
    solver = Searching()
    with pytest.raises(KeyboardInterrupt):
        cpsat._solved(solver, None)  # pyright: ignore[reportPrivateUsage]
    assert solver.stopped.is_set()
    assert not solver.parameters.catch_sigint_signal


@pytest.mark.usefixtures("ctrl_c")
def test_the_solver_leaves_ctrl_c_to_python() -> None:
    """Left to itself it takes Python's handler away: Ctrl-C ended the process then, whatever it did."""
    pytest.importorskip("ortools")
    assert cpsat.feasible(small(0), 100, effort=1.0).offsets is not None
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
