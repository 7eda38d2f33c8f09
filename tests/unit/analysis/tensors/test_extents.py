"""Extents: which parts of a tensor are apart, inside one another, or the same."""

from __future__ import annotations

from typing import Any

import pytest
import sympy

from hotdesk.analysis.tensors.extents import UNKNOWN, WHOLE, Box, covers, disjoint, same, within

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
