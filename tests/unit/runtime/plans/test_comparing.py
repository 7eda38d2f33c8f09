"""Two functions' arenas compared for all sizes: what is said to be never larger is not, at corners and at random."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest
import sympy

from hotdesk.errors import PlanError
from hotdesk.runtime.plans import comparing
from hotdesk.runtime.plans.comparing import never_larger
from hotdesk.runtime.plans.planner import Planner

N, K = sympy.Symbol("n"), sympy.Symbol("k")
Bounds = Mapping[str, tuple[int, "int | None"]]
UP_TO_300: Bounds = {"n": (1, 300), "k": (1, 300)}


@dataclass(frozen=True)
class Use:
    kind: str
    lower: int
    upper: int
    bytes: Any


@dataclass(frozen=True)
class Function:
    """Buffers, and when those that are lent are free."""

    buffers: Sequence[Use]
    windows: Mapping[int, tuple[tuple[int, int], ...]]

    def planner(self, bounds: Bounds) -> Planner:
        return Planner(self, bounds)


def function(*buffers: tuple[int, int, Any], result: tuple[int, Any] | None = None) -> Function:
    """Buffers with live ranges and bytes, and a result that is written first at a step."""
    uses = [Use("alloc", *buffer) for buffer in buffers]
    if result is None:
        return Function(uses, {})
    return Function([*uses, Use("argument", result[0], 99, result[1])], {len(uses): ((0, result[0]),)})


def is_never_larger(one: Function, other: Function, bounds: Bounds = UP_TO_300) -> bool:
    return never_larger(one.planner(bounds), other.planner(bounds), bounds)


APART = function((0, 1, 64 * N), (1, 2, 64 * K))
TOGETHER = function((0, 2, 64 * N), (0, 2, 64 * K))
UNBOUNDED: Bounds = {"n": (0, None), "k": (0, None)}


@pytest.mark.parametrize("bounds", [UP_TO_300, UNBOUNDED, {}])
def test_apart_takes_no_more_than_together(bounds: Bounds) -> None:
    assert is_never_larger(APART, TOGETHER, bounds)
    assert is_never_larger(APART, APART, bounds)
    assert not is_never_larger(TOGETHER, APART, bounds)


def test_a_loan_counts() -> None:
    """As much is live in both, but where the result is written last it lends its memory."""
    late = function((0, 2, 64 * N), (0, 1, 64 * K), result=(3, 64 * N))
    early = function((0, 2, 64 * N), (0, 1, 64 * K), result=(1, 64 * N))
    assert is_never_larger(late, early)
    assert not is_never_larger(early, late)


def test_what_holds_in_a_part_of_the_range_only() -> None:
    one, other = function((0, 1, 64 * N)), function((0, 1, 64 * 100))
    assert is_never_larger(one, other, {"n": (0, 100)})
    assert not is_never_larger(one, other, {"n": (0, 101)})
    assert not is_never_larger(one, other, {})


def test_halves_are_proven_by_different_steps() -> None:
    """In each half of the range another step of the other function needs as much."""
    one = function((0, 1, 32 * (N + K)))
    other = function((0, 1, 64 * (N + 8)), (1, 2, 64 * (K + 8)))
    assert is_never_larger(one, other)
    assert not is_never_larger(function((0, 1, 32 * (N + K) + 64 * 32)), other)


def test_a_few_sizes_are_planned_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "MOST_BOXES", 0)
    assert is_never_larger(APART, TOGETHER, {"n": (1, 2), "k": (5, 8)})
    assert not is_never_larger(APART, TOGETHER, {"n": (1, 3), "k": (5, 8)})


def test_sizes_that_are_numbers() -> None:
    assert is_never_larger(function((0, 1, 100)), function((0, 1, 128)))
    assert not is_never_larger(function((0, 1, 129)), function((0, 1, 128)))


def test_no_buffers() -> None:
    assert is_never_larger(function(), TOGETHER)
    assert not is_never_larger(TOGETHER, function())


def test_sizes_beyond_all_memory_are_no_calls() -> None:
    """At the second of the two sizes neither can run; where one of them can, that one is the smaller."""
    bounds: Bounds = {"n": (2**50, 2**58)}
    few: Bounds = {"n": (2**53 - 1, 2**53)}
    one, other = function((0, 1, 64 * N), (1, 2, 8)), function((0, 2, 64 * N), (1, 2, 8))
    assert one.planner(bounds).arena({"n": 2**50}) == 2**56
    assert one.planner(bounds).arena({"n": 2**58}) is None
    with pytest.raises(PlanError, match="the buffers of a call: expected less than .* bytes together, got"):
        one.planner(bounds).plan([64 * 2**58, 8])
    assert is_never_larger(one, other, few)
    assert not is_never_larger(other, one, few)
    assert not is_never_larger(function((0, 1, 128 * N)), function((0, 1, 32 * N)), few)
    assert is_never_larger(function((0, 1, 32 * N)), function((0, 1, 128 * N)), few)


def random_function(rng: random.Random, sizes: Sequence[Any]) -> Function:
    buffers = [(a, a + rng.randint(1, 3), size) for size in sizes for a in [rng.randint(0, 4)]]
    return function(*buffers, result=(rng.randint(1, 6), rng.choice(sizes)) if rng.random() < 0.7 else None)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_proven_holds(seed: int) -> None:
    """The same buffers, in another order."""
    rng = random.Random(seed)
    proven = larger = 0
    for _ in range(6):
        sizes = [rng.choice((N, K)) * rng.choice((4, 20, 64, 128, 130)) + rng.choice((0, 0, 60)) for _ in range(5)]
        one, other = random_function(rng, sizes), random_function(rng, sizes)
        first, second = one.planner(UP_TO_300), other.planner(UP_TO_300)
        shapes = [*product((1, 2, 150, 300), repeat=2), *((rng.randint(1, 300), rng.randint(1, 300)) for _ in range(8))]
        arenas = [(first.arena({"n": n, "k": k}), second.arena({"n": n, "k": k})) for n, k in shapes]
        holds = all(a is not None and b is not None and a <= b for a, b in arenas)
        if never_larger(first, second, UP_TO_300):
            proven += 1
            assert holds
        larger += not holds
    assert proven
    assert larger
