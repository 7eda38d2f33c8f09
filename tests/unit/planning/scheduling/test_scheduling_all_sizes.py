"""Orders compared for all sizes: peaks as polynomials."""

from __future__ import annotations

import numpy as np
import pytest

from hotdesk.planning.scheduling import all_sizes
from hotdesk.planning.scheduling.all_sizes import is_never_higher
from hotdesk.planning.scheduling.problem import ScheduleProblem, Task

# Two branches, of n and of m bytes, each narrowed to one byte.
TASKS = (Task((), (0,)), Task((), (1,)), Task((0,), (2,)), Task((1,), (3,)))
PROBLEM = ScheduleProblem(TASKS, (10, 10, 1, 1), frozenset({2, 3}))
SIZES = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]])  # n, m, 1


def test_each_branch_alone_needs_less() -> None:
    assert is_never_higher(PROBLEM, SIZES, (0, 2, 1, 3))
    assert is_never_higher(PROBLEM, SIZES, (0, 1, 2, 3))


def test_one_byte_more_where_a_symbol_is_0() -> None:
    """Needs n + 2 bytes at the end; the given order, with m = 0, no more than n + 1."""
    assert not is_never_higher(PROBLEM, SIZES, (1, 3, 0, 2))
    beyond_one = np.array([[1, 0, 1], [0, 1, 1], [0, 0, 1], [0, 0, 1]])  # with n + 1 and m + 1
    assert is_never_higher(PROBLEM, beyond_one, (1, 3, 0, 2))


def test_one_that_is_better_for_some_sizes_only() -> None:
    apart = ScheduleProblem(tuple(TASKS[i] for i in (0, 2, 1, 3)), PROBLEM.sizes, PROBLEM.kept)
    assert not is_never_higher(apart, SIZES, (0, 2, 1, 3))  # both branches at once: n + m
    assert is_never_higher(apart, SIZES, (0, 1, 2, 3))
    assert not is_never_higher(apart, SIZES, (2, 3, 0, 1))  # needs n + 1 with the other branch's end, as before m + 1


def test_scratch_memory_is_the_same_everywhere() -> None:
    tasks = (Task((), (0,)), Task((0,), (1,), scratch=100), Task((), (2,)))
    problem = ScheduleProblem(tasks, (10, 1, 10), frozenset({1, 2}))
    sizes = np.array([[1, 0], [0, 1], [1, 0]])
    assert is_never_higher(problem, sizes, (0, 1, 2))
    assert not is_never_higher(problem, sizes, (2, 0, 1))


def test_no_tasks() -> None:
    assert is_never_higher(ScheduleProblem((), ()), np.zeros((0, 1), np.int64), ())


def test_too_many_to_compare(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_sizes, "MOST_COMPARED", 1)
    assert not is_never_higher(PROBLEM, SIZES, (0, 2, 1, 3))
