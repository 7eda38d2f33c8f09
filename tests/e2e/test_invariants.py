"""Loops that repeat dear arithmetic for outer loops: what is hoisted, and that results are PyTorch's."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import hotdesk


def _log_softmax(x: Tensor) -> Tensor:
    return torch.log_softmax(x, 1)


def _normalize(x: Tensor) -> Tensor:
    return torch.nn.functional.normalize(x, dim=1)


def _centred(x: Tensor) -> Tensor:
    variance = x.var(1, keepdim=True, unbiased=False)
    return (x - x.mean(1, keepdim=True)) * torch.rsqrt(variance + 1e-5)


def _program(
    function: Callable[[Tensor], Tensor], shape: tuple[int, ...], dtype: torch.dtype
) -> tuple[hotdesk.Program, Tensor]:
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0)).to(dtype)
    return hotdesk.compile(function, (x,), options=hotdesk.Options(keep_ir=True)), x


@pytest.mark.parametrize(
    ("function", "shape", "dtype"),
    [
        (_log_softmax, (1, 21, 31, 33), torch.float32),
        (_normalize, (2, 8, 64, 65), torch.float64),
        (_centred, (1, 24, 40, 41), torch.float16),
        (_log_softmax, (3, 1, 5, 7), torch.float32),
        (_normalize, (2, 16, 4097, 1), torch.float32),
        (_log_softmax, (0, 21, 31, 33), torch.float32),
    ],
)
def test_results_over_channels(
    function: Callable[[Tensor], Tensor], shape: tuple[int, ...], dtype: torch.dtype
) -> None:
    program, x = _program(function, shape, dtype)
    near = 4e-3 if dtype == torch.float16 else 1e-5
    torch.testing.assert_close(program(x), function(x), rtol=near, atol=near)


def test_a_logarithm_of_a_sum_over_channels_is_taken_once_in_the_memory_of_the_sum() -> None:
    program, _ = _program(_log_softmax, (1, 21, 64, 64), torch.float32)
    (line,) = [line for line in program.ir("hotdesk-hoist-invariants").splitlines() if "math.log" in line]
    before, _, behind = program.ir("hotdesk-hoist-invariants").partition(line)
    assert "ins(%6 : tensor<1x1x64x64xf32>) outs(%7 : tensor<1x1x64x64xf32>)" in before.splitlines()[-2]
    assert "math." not in behind
    assert program.memory().arena == 64 * 64 * 4
