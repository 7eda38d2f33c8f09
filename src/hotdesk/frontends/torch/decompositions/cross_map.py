"""`nn.CrossMapLRN2d`, whose own code writes into tensors that it has resized, which no trace follows."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from functools import reduce
from typing import Any, cast
from unittest import mock

import torch
from torch import Tensor
from torch.nn.modules._functions import CrossMapLRN2d


def cross_map_norm(x: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> Tensor:
    """Maps `[batch, channels, height, width]`, each divided by a power of the squares of the maps around it.

    As PyTorch's: a window of an even `size` is one smaller, and the square of the first map stays in all windows behind its own.

    Raises:
        ValueError: `x` has other than four dims.
    """
    if x.dim() != 4:
        raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {x.dim()}D instead.")
    return cast("Any", _Norm).apply(x, size, alpha, beta, k)


class _Norm(torch.autograd.Function):
    """With the gradient that PyTorch gives it, which sums over other maps than the derivative does."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, size: int, alpha: float, beta: float, k: float) -> Tensor:
        squares, reach = x * x, (size - 1) // 2
        behind = torch.arange(x.size(1)).reshape([-1, 1, 1]) > reach
        total = _windows(squares, reach, reach) + torch.where(behind, squares[:, :1], 0.0)
        scale = total * (alpha / size) + k
        made = x * scale**-beta
        ctx.save_for_backward(x, made, scale)
        ctx.settings = size, alpha, beta
        return made

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        x, made, scale = ctx.saved_tensors
        size, alpha, beta = ctx.settings
        before = int(size - (size - 1) / 2)
        total = _windows(gradient * made / scale, before, size - 1 - before)
        return gradient * scale**-beta - x * total * (2 * alpha * beta / size), None, None, None, None


def _windows(x: Tensor, before: int, behind: int) -> Tensor:
    """Sums over maps, from `before` before each to `behind` behind it; minus one is the one before it."""
    padded = torch.nn.functional.pad(x, [0, 0, 0, 0, before, behind])
    return reduce(torch.add, [padded.narrow(1, place, x.size(1)) for place in range(before + behind + 1)])


@contextmanager
def cross_maps_composed() -> Generator[None]:
    """Has `nn.CrossMapLRN2d` compute what `cross_map_norm` does, of ops that are traced."""
    with mock.patch.object(CrossMapLRN2d, "apply", staticmethod(cross_map_norm)):
        yield
