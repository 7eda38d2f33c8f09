"""Tasks done again: sequences that fit, by which tasks, and what is not done again. Answers are checked by code of the tests."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from hotdesk.planning.scheduling.problem import ScheduleProblem, Task
from hotdesk.planning.scheduling.recomputation import Recomputed, RecomputeProblem, recompute

WIDE = 100


def trained(layers: int, *, inner: int = 1) -> RecomputeProblem:
    """Layers of `inner` tasks, one after another, then one that goes back through all of them, and reads what each task made."""
    tasks, count = [Task((), (0,))], layers * inner
    tasks += [Task((value - 1,), (value,)) for value in range(1, count + 1)]
    tasks += [Task((count + step, count - step - 1), (count + step + 1,)) for step in range(count)]
    sizes = [WIDE] * (count + 1) + [1] * count
    tasks.append(Task((2 * count,), (2 * count + 1,)))
    return problem(tasks, [*sizes, 1], kept={2 * count + 1})


def problem(tasks: list[Task], sizes: list[int], kept: set[int] | None = None) -> RecomputeProblem:
    number = len(tasks)
    schedule = ScheduleProblem(tuple(tasks), tuple(sizes), frozenset(kept or ()))
    return RecomputeProblem(schedule, (1,) * number, (True,) * number, (0,) * number)


def peak_of(asked: RecomputeProblem, found: Recomputed) -> int:
    """The highest level of a recomputation without displacements, and that it is one."""
    tasks, sizes, kept = asked.schedule.tasks, asked.schedule.sizes, asked.schedule.kept
    inputs = set(range(len(sizes))) - {value for task in tasks for value in task.results}
    assert [step.task for step in found.steps if not step.copy] == list(range(len(tasks)))
    last: dict[tuple[int, int], int] = {}
    made: dict[tuple[int, int], int] = {}
    for place, step in enumerate(found.steps):
        for value, copy in zip(tasks[step.task].operands, step.reads, strict=True):
            assert value in inputs or (value, copy) in made
            last[value, copy] = place
        for value in tasks[step.task].results:
            assert (value, step.copy) not in made
            made[value, step.copy] = place
    ends = {each: len(found.steps) if each[0] in kept else last.get(each, place) for each, place in made.items()}
    return max(
        sum(sizes[each[0]] for each, place in made.items() if place <= at <= ends[each])
        for at in range(len(found.steps))
    )


def test_what_fits_is_left_alone() -> None:
    found = recompute(trained(4), 10_000)
    assert not found.remade
    assert len(found.steps) == len(trained(4).schedule.tasks)
    assert found.peak == peak_of(trained(4), found)


@pytest.mark.parametrize("target", [1500, 1000, 700])
def test_a_sequence_that_goes_back_fits(target: int) -> None:
    asked = trained(6, inner=3)
    found = recompute(asked, target)
    assert recompute(asked, 10_000).peak > 1800
    assert found.peak == peak_of(asked, found) <= target


def test_what_is_made_again_is_shared() -> None:
    """Half of what is kept: no task is done more than twice, as each part is done again as a whole."""
    asked = trained(4, inner=4)
    found = recompute(asked, recompute(asked, 10_000).peak // 2)
    assert found.peak == peak_of(asked, found) <= 900
    assert len(found.steps) <= len(asked.schedule.tasks) + 16


def test_no_target_can_be_too_low() -> None:
    found = recompute(trained(5), 1)
    assert found.peak == peak_of(trained(5), found) <= 400


def test_the_cheapest_for_its_bytes_is_made_again() -> None:
    """Values 1 and 2 are kept while value 3 is there; one of them is enough."""
    tasks = [Task((), (0,)), Task((0,), (1,)), Task((0,), (2,)), Task((0,), (3,)), Task((0, 3), (4,))]
    tasks += [Task((0, 1, 4), (5,)), Task((0, 2, 5), (6,))]
    asked = problem(tasks, [1, WIDE, WIDE, WIDE, 1, 1, 1])
    for dear, again in ((2, (1, 5)), (1, (2, 6))):
        costs = tuple(9 if task == dear else 1 for task in range(7))
        (made,) = recompute(replace(asked, costs=costs), 250).remade
        assert (made.task, made.reader, made.tasks, made.bytes) == (*again, 1, WIDE)


AROUND = [Task((), (0,)), Task((0,), (1,)), Task((1,), (2,)), Task((), (3,)), Task((3,), (4,)), Task((2, 4), (5,))]
AROUND_SIZES = [1, 40, WIDE, WIDE, 1, 1]
"""Value 2 is made of value 1 of value 0, and kept while the wide value 3 is there."""


def test_what_may_not_be_done_again() -> None:
    asked = problem(AROUND, AROUND_SIZES)
    (made,) = recompute(asked, 150).remade
    assert (made.task, made.reader, made.tasks, made.bytes) == (2, 5, 2, WIDE - 1)
    assert not recompute(replace(asked, repeatable=(True, True, False, True, True, True)), 150).remade
    assert not recompute(replace(asked, stretches=(0, 0, 0, 0, 0, 1)), 150).remade
    kept = replace(asked, schedule=replace(asked.schedule, kept=frozenset({2})))
    assert not recompute(kept, 150).remade


def test_an_operand_is_kept_where_it_cannot_be_made_again() -> None:
    asked = replace(problem(AROUND, AROUND_SIZES), repeatable=(True, False, True, True, True, True))
    (made,) = recompute(asked, 150).remade
    assert (made.tasks, made.bytes) == (1, WIDE - 40)
    larger = replace(asked, schedule=replace(asked.schedule, sizes=(1, WIDE, WIDE, WIDE, 1, 1)))
    assert not recompute(larger, 150).remade


def test_what_no_task_makes_is_read_where_others_read_it_last() -> None:
    """Value 0 is an argument, which its last reader may overwrite."""
    tasks = [Task((0,), (1,)), Task((), (2,)), Task((2,), (3,)), Task((1, 3), (4,))]
    sizes = [500, WIDE, WIDE, 1, 1, 1]
    assert not recompute(problem(tasks, sizes), 150).remade
    found = recompute(problem([*tasks, Task((0, 4), (5,))], sizes), 150)
    assert [each.task for each in found.remade] == [0]
    assert found.peak < 150


def test_a_result_may_lie_where_an_operand_does() -> None:
    tasks = [Task((), (0,)), Task((0,), (1,), ((1, 0),)), Task((1,), (2,))]
    assert recompute(problem(tasks, [WIDE, WIDE, 1]), 10_000).peak == WIDE + 1


def test_nothing_to_do() -> None:
    assert recompute(problem([], []), 0) == Recomputed((), 0, ())


@pytest.mark.parametrize("seed", range(150))
def test_drawn_sequences(seed: int) -> None:
    numbers = random.Random(seed)
    count = numbers.randrange(2, 40)
    tasks = [Task((), (0,))]
    for value in range(1, count):
        tasks.append(Task(tuple(numbers.sample(range(value), min(value, numbers.randrange(4)))), (value,)))
    asked = problem(tasks, [numbers.randrange(100) for _ in tasks], {count - 1})
    asked = replace(
        asked,
        costs=tuple(numbers.randrange(50) for _ in tasks),
        repeatable=tuple(numbers.random() < 0.8 for _ in tasks),
        stretches=tuple(sorted(numbers.randrange(2) for _ in tasks)),
    )
    found = recompute(asked, numbers.randrange(400))
    assert found.peak == peak_of(asked, found)
    for step, reader in zip(found.steps, found.steps[1:], strict=False):
        assert not step.copy or asked.repeatable[step.task]
        assert not step.copy or asked.stretches[step.task] == asked.stretches[reader.task]
