"""Ops on half-precision floats that are computed in a wider type, against eager PyTorch."""

# PyTorch is annotated in part only.
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import hotdesk


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * 1e5,
        lambda x: 1e-8 * x,
        lambda x: x / 1e5,
        lambda x: x * 0.3337,
        lambda x: x / 3.3,
        lambda x: x / 100001,
        lambda x: torch.ops.aten.mul.Scalar(x, 0.1),
        lambda x: x.clone().mul_(0.1),
    ],
)
def test_numbers_that_half_precision_does_not_hold(function: Callable[[Tensor], Any], dtype: torch.dtype) -> None:
    x = torch.tensor([[1e-3, -2.0, 60000.0], [0.0, torch.inf, torch.nan]]).to(dtype)
    x = torch.cat([x, torch.linspace(-9, 9, 300).to(dtype).view(-1, 3)])
    torch.testing.assert_close(hotdesk.compile(function, (x,))(x), function(x), rtol=0, atol=0, equal_nan=True)
