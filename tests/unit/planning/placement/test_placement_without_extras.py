"""Strategies without the packages that they may use."""

from __future__ import annotations

import pytest

from hotdesk.planning import Buffer, check, plan
from hotdesk.planning.placement import cpsat, dive
from hotdesk.planning.problem.problem import Problem

UNREACHABLE = Problem(
    tuple(
        Buffer(i, lower, upper, size, 1)
        for i, (lower, upper, size) in enumerate(
            ((0, 2, 3), (0, 1, 3), (1, 4, 1), (1, 3, 2), (4, 5, 3), (3, 5, 3), (2, 4, 1), (2, 4, 1))
        )
    )
)
"""Six bytes are live at each of five steps, and no arena of six bytes holds them: no heuristic meets the bound."""


def test_cp_sat_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpsat, "available", lambda: False)
    assert plan(UNREACHABLE, effort=0).gap > 0
    with pytest.raises(ImportError, match=r"'ortools'.*pip install 'hotdesk\[exact\]'"):
        plan(UNREACHABLE, strategy="cp-sat", effort=1000)


def test_walks_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dive, "available", lambda: False)
    with pytest.raises(ImportError, match=r"'numba'.*pip install 'hotdesk\[exact\]'"):
        plan(UNREACHABLE, strategy="dive", effort=1000)


def test_without_both_exact_is_the_portfolio(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpsat, "available", lambda: False)
    monkeypatch.setattr(dive, "available", lambda: False)
    made = plan(UNREACHABLE, strategy="exact", effort=1000)
    assert check(UNREACHABLE, made) == ()
    assert made == plan(UNREACHABLE, effort=1000)


def test_cp_sat_says_so_of_bodies_with_gaps_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpsat, "available", lambda: False)
    left, right = Buffer("left", 0, 4, 6, 1, None, ((1, 2),)), Buffer("right", 0, 4, 6, 1, None, ((2, 3),))
    problem = Problem((left, right, Buffer("x", 1, 3, 5, 1), Buffer("y", 1, 2, 3, 1)))
    assert plan(problem).gap > 0
    with pytest.raises(ImportError, match="the strategy 'cp-sat' needs the package 'ortools'"):
        plan(problem, strategy="cp-sat")
    fits = Problem((left, right))
    assert plan(fits, strategy="cp-sat").proven_optimal
