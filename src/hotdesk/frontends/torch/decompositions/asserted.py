"""Functions of PyTorch that assert, or branch on, values of tensors: each call of the program checks what they assert.

`torch.export` keeps what is demanded of a number, by `torch._check`; it refuses a branch on a value, and an op that asserts would
be dropped.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch._C._functorch import is_batchedtensor

_torch: Any = torch


def demand(holds: Tensor, message: str) -> None:
    """Has each call check that all of `holds` is true; it fails with the message otherwise."""
    _torch._check((~holds).sum().item() == 0, lambda: message)


def _assert_async(condition: Tensor, assert_msg: str = "an assertion does not hold") -> None:
    demand(condition if condition.dtype == torch.bool else condition != 0, assert_msg)


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
    demand(~(var < 0), "a variance is negative")  # one that is nan is none
    least = variances.clamp_min(eps)
    loss = 0.5 * (torch.log(least) + (input - target) ** 2 / least)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()


def _one_hot(tensor: Tensor, num_classes: Any = -1) -> Tensor:
    """Of classes that there are: PyTorch does not ask while it traces, nor can a function under `vmap` be asked."""
    if tensor.dtype != torch.int64 or is_batchedtensor(tensor) or (isinstance(num_classes, int) and num_classes <= 0):
        return NotImplemented
    demand((tensor >= 0) & (tensor < num_classes), "a class is not below `num_classes`, or negative")
    return (tensor.unsqueeze(-1) == torch.arange(num_classes)).to(torch.int64)


ASSERTED: dict[Any, Callable[..., Any]] = {
    _torch._assert_async: _assert_async,
    torch.nn.functional.gaussian_nll_loss: _gaussian_nll_loss,
    torch.nn.functional.one_hot: _one_hot,
}
