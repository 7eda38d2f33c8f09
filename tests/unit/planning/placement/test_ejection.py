"""What reaches too high is placed lower: layouts without overlaps, never larger ones, and the same ones each time."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import cast

import pytest

from hotdesk.planning import Buffer, Placement, Plan, Problem, check, lower_bound
from hotdesk.planning.placement import instance as instances
from hotdesk.planning.placement import portfolio
from hotdesk.planning.placement.deadline import NO_DEADLINE, Deadline
from hotdesk.planning.placement.ejection import eject
from hotdesk.planning.placement.instance import ArenaLayout, Instance, build_instance
from hotdesk.planning.placement.portfolio import STRATEGIES, Request
from tests.unit.planning.placement.clock import Clock

ALIGNMENTS = (1, 2, 64)


def crowd(count: int, seed: int, alignments: Sequence[int] = (1,), pinned: int = 0) -> Problem:
    """`count` buffers over a quarter as many steps, each live for up to a quarter of these; some pinned, beside one another."""
    rng = random.Random(seed)
    steps, buffers, top = count // 4, list[Buffer](), 0
    for i in range(count):
        lower, size, alignment = rng.randrange(steps), 1 + rng.randrange(900), rng.choice(alignments)
        upper = lower + 1 + rng.randrange(steps // 4)
        fixed = (top + 500) // alignment * alignment if i < pinned else None
        buffers.append(Buffer(i, lower, upper, size, alignment, fixed))
        top = fixed + buffers[-1].footprint if fixed is not None else top
    return Problem(tuple(buffers))


def one_on_another(instance: Instance) -> ArenaLayout:
    """No two share a byte: as far from the floor as can be."""
    top = max((o.top for o in instance.obstacles), default=0)
    offsets: list[int] = []
    for size, alignment in zip(instance.size, instance.alignment, strict=True):
        offsets.append(-(-top // alignment) * alignment)
        top = offsets[-1] + size
    return ArenaLayout(tuple(offsets), top, "no-reuse")


def faults(problem: Problem, instance: Instance, layout: ArenaLayout) -> tuple[object, ...]:
    """What is wrong with a layout, said by the checker of plans."""
    offsets = dict(zip(instance.origin, layout.offsets, strict=True))
    placements = tuple(
        Placement(b.id, None, offsets.get(i, b.fixed_offset or 0)) for i, b in enumerate(problem.buffers)
    )
    return check(problem, Plan(placements, layout.arena, lower_bound(problem), layout.strategy, layout.arena))


@pytest.mark.parametrize("pinned", [0, 5])
@pytest.mark.parametrize("alignments", [(1,), ALIGNMENTS])
@pytest.mark.parametrize("seed", range(3))
def test_layouts_without_an_overlap_and_lower_the_more_work_there_is(
    seed: int, alignments: tuple[int, ...], pinned: int
) -> None:
    problem = crowd(120, seed, alignments, pinned)
    instance = build_instance(problem)
    known = one_on_another(instance)
    assert faults(problem, instance, known) == ()
    found = [eject(instance, known, work) for work in (0, 300, 3_000)]
    assert [faults(problem, instance, each) for each in found] == [(), (), ()]
    assert found[0] == known
    assert found[0].arena > found[1].arena >= found[2].arena
    assert found[2].arena <= 1.25 * instance.floor < found[0].arena


def test_the_best_of_the_portfolio_gets_lower() -> None:
    """Not of all problems, as it is close to the floor already; of most."""
    lower = 0
    for seed in range(1, 5):
        instance = build_instance(crowd(400, seed))
        quick = STRATEGIES["portfolio"](instance, Request(0, 2_000, 1_000, NO_DEADLINE))
        found = eject(instance, quick, 5_000)
        assert found.arena <= quick.arena
        lower += found.arena < quick.arena
    assert lower >= 2


def test_the_same_seed_finds_the_same() -> None:
    instance = build_instance(crowd(120, 7))
    known = one_on_another(instance)
    found = [eject(instance, known, 10_000, seed) for seed in (3, 3, 4)]
    assert found[0] == found[1]
    assert found[0].offsets != found[2].offsets


def test_what_meets_the_floor_is_left_alone() -> None:
    instance = build_instance(Problem((Buffer("a", 0, 2, 64), Buffer("b", 2, 4, 64))))
    known = ArenaLayout((0, 0), 64, "skyline/pressure")
    clock = Clock(0)
    assert eject(instance, known, 1_000, deadline=cast("Deadline", clock)) is known
    assert clock.looks == 0


def test_at_the_deadline_there_is_the_best_so_far() -> None:
    problem = crowd(200, 2)
    instance = build_instance(problem)
    known = one_on_another(instance)
    arenas: list[int] = []
    for most in (0, 200, 4_000):
        found = eject(instance, known, 10**9, deadline=Clock(most).as_deadline)
        assert faults(problem, instance, found) == ()
        arenas.append(found.arena)
    assert arenas[0] == known.arena
    assert arenas[0] > arenas[1] > arenas[2]


def test_what_cannot_be_moved_is_in_nobodys_way() -> None:
    """The pinned buffer leaves 64 bytes below it: what has room there goes there, and what has none ends the search."""
    pinned = Buffer("pinned", 0, 4, 64, 64, 64)
    fits = build_instance(Problem((pinned, Buffer("a", 0, 4, 64))))
    assert eject(fits, ArenaLayout((128,), 192, "start"), 1_000).offsets == (0,)
    assert fits.floor == 128
    wide = build_instance(Problem((pinned, Buffer("a", 0, 4, 128), Buffer("b", 4, 5, 192))))
    known = ArenaLayout((128, 64), 256, "start")
    found = eject(wide, known, 1_000)
    assert (found.arena, found.offsets[0]) == (256, 128)


def test_a_large_problem_with_a_time_limit_gets_lower_the_later_the_clock_strikes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As with tens of thousands of buffers, no list of pairs is made; time is counted in looks at the clock."""
    monkeypatch.setattr(instances, "MOST_LISTED", 10)
    instance = build_instance(crowd(500, 5))
    quick = portfolio.STRATEGIES["portfolio"](instance, Request(0, 0, 0, NO_DEADLINE))
    arenas: list[int] = []
    for most in (100, 1_000, 10_000):
        clock = Clock(most)
        found = STRATEGIES["portfolio"](instance, Request(0, 0, 0, cast("Deadline", clock)))
        assert clock.looks > most or found.arena == instance.floor
        arenas.append(found.arena)
    assert quick.arena >= arenas[0] > arenas[1] > arenas[2]
