"""Orders of tasks: known optima, cuts, budgets, what the checker refuses, and how time grows."""

from __future__ import annotations

import random
import sys
from dataclasses import replace

import pytest

from hotdesk.planning.scheduling import scheduler
from hotdesk.planning.scheduling.checker import check_order, check_schedule, peak_of
from hotdesk.planning.scheduling.heuristics import RULES
from hotdesk.planning.scheduling.problem import ScheduleProblem, Task
from hotdesk.planning.scheduling.reduction import find_parts, reduce_problem
from hotdesk.planning.scheduling.scheduler import schedule
from hotdesk.planning.scheduling.state_space import relate


def branches(count: int, *, wide: int = 100, narrow: int = 1) -> ScheduleProblem:
    """From one value, `count` branches that widen and narrow, given breadth first, and a task that reads all of their ends."""
    tasks = [Task((), (0,))]
    tasks += [Task((0,), (1 + i,)) for i in range(count)]
    tasks += [Task((1 + i,), (1 + count + i,)) for i in range(count)]
    tasks.append(Task(tuple(range(1 + count, 1 + 2 * count)), (1 + 2 * count,)))
    sizes = (narrow, *[wide] * count, *[narrow] * count, narrow)
    return ScheduleProblem(tuple(tasks), sizes, frozenset({1 + 2 * count}))


def layers(count: int, width: int) -> ScheduleProblem:
    """`branches`, one after another."""
    tasks: list[Task] = []
    sizes = [1]
    for _ in range(count):
        source = len(sizes) - 1
        wide = range(source + 1, source + 1 + width)
        narrow = range(source + 1 + width, source + 1 + 2 * width)
        tasks += [Task((source,), (value,)) for value in wide]
        tasks += [Task((value,), (value + width,)) for value in wide]
        tasks.append(Task(tuple(narrow), (narrow[-1] + 1,)))
        sizes += [100] * width + [1] * width + [1]
    return ScheduleProblem(tuple(tasks), tuple(sizes), frozenset({len(sizes) - 1}))


def drawn(count: int, reach: int, seed: int) -> ScheduleProblem:
    """Tasks that read some of the `reach` values before them."""
    numbers = random.Random(seed)
    sizes = [64]
    tasks: list[Task] = []
    for _ in range(count):
        operands = tuple({numbers.randrange(max(0, len(sizes) - reach), len(sizes)) for _ in range(2)})
        sizes.append(64 * numbers.choice((1, 2, 3, 4, 8, 16)))
        tasks.append(Task(operands, (len(sizes) - 1,)))
    return ScheduleProblem(tuple(tasks), tuple(sizes), frozenset({len(sizes) - 1}))


def test_branch_after_branch() -> None:
    found = schedule(branches(4))
    assert found.given == 401  # the source and four wide values
    assert found.peak == 104  # three narrow ends, and the last branch: with its source, or with its end
    assert found.proven_optimal


def test_nothing_to_order() -> None:
    found = schedule(ScheduleProblem((), ()))
    assert (found.order, found.peak, found.given, found.bound) == ((), 0, 0, 0)


def test_an_order_that_gains_nothing_stays_as_it_came() -> None:
    problem = ScheduleProblem((Task((), (0,)), Task((), (1,)), Task((0, 1), (2,))), (4, 4, 4), frozenset({2}))
    found = schedule(problem)
    assert found.order == (0, 1, 2)
    assert (found.peak, found.bound, found.strategy) == (12, 12, "given")


def test_only_the_parts_that_set_the_peak_change() -> None:
    low = Task((8,), (9,)), Task((8,), (10,)), Task((9, 10), (11,))
    problem = branches(3)
    tasks = (*problem.tasks, Task((7,), (8,)), *low)
    found = schedule(ScheduleProblem(tasks, (*problem.sizes, 1, 2, 1, 1), frozenset({11})))
    assert found.peak < found.given
    assert found.order[-4:] == (8, 9, 10, 11)


def test_displacements_count() -> None:
    """Where the last reader writes over a value, it is worth while to have it read last."""
    tasks = (Task((), (0,)), Task((0,), (1,), ((1, 0),)), Task((0,), (2,)), Task((1, 2), (3,)))
    found = schedule(ScheduleProblem(tasks, (10, 10, 1, 1), frozenset({3})))
    assert (found.given, found.peak, found.order) == (21, 12, (0, 2, 1, 3))


