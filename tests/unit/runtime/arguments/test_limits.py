"""What is taken for bounds of sizes, and not for what a program is called with."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

from hotdesk.runtime.arguments.limits import is_bounds, limits
from hotdesk.runtime.interface import TensorSpec

X = np.zeros((2, 2), dtype=np.float32)


@pytest.mark.parametrize(
    "given",
    [{}, {"n": (1, 2)}, {"n": [1, None]}, {"n": 3}, {"n": (1.5, 2)}, {"n": None}, {"n": "x"}, {"n": np.int64(3)}],
)
def test_numbers_by_name_are_bounds(given: object) -> None:
    assert is_bounds(given)


@pytest.mark.parametrize(
    "given", [X, (1, 2), {"x": X}, {"x": (1, X)}, {"x": [X, X]}, {"x": (1, 2), "y": {"z": X}}, None]
)
def test_tensors_by_name_are_arguments(given: object) -> None:
    assert not is_bounds(given)


def test_integers_of_numpy_are_ends() -> None:
    rows = TensorSpec("x", "f32", (sympy.Symbol("n"), 4))
    found = limits({"n": (np.int64(1), np.int64(2))}, {}, (rows,), {})  # pyright: ignore[reportArgumentType]
    assert found == {"n": (1, 2)}
    assert {type(end) for end in found["n"]} == {int}
