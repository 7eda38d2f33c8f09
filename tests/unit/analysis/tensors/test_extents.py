"""Extents: which parts of a tensor are apart, inside one another, or the same."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

import numpy as np
import pytest
import sympy

from hotdesk.analysis.tensors.extents import UNKNOWN, WHOLE, Box, Extent, covers, disjoint, reshaped, same, within

N, P, Q = sympy.Symbol("n"), sympy.Symbol("opaque1"), sympy.Symbol("opaque2")


def box(*dims: tuple[Any, Any, Any], frame: int = 0) -> Box:
    return Box(frame, dims, tuple(range(len(dims))), frame + 1)


@pytest.mark.parametrize(
    ("a", "b", "apart"),
    [
        (box((0, 4, 1)), box((4, 4, 1)), True),
        (box((0, 5, 1)), box((4, 4, 1)), False),
        (box((4, 4, 1)), box((0, 4, 1)), True),
        (box((0, 4, 2)), box((1, 4, 2)), True),  # even and odd
        (box((0, 4, 2)), box((2, 4, 2)), False),
        (box((0, 4, 2)), box((1, 4, 3)), False),
        (box((0, 0, 1)), box((0, 8, 1)), True),  # nothing meets nothing
        (box((0, N, 1)), box((N, 4, 1)), True),
        (box((0, N, 1)), box((N - 1, 4, 1)), False),
        (box((P, 4, 1)), box((P + 4, 4, 1)), True),
        (box((P, 4, 1)), box((Q, 4, 1)), False),
        (box((P, 4, 1)), box((0, 4, 1)), False),
        (box((0, 2, 1), (0, 3, 1)), box((0, 2, 1), (3, 3, 1)), True),  # one dim is enough
        (box((0, 4, 1)), box((4, 4, 1), frame=1), False),
        (box((6, 4, -1)), box((7, 4, -1)), False),  # 3 to 6, 4 to 7
        (box((3, 4, -1)), box((1, 4, 1)), False),
        (box((0, 4, P)), box((4, 4, 1)), False),  # a step that may be negative
        (WHOLE, box((0, 0, 1)), False),
        (UNKNOWN, box((0, 4, 1)), False),
    ],
)
def test_disjoint(a: Any, b: Any, apart: bool) -> None:
    assert disjoint(a, b) is apart
    assert disjoint(b, a) is apart


@pytest.mark.parametrize(
    ("outer", "inner", "inside"),
    [
        (box((0, 8, 1)), box((2, 3, 2)), True),
        (box((0, 6, 1)), box((2, 3, 2)), False),
        (box((0, 8, 2)), box((0, 4, 2)), False),  # not proven
        (box((P, 4, 1)), box((P, 4, 1)), True),
        (box((0, N, 1)), box((0, N, 1)), True),
        (box((0, 8, 1)), box((2, 8, -1)), False),
        (box((0, 8, 1)), box((2, 3, P)), False),
        (WHOLE, UNKNOWN, True),
        (UNKNOWN, UNKNOWN, False),
        (box((0, 8, 1)), WHOLE, False),
    ],
)
def test_covers(outer: Any, inner: Any, inside: bool) -> None:
    assert covers(outer, inner) is inside


def test_within_composes_slices() -> None:
    rows = Box(0, ((2, 4, 1), (0, 8, 1)), (0, 1), 1)
    part = within(rows, Box(1, ((1, 2, 1), (3, 2, 2)), (0, 1), 2))
    assert part == Box(0, ((3, 2, 1), (3, 2, 2)), (0, 1), 2)


def test_within_follows_dims_that_are_dropped() -> None:
    row = Box(0, ((2, 1, 1), (0, 8, 1)), (1,), 1)
    assert within(row, Box(1, ((3, 2, 1),), (0,), 2)) == Box(0, ((2, 1, 1), (3, 2, 1)), (1,), 2)


def test_within_of_what_is_not_known() -> None:
    assert within(UNKNOWN, box((0, 1, 1))) is UNKNOWN
    assert within(WHOLE, box((0, 1, 1))) == box((0, 1, 1))
    assert within(box((0, 1, 1)), WHOLE) == box((0, 1, 1))


def test_same_needs_a_proof() -> None:
    assert same(WHOLE, WHOLE)
    assert not same(UNKNOWN, UNKNOWN)
    assert not same(box((0, 4, 1)), box((0, 4, 1), frame=1))


@pytest.mark.parametrize("seed", range(60))
def test_slices_of_reshaped_slices_are_the_elements_that_they_are(seed: int) -> None:
    """Slices and reshapes of slices and reshapes, beside arrays of the places of their elements."""
    draw, frames = random.Random(seed), itertools.count()
    shape = draw.choice([(6, 4), (4, 4, 2), (12,), (2, 3, 4)])
    tensors: list[tuple[int, Extent, Any]] = [(next(frames), WHOLE, np.reshape(np.arange(math.prod(shape)), shape))]
    for _ in range(9):
        frame, extent, places = draw.choice(tensors[-4:] + tensors[:1])
        if draw.random() < 0.5:
            rows = draw.choice([n for n in range(1, places.size + 1) if places.size % n == 0])
            tensors.append((next(frames), reshaped(extent), places.reshape(rows, -1)))
            continue
        offsets = [draw.randrange(size) for size in places.shape]
        dims = [(o, draw.randint(1, size - o), 1) for o, size in zip(offsets, places.shape, strict=True)]
        part = Box(frame, tuple(dims), tuple(range(len(dims))), next(frames))
        tensors.append((part.inside, within(extent, part), places[tuple(slice(o, o + n) for o, n, _ in dims)]))
    for (_, a, first), (_, b, second) in itertools.product(tensors, tensors):
        assert not same(a, b) or np.array_equal(first.ravel(), second.ravel())
        assert not disjoint(a, b) or not np.intersect1d(first, second).size
        assert not covers(a, b) or not np.setdiff1d(second, first).size


def test_parts_of_a_reshaped_slice() -> None:
    whole = reshaped(Box(0, ((2, 4, 1), (0, 3, 1)), (0, 1), 1))
    first, second, elsewhere = (within(whole, box((at, 4, 1), frame=2)) for at in (0, 4, 2))
    assert disjoint(first, second)
    assert not disjoint(first, elsewhere)
    assert disjoint(first, Box(0, ((0, 2, 1), (0, 3, 1)), (0, 1), 3))
    assert same(first, within(whole, box((0, 4, 1), frame=2)))
    assert covers(whole, first)
    assert not covers(first, whole)
    assert not same(first, whole)