def test_each_dying_operand_holds_one_result() -> None:
    tasks = (Task((), (0,)), Task((), (1,)), Task((0, 1), (2, 3), ((2, 0), (2, 1), (3, 0))))
    problem = ScheduleProblem(tasks, (5, 5, 5, 5), frozenset({2, 3}))
    assert schedule(problem).peak == peak_of(problem, (0, 1, 2)) == 10


def test_fixed_order() -> None:
    first = branches(3)
    tasks = list(first.tasks)
    for number in range(2, len(tasks)):
        tasks[number] = replace(tasks[number], after=(number - 1,))
    found = schedule(replace(first, tasks=tuple(tasks)))
    assert found.order == tuple(range(len(tasks)))
    assert found.proven_optimal


def test_chains_are_cut_at_every_task() -> None:
    problem = ScheduleProblem(tuple(Task((i,), (i + 1,)) for i in range(50)), (0, *[8] * 50), frozenset({50}))
    assert find_parts(relate(problem)) == [(i, i + 1) for i in range(50)]
    assert schedule(problem).nodes == 0


def test_parts_between_joins() -> None:
    problem = layers(3, 2)
    assert find_parts(relate(problem)) == [(0, 5), (5, 10), (10, 15)]


def test_a_source_goes_to_its_user_and_a_sink_to_its_maker() -> None:
    tasks = (Task((), (0,)), Task((), (1,)), Task((1,), (2,)), Task((2,), (3,)), Task((0, 2), (4,)))
    problem = ScheduleProblem(tasks, (8, 4, 4, 0, 4), frozenset({3, 4}))
    reduced, groups = reduce_problem(problem)
    assert groups == ((1, 2, 3), (0, 4))
    assert [task.scratch for task in reduced.tasks] == [4, 8]


def test_equal_layers_are_solved_once() -> None:
    one, many = schedule(layers(1, 4)), schedule(layers(40, 4))
    assert many.peak == one.peak < one.given
    assert many.proven_optimal
    assert many.nodes <= 3 * max(one.nodes, 1)


def test_many_tasks() -> None:
    problem = layers(1000, 5)
    found = schedule(problem)
    assert len(problem.tasks) == 11_000
    assert check_schedule(problem, found) == ()
    assert found.peak < found.given
    assert found.seconds < 30


def test_a_graph_without_cuts_is_taken_in_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "LARGEST_PART", 50)
    problem = drawn(300, 40, seed=2)
    found = schedule(problem, budget=200)
    assert check_schedule(problem, found) == ()
    assert found.peak < found.given


