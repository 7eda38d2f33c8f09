"""Programs in MLIR, op by op as users write them: against NumPy, or refused by a reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hotdesk
from hotdesk.errors import ExecutionError, ShapeError


def floats(*sizes: int) -> Any:
    return np.random.default_rng(0).standard_normal(sizes, dtype=np.float32)


# Arithmetic on tensors


def arithmetic(name: str, element: str) -> Any:
    kind = f"tensor<?x{element}>"
    return hotdesk.compile(
        f"func.func @f(%x: {kind}, %y: {kind}) -> {kind} {{ %0 = arith.{name} %x, %y : {kind} return %0 : {kind} }}"
    )


def test_arithmetic_on_tensors_of_two_sizes_is_refused() -> None:
    program = arithmetic("addf", "f32")
    assert program(floats(4), floats(4)).tolist() == (floats(4) * 2).tolist()
    with pytest.raises(ShapeError, match="dim 0 of %x = 4, dim 0 of %y = 3"):
        program(floats(4), floats(3))


@pytest.mark.parametrize("name", ["divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui"])
def test_divisions_of_tensors_are_checked_by_element(name: str) -> None:
    program = arithmetic(name, "i32")
    x, y = np.array([7, 9, 12], np.int32), np.array([2, 3, 5], np.int32)
    expected: Any = -(-x // y) if name.startswith("ceil") else x % y if name.startswith("rem") else x // y
    assert program(x, y).tolist() == expected.tolist()
    y[1] = 0
    with pytest.raises(ExecutionError, match="no division of an integer by zero"):
        program(x, y)


# Convolutions


def test_convolutions_and_pooling_step_by_one_where_nothing_is_said() -> None:
    program = hotdesk.compile("""
    func.func @f(%x: tensor<1x2x6xf32>, %w: tensor<3x2x3xf32>, %k: tensor<2xf32>, %o: tensor<1x3x4xf32>, %p: tensor<1x3x3xf32>)
        -> tensor<1x3x3xf32> {
      %0 = linalg.conv_1d_ncw_fcw ins(%x, %w : tensor<1x2x6xf32>, tensor<3x2x3xf32>) outs(%o : tensor<1x3x4xf32>)
        -> tensor<1x3x4xf32>
      %1 = linalg.pooling_ncw_sum ins(%0, %k : tensor<1x3x4xf32>, tensor<2xf32>) outs(%p : tensor<1x3x3xf32>)
        -> tensor<1x3x3xf32>
      return %1 : tensor<1x3x3xf32>
    }""")
    x, w, o, p = floats(1, 2, 6), floats(3, 2, 3), floats(1, 3, 4), floats(1, 3, 3)
    windows = np.lib.stride_tricks.sliding_window_view(x, 3, axis=2)
    conv = o + np.einsum("ncik,fck->nfi", windows, w)
    pooled = p + conv[..., :-1] + conv[..., 1:]
    np.testing.assert_allclose(program(x, w, floats(2), o, p), pooled, rtol=1e-5, atol=1e-6)
