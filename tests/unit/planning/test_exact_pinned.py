"""The exact strategy where some buffers are pinned, which CP-SAT alone searches: against trying every placement."""

import random
from dataclasses import replace

import pytest

from hotdesk.planning import Buffer, Problem, check, plan


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
    offsets = [range(capacity - b.size + 1) if b.fixed_offset is None else (b.fixed_offset,) for b in buffers]

    def place(placed: tuple[int, ...]) -> bool:
        i = len(placed)
        if i == len(buffers):
            return True
        b = buffers[i]
        taken = [
            (at, at + other.size)
            for other, at in zip(buffers, placed, strict=False)
            if other.lower < b.upper and b.lower < other.upper
        ]
        return any(
            at + b.size <= capacity
            and all(at + b.size <= bottom or top <= at for bottom, top in taken)
            and place((*placed, at))
            for at in offsets[i]
        )

    return place(())
