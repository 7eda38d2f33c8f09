"""Which dims of a reshape belong together."""

from __future__ import annotations

from typing import Any

import pytest
import sympy

from hotdesk.sizes.reshaping import matching

A, B = sympy.symbols("a b")


@pytest.mark.parametrize(
    ("before", "after", "groups"),
    [
        ((2, 3), (2, 3), [((0,), (0,)), ((1,), (1,))]),
        ((2, 3), (6,), [((0, 1), (0,))]),
        ((A, B, 12), (A, B, 3, 4), [((0,), (0,)), ((1,), (1,)), ((2,), (2, 3))]),
        ((A, B, 32), (A * B, 32), [((0, 1), (0,)), ((2,), (1,))]),
        ((A * B, 32), (A, B, 4, 8), [((0,), (0, 1)), ((1,), (2, 3))]),
        ((A, 6, B), (2 * A, 3, B), [((0, 1), (0, 1)), ((2,), (2,))]),
        ((A, B), (A, B, 1, 1), [((0,), (0,)), ((1,), (1, 2, 3))]),
        ((A, B, 1), (A, B), [((0,), (0,)), ((1, 2), (1,))]),
        ((A, B), (B, A), [((0, 1), (0, 1))]),
        ((A, B), (A + 1, B - 1), [((0, 1), (0, 1))]),
    ],
    ids=str,
)
def test_matching(before: tuple[Any, ...], after: tuple[Any, ...], groups: list[Any]) -> None:
    assert matching(before, after) == groups
