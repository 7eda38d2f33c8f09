"""Stacked offsets at many sizes: nothing overlaps, and no arena is larger than all side by side, or than the plan."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from hotdesk.planning import Buffer, Problem, plan
from hotdesk.planning.sizes.symbolic_offsets import Extent, Stackable, Stacked, stack

NEVER = lambda a, b: a == b  # noqa: E731


def evaluated(stacked: Stacked, quantities: Sequence[int]) -> tuple[list[int], int]:
    """Offsets and the arena if the given quantities are these numbers."""
    numbers = list(quantities)

    def of(extent: Extent) -> int:
        return extent.constant + sum(numbers[part] for part in extent.parts)

    for sums in stacked.greatest:
        numbers.append(max(map(of, sums)))
    return [of(offset) for offset in stacked.offsets], of(stacked.total)


def drawn(random: Random, count: int) -> tuple[list[Stackable], list[int]]:
    """Buffers in a planner's order, the first of them static, and the sizes that it was told."""
    live = [sorted(random.sample(range(2 * count), 2)) for _ in range(count)]
    measures = [64 * random.randrange(1, 30) for _ in range(random.randrange(1, 6))]
    static = random.randrange(count)
    kinds = [None if i < static else random.randrange(len(measures)) for i in range(count)]
    fixed = [64 * random.randrange(4) for _ in range(count)]
    settled = plan([Buffer(i, *live[i], fixed[i]) for i in range(static)], effort=0)
    at = {placement.buffer_id: placement.offset for placement in settled.placements}
    told = [
        Buffer(i, *live[i], fixed[i] if k is None else measures[k], fixed_offset=at.get(i)) for i, k in enumerate(kinds)
    ]
    order = {placement.buffer_id: placement.offset for placement in plan(told, effort=0).placements}
    sizes = [Extent(fixed[i]) if k is None else Extent(0, (k,)) for i, k in enumerate(kinds)]
    buffers = [Stackable(*live[i], sizes[i], 64, at.get(i)) for i in sorted(range(count), key=lambda i: order[i])]
    return buffers, measures


@pytest.mark.parametrize("seed", range(40))
def test_offsets_at_all_sizes(seed: int) -> None:
    random = Random(seed)
    buffers, told = drawn(random, random.randrange(2, 24))
    stacked = stack(buffers, len(told), NEVER)
    for quantities in (told, [0] * len(told), *([64 * random.randrange(40) for _ in told] for _ in range(8))):
        offsets, total = evaluated(stacked, quantities)
        sizes = [each.size.constant + sum(quantities[part] for part in each.size.parts) for each in buffers]
        placed = list(zip(buffers, offsets, sizes, strict=True))
        assert all(offset + size <= total for _, offset, size in placed)
        assert total <= sum(sizes)
        for i, (a, low, size) in enumerate(placed):
            for b, other, other_size in placed[:i]:
                if a.lower < b.upper and b.lower < a.upper and size and other_size:
                    assert low + size <= other or other + other_size <= low


@pytest.mark.parametrize("seed", range(20))
def test_no_more_than_the_plan_at_its_sizes(seed: int) -> None:
    buffers, told = drawn(Random(1000 + seed), 16)
    known = [
        Buffer(i, b.lower, b.upper, b.size.constant + sum(told[p] for p in b.size.parts), 64, b.offset)
        for i, b in enumerate(buffers)
    ]
    assert evaluated(stack(buffers, len(told), NEVER), told)[1] <= plan(Problem(tuple(known)), effort=0).arena


def test_what_is_proven_larger_is_not_compared() -> None:
    live = [(0, 2), (2, 4), (1, 3)]
    buffers = [Stackable(*live[i], Extent(0, (i,)), 64) for i in range(3)]
    compared = stack(buffers, 3, NEVER)
    assert len(compared.greatest) == 1
    proven = stack(buffers, 3, lambda a, b: a == b or (a, b) == (1, 0))
    assert proven.greatest == ()
    assert proven.offsets[2] == Extent(0, (1,))
    assert proven.total == Extent(0, (1, 2))


def test_a_stricter_alignment_comes_first() -> None:
    buffers = [
        Stackable(0, 4, Extent(0, (0,)), 64),
        Stackable(0, 4, Extent(0, (1,)), 4096),
        Stackable(0, 4, Extent(64), 64, 0),
    ]
    stacked = stack(buffers, 2, NEVER)
    assert stacked.offsets == (Extent(4096, (1,)), Extent(4096), Extent(0))


def test_nothing_without_bytes_hides_what_has_some() -> None:
    buffers = [
        Stackable(0, 4, Extent(128), 64, 0),
        Stackable(0, 4, Extent(0), 64, 0),
        Stackable(0, 4, Extent(0, (0,)), 64),
    ]
    assert stack(buffers, 1, NEVER).offsets[2] == Extent(128)


def test_long_sums_and_many_neighbours() -> None:
    deep = [Stackable(0, 9, Extent(0, (i % 3,)), 64) for i in range(100)]
    assert evaluated(stack(deep, 3, NEVER), [64, 128, 0])[1] == 34 * 64 + 33 * 128
    wide = [Stackable(i, i + 1, Extent(0, (i % 30,)), 64) for i in range(300)]
    long = Stackable(0, 300, Extent(0, (0,)), 64)
    offsets, total = evaluated(stack([*wide, long], 30, NEVER), [64 * i for i in range(30)])
    assert (offsets[-1], total) == (64 * 29, 64 * 29)


def test_cost_is_near_linear() -> None:
    def pairs(count: int) -> int:
        buffers = [Stackable(i, i + 5, Extent(0, (i % 7,)), 64) for i in range(count)]
        return sum(map(len, stack(buffers, 7, NEVER).greatest))

    assert pairs(2000) <= 2 * pairs(1000) + 50
