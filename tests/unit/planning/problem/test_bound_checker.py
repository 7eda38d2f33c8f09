"""Which bounds the buffers that they name prove."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hotdesk.planning import Bound, Buffer, Pool, Problem, Tie, check_bound, plan
from hotdesk.planning.problem import bound_checker

POOL = Pool("p", 5, ((0, 9),))
PROBLEM = Problem((Buffer("a", 0, 4, 3, 1), Buffer("b", 2, 6, 3, 1), Buffer("c", 5, 9, 4, 1)), (POOL,))
ALL = ("a", "b", "c")


@pytest.mark.parametrize(
    ("bound", "verdict"),
    [
        (Bound(0, 0, ()), "proven"),
        (Bound(3, 2, ("a", "b")), "proven"),  # the pool holds one of them
        (Bound(4, 2, ("a", "b")), "refuted"),
        (Bound(3, 2, ("a",)), "refuted"),  # the pool holds it
        (Bound(3, 5, ("a", "b")), "refuted"),  # one is not live there
        (Bound(3, 2, ("a", "d")), "refuted"),  # one is not there at all
        (Bound(3, 0, ALL, "lent"), "proven"),
        (Bound(4, 0, ALL, "lent"), "refuted"),  # the pool holds the first and the last
        (Bound(3, 0, ("a", "c"), "lent"), "refuted"),
        (Bound(3, 0, ALL, "pinned"), "refuted"),
        (Bound(3, 0, ALL, "cp-sat"), "open"),
    ],
)
def test_verdict(bound: Bound, verdict: str) -> None:
    assert check_bound(PROBLEM, bound) == verdict


def test_padding_may_be_behind_the_end_of_a_pool() -> None:
    both = (Buffer("a", 0, 1, 100, 64), Buffer("b", 0, 1, 100, 64))
    for capacity, verdict in ((227, "proven"), (228, "refuted")):
        assert check_bound(Problem(both, (Pool("p", capacity, ((0, 1),)),)), Bound(128, 0, ("a", "b"))) == verdict


def test_a_pool_is_free_all_the_life_of_what_it_holds() -> None:
    for free, verdict in ((((0, 3),), "proven"), (((0, 4),), "refuted")):
        problem = replace(PROBLEM, pools=(replace(POOL, free=free),))
        assert check_bound(problem, Bound(4, 2, ("a", "b"))) == verdict


def test_a_pinned_buffer_proves_its_end() -> None:
    problem = Problem((Buffer("a", 0, 1, 3, 1, 4),), (POOL,))
    assert check_bound(problem, plan(problem).bound) == "proven"
    assert check_bound(problem, Bound(7, 0, ("a",), "pinned")) == "proven"
    assert check_bound(problem, Bound(8, 0, ("a",), "pinned")) == "refuted"
    assert check_bound(problem, Bound(4, 0, ("a",))) == "refuted"  # bytes live are fewer


def test_what_takes_too_long_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bound_checker, "MOST_TRIALS", 2)
    assert check_bound(PROBLEM, Bound(3, 0, ALL, "lent")) == "open"
    monkeypatch.setattr(bound_checker, "MOST_CHOICES", 2)
    assert check_bound(PROBLEM, Bound(3, 0, ALL, "lent")) == "open"


def test_ties_and_gaps_are_open() -> None:
    tied = replace(PROBLEM, ties=(Tie("b", "a", 0),))
    broken = replace(PROBLEM, buffers=(Buffer("a", 0, 4, 3, 1, gaps=((1, 2),)),))
    assert check_bound(tied, Bound(3, 2, ("a", "b"))) == check_bound(broken, Bound(1, 2, ("a",))) == "open"
