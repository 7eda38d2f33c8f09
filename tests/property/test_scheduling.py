"""Random small graphs: schedules are right by the checker, and optimal by trying every order."""

from __future__ import annotations

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hotdesk.planning.scheduling.checker import check_order, check_schedule, peak_of
from hotdesk.planning.scheduling.exact import search
from hotdesk.planning.scheduling.heuristics import RULES, greedy
from hotdesk.planning.scheduling.problem import ScheduleProblem, Task
from hotdesk.planning.scheduling.reduction import least_peak, local_bound
from hotdesk.planning.scheduling.scheduler import schedule
from hotdesk.planning.scheduling.state_space import Segment, peak_along, relate

SETTINGS = settings(max_examples=60, deadline=None, derandomize=True)


@st.composite
def problems(draw: st.DrawFn, most: int = 7) -> ScheduleProblem:
    sizes = draw(st.lists(st.integers(0, 4), max_size=2))
    tasks: list[Task] = []
    for number in range(draw(st.integers(0, most))):
        made = list(range(len(sizes)))
        operands = draw(st.lists(st.sampled_from(made), max_size=3, unique=True)) if made else []
        results = range(len(sizes), len(sizes) + draw(st.sampled_from((0, 1, 1, 1, 2))))
        sizes.extend(draw(st.sampled_from((0, 1, 2, 3, 5, 8))) for _ in results)
        pairs = [(r, o) for r in results for o in operands if sizes[r] == sizes[o]]
        displacements = tuple(pair for pair in pairs if draw(st.booleans()))
        after = draw(st.sets(st.integers(0, number - 1), max_size=1)) if number else set[int]()
        scratch = draw(st.sampled_from((0, 0, 0, 3)))
        tasks.append(Task(tuple(operands), tuple(results), displacements, tuple(after), scratch))
    kept = draw(st.sets(st.sampled_from(range(len(sizes))), max_size=2)) if sizes else set[int]()
    return ScheduleProblem(tuple(tasks), tuple(sizes), frozenset(kept))


def every_order(problem: ScheduleProblem) -> list[tuple[int, ...]]:
    orders: list[tuple[int, ...]] = [()]
    for _ in problem.tasks:
        longer = ((*order, task) for order in orders for task in range(len(problem.tasks)) if task not in order)
        orders = [order for order in longer if _is_begun_right(problem, order)]
    return orders


def _is_begun_right(problem: ScheduleProblem, order: tuple[int, ...]) -> bool:
    task = problem.tasks[order[-1]]
    later = [number for number in range(len(problem.tasks)) if number not in order]
    made_later = {value for number in later for value in problem.tasks[number].results}
    return not made_later & set(task.operands) and not set(task.after) & set(later)


@SETTINGS
@given(problems())
def test_optimal(problem: ScheduleProblem) -> None:
    found = schedule(problem)
    assert check_schedule(problem, found) == ()
    assert found.peak == min(peak_of(problem, order) for order in every_order(problem))
    assert found.proven_optimal


@SETTINGS
@given(problems(6))
def test_two_ways_to_the_same_peak(problem: ScheduleProblem) -> None:
    for order in every_order(problem):
        assert check_order(problem, order) == ()
        assert peak_along(problem, order) == peak_of(problem, order)


@SETTINGS
@given(problems(6))
def test_every_order_of_a_part_needs_the_bound(problem: ScheduleProblem) -> None:
    part = _whole(problem)
    least = min(peak_of(problem, order) for order in every_order(problem))
    assert local_bound(problem) <= least
    if problem.tasks:
        assert least_peak(part) <= least


@SETTINGS
@given(problems(6))
def test_both_directions_find_the_optimum(problem: ScheduleProblem) -> None:
    part = _whole(problem)
    least = min(part.peak(order) for order in every_order(problem))
    assume(part.count)
    for walk in (part.forwards(), part.backwards()):
        found = search(walk, 0, 1 << 40, 10_000)
        assert found.order is not None
        assert check_order(problem, found.order) == ()
        assert part.peak(found.order) == least
        assert search(walk, 0, least, 10_000).order is None


@SETTINGS
@given(problems(12))
def test_greedy_orders_are_allowed(problem: ScheduleProblem) -> None:
    part = _whole(problem)
    for walk in (part.forwards(), part.backwards()):
        for rule in RULES:
            assert check_order(problem, greedy(walk, rule)) == ()


@SETTINGS
@given(problems(14), st.integers(0, 6))
def test_never_worse_with_any_budget(problem: ScheduleProblem, budget: int) -> None:
    assert check_schedule(problem, schedule(problem, budget)) == ()


def _whole(problem: ScheduleProblem) -> Segment:
    relations = relate(problem)
    made = {value for task in problem.tasks for value in task.results}
    there = (v for v in range(len(problem.sizes)) if v not in made and (relations.readers[v] or v in problem.kept))
    return Segment(problem, relations, 0, len(problem.tasks), sum(problem.sizes[v] for v in there))
