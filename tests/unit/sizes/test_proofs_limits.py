"""Limits of sizes that are known only when a program runs."""

from __future__ import annotations

from typing import Any

import pytest
import sympy

from hotdesk.sizes.proofs import known_limit

_algebra: Any = sympy
n, u, v = _algebra.symbols("n opaque1 opaque2")


@pytest.mark.parametrize(
    ("size", "limit"),
    [
        (7, 7),
        (n, n),
        (_algebra.Min(u, 12), 12),
        (_algebra.Min(u, n, 12), _algebra.Min(n, 12)),
        (3 * n * _algebra.Min(u, 12) + 1, 36 * n + 1),
        (_algebra.floor((_algebra.Min(u, 12) - 3) / 2) + 1, 5),
        (_algebra.Max(_algebra.Min(u, 12), _algebra.Min(v, n)), _algebra.Max(12, n)),
    ],
)
def test_what_a_minimum_says(size: Any, limit: Any) -> None:
    assert known_limit(size) == limit


@pytest.mark.parametrize(
    "size", [u, u + 1, n - _algebra.Min(u, 12), _algebra.Max(u, 3), _algebra.Min(u, v), -2 * _algebra.Min(u, 12)]
)
def test_what_has_no_limit(size: Any) -> None:
    assert known_limit(size) is None
