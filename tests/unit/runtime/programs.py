"""Programs that the tests of calls share."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy
import torch

from hotdesk.runtime.interface import TensorSpec
from tests.unit.runtime.fake import Fake

S0, S1 = sympy.Symbol("s0"), sympy.Symbol("s1")
X = TensorSpec("x", "f32", (2, 3), "model.py:1")
Y = TensorSpec("y", "f32", (2, 3), "model.py:1")
SUM = TensorSpec("sum", "f32", (2, 3), "model.py:4")


def adding() -> Fake:
    return Fake((X, Y), (SUM,), lambda x, y: (x + y,))


def stacking() -> Fake:
    """`x[s0, 3]`, `y[2*s0, 3]` to a sum of `[2*s0, 3]` and the flat `x`."""
    inputs = (TensorSpec("x", "f32", (S0, 3)), TensorSpec("y", "f32", (2 * S0, 3)))
    results = (TensorSpec("sum", "f32", (2 * S0, 3)), TensorSpec("flat", "f32", (3 * S0,)))
    return Fake(inputs, results, lambda x, y: (np.concatenate([x, x]) + y, x.reshape(-1)), {"s0": (0, 8)})


def example(make: str = "torch") -> Any:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    return torch.from_numpy(array) if make == "torch" else array