def test_branches_wider_than_a_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given breadth first, no window has both ends of a branch; by rule, one branch runs after the other."""
    monkeypatch.setattr(scheduler, "LARGEST_PART", 50)
    problem = branches(200)
    found = schedule(problem)
    assert check_schedule(problem, found) == ()
    assert found.given == 200 * 100 + 1
    assert found.peak == 300
    assert found.strategy in RULES


def test_windows_keep_the_given_order_where_rules_are_no_better(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "LARGEST_PART", 4)
    best = schedule(branches(8))
    problem = ordered(branches(8), best.order)
    found = schedule(problem, budget=0)
    assert (found.peak, found.given, found.order) == (best.peak, best.peak, tuple(range(len(problem.tasks))))


def test_no_order_is_worse_than_the_given_one() -> None:
    """Against every set of tasks that may be done, for problems that are small enough."""
    for seed in range(40):
        problem = drawn(9, 3 + seed % 5, seed)
        found = schedule(problem)
        assert check_schedule(problem, found) == ()
        assert found.peak == found.bound == lowest_peak(problem) <= found.given


def lowest_peak(problem: ScheduleProblem) -> int:
    """The lowest peak there is, by every set of tasks that may be done; without displacements."""
    peaks = {frozenset[int](): 0}
    for _ in problem.tasks:
        following: dict[frozenset[int], int] = {}
        for done, before in peaks.items():
            live = {v for v in range(len(problem.sizes)) if is_live(problem, v, done)}
            for number, task in enumerate(problem.tasks):
                needs = {m for m, other in enumerate(problem.tasks) if set(other.results) & set(task.operands)}
                if number in done or not needs <= done:
                    continue
                now = sum(problem.sizes[v] for v in live | set(task.results)) + task.scratch
                after = done | {number}
                following[after] = min(max(before, now), following.get(after, sys.maxsize))
        peaks = following
    return min(peaks.values())


def is_live(problem: ScheduleProblem, value: int, done: frozenset[int]) -> bool:
    """Whether a value is there and wanted when some tasks are done."""
    makers = [number for number, task in enumerate(problem.tasks) if value in task.results]
    wanted = any(value in task.operands for number, task in enumerate(problem.tasks) if number not in done)
    return set(makers) <= done and (wanted or value in problem.kept)


def ordered(problem: ScheduleProblem, order: tuple[int, ...]) -> ScheduleProblem:
    return replace(problem, tasks=tuple(problem.tasks[number] for number in order))


def test_the_bound_holds_when_the_budget_ends() -> None:
    problem = drawn(60, 20, seed=5)
    best = schedule(problem)
    assert best.proven_optimal
    for budget in (0, 1, 10, 100):
        found = schedule(problem, budget)
        assert check_schedule(problem, found) == ()
        assert found.bound <= best.peak <= found.peak
        assert found.nodes <= budget


def test_thresholds_between_the_bound_and_the_best_order() -> None:
    problem = drawn(60, 20, seed=3)
    found = schedule(problem, 20_000)
    assert check_schedule(problem, found) == ()
    assert (found.peak, found.strategy) == (3840, "bisection")


def test_many_ready_tasks() -> None:
    problem = branches(300)
    found = schedule(problem, 20_000)
    assert check_schedule(problem, found) == ()
    assert found.peak == 300 - 1 + 100 + 1
    assert found.nodes <= 20_000


def test_long_chains_of_sources_and_sinks() -> None:
    count = 20_000
    sources = [Task((i - 1,) if i else (), (i,), ((i, i - 1),) if i else ()) for i in range(count)]
    sinks = [Task((count - 1 + i,), (count + i,)) for i in range(count)]
    problem = ScheduleProblem((*sources, *sinks), (*[8] * count, *[0] * count), frozenset({2 * count - 1}))
    _, groups = reduce_problem(problem)
    assert groups == (tuple(range(2 * count)),)


def test_deterministic() -> None:
    problem = drawn(200, 30, seed=1)
    assert schedule(problem, 2000) == schedule(problem, 2000)


def test_the_checker_refuses() -> None:
    problem = branches(2)
    found = schedule(problem)
    assert check_order(problem, (0, 0, 1, 2, 3, 4)) == ("expected every task once",)
    assert check_order(problem, (1, 0, 2, 3, 4, 5)) == ("expected task 0 before task 1",)
    assert check_schedule(problem, replace(found, peak=found.peak + 1))
    assert check_schedule(problem, replace(found, given=found.given + 1))
    assert check_schedule(problem, replace(found, bound=found.peak + 1))
    worse = replace(found, order=tuple(range(6)), peak=found.given, given=found.given)
    assert check_schedule(problem, worse) == ()


@pytest.mark.parametrize(
    ("tasks", "sizes", "message"),
    [
        ((Task((), (0,)), Task((), (0,))), (1,), "a task for each value"),
        ((Task((0,), ()), Task((), (0,))), (1,), "an order that is allowed"),
        ((Task((), (), (), (0,)),), (), "an order that is allowed"),
        ((Task((0, 0), ()),), (1,), "each operand once"),
        ((Task((0,), (1,), ((1, 0),)),), (1, 2), "a displacement of equal size"),
        ((Task((0,), (1,), ((0, 1),)),), (1, 1), "a result and an operand"),
        ((Task(scratch=-1),), (), "scratch of 0 bytes or more"),
        ((), (-1,), "sizes of 0 bytes or more"),
    ],
)
def test_problems_that_make_no_sense(tasks: tuple[Task, ...], sizes: tuple[int, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ScheduleProblem(tasks, sizes)


def test_a_budget_below_zero() -> None:
    with pytest.raises(ValueError, match="a budget of 0 states or more"):
        schedule(branches(2), -1)
