"""Orders compared for all sizes: when sizes are polynomials, whose peak is never the higher one.

The bytes at a task are then a polynomial too, its coefficients 0 or more. An order never needs more than another one if each of
its tasks needs, coefficient by coefficient, no more than some task of the other one does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hotdesk.planning.scheduling.problem import ScheduleProblem, at_first, runs

MOST_COMPARED = 4096
"""Distinct needs of an order; beyond, nothing is proven."""


def is_never_higher(problem: ScheduleProblem, sizes: NDArray[np.int64], order: Sequence[int]) -> bool:
    """Whether the peak of an order is at most that of the given one for all values of the symbols, as far as this can be proven.

    `sizes` has a row for each value of the problem: the coefficients of its monomials, none below 0. Values that may take over
    each other have equal rows.
    """
    given = _needs(problem, sizes, range(len(problem.tasks)))
    other = _needs(problem, sizes, order)
    if max(len(given), len(other)) > MOST_COMPARED:
        return False
    return all(bool((need <= given).all(axis=1).any()) for need in other)


def _needs(problem: ScheduleProblem, sizes: NDArray[np.int64], order: Sequence[int]) -> NDArray[np.int64]:
    """What tasks need at their peak, each distinct need once. Scratch memory is a monomial for each amount of it."""
    live: Any = _sum(sizes, at_first(problem))
    amounts = {amount: place for place, amount in enumerate(sorted({task.scratch for task in problem.tasks} - {0}))}
    rows: dict[bytes, Any] = {}
    for run in runs(problem, order):
        scratch = np.zeros(len(amounts), np.int64)
        if run.task.scratch:
            scratch[amounts[run.task.scratch]] = run.task.scratch
        need: Any = np.concatenate([live + _sum(sizes, run.task.results) - _sum(sizes, run.taken_over), scratch])
        rows[need.tobytes()] = need
        live = live + _sum(sizes, run.outliving) - _sum(sizes, run.dying)
    return np.array([np.zeros(sizes.shape[1] + len(amounts), np.int64), *rows.values()])


def _sum(sizes: NDArray[np.int64], values: Iterable[int]) -> Any:
    return sizes[list(values)].sum(axis=0)
