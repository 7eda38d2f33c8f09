"""Functions of PyTorch that assert, or branch on, values of tensors, or sizes: each call of the program checks what they assert.

`torch.export` keeps what is demanded of a number, by `torch._check`; it refuses a branch on a value, and an op that asserts would
be dropped. What only an op's kernel asserts of sizes it does not see.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

_torch: Any = torch
aten: Any = torch.ops.aten


def _demand(holds: Tensor, message: str) -> None:
    _torch._check((~holds).sum().item() == 0, lambda: message)


def _assert_async(condition: Tensor, assert_msg: str = "an assertion does not hold") -> None:
    _demand(condition if condition.dtype == torch.bool else condition != 0, assert_msg)


def _gaussian_nll_loss(
    input: Tensor, target: Tensor, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    """Where variances are a tensor: PyTorch's branches on whether one is negative."""
    if not isinstance(var, Tensor) or reduction not in ("none", "mean", "sum"):
        return NotImplemented
    variances = var.unsqueeze(-1) if var.shape == input.shape[:-1] != input.shape else var
    differing = [own for own, size in zip(variances.shape, input.shape, strict=False) if own != size]
    if variances.dim() != input.dim() or (differing and (len(differing) > 1 or differing[0] != 1)):
        return NotImplemented  # which says what sizes are expected
    _demand(~(var < 0), "a variance is negative")  # one that is nan is none
    least = variances.clamp_min(eps)
    loss = 0.5 * (torch.log(least) + (input - target) ** 2 / least)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()


def _demand_shape(source: Tensor, part: Tensor) -> None:
    _torch._check(source.dim() == part.dim(), lambda: "the source has not as many dims as the part of the tensor")
    for own, size in zip(source.shape, part.shape, strict=True):
        _torch._check(own == size, lambda: "the source has not the shape of the part of the tensor")


def _slice_scatter(
    input: Tensor, src: Tensor, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Tensor:
    _demand_shape(src, aten.slice.Tensor(input, dim, start, end, step))
    return NotImplemented


def _select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    _demand_shape(src, input.select(dim, index))
    return NotImplemented


def _diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    _demand_shape(src, input.diagonal(offset, dim1, dim2))
    return NotImplemented


ASSERTED: dict[Any, Callable[..., Any]] = {
    _torch._assert_async: _assert_async,
    torch.slice_scatter: _slice_scatter,
    torch.Tensor.slice_scatter: _slice_scatter,
    torch.select_scatter: _select_scatter,
    torch.Tensor.select_scatter: _select_scatter,
    torch.diagonal_scatter: _diagonal_scatter,
    torch.Tensor.diagonal_scatter: _diagonal_scatter,
    torch.nn.functional.gaussian_nll_loss: _gaussian_nll_loss,
}
