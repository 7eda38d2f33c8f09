"""Functions and ops of PyTorch that assert, or branch on, values of tensors: each call of the program checks what they assert.

What PyTorch's kernels alone ask of values, or what a function branches on, becomes an assertion on a tensor, as users write by
`torch._assert_async`. Assertions stay in graphs, of `torch.export` and of Dynamo; `tensor_assertions` makes checks of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor

_torch: Any = torch
aten: Any = torch.ops.aten


@contextmanager
def assertions_kept() -> Generator[None]:
    """While it lasts, graphs do not lose `_assert_async` without a message, of which PyTorch knows no effect."""
    known, op = _torch.fx.node._side_effectful_functions, aten._assert_async.default
    is_new = op not in known
    known.add(op)
    try:
        yield
    finally:
        if is_new:
            known.discard(op)


def demand(holds: Tensor, message: str) -> None:
    """Has each call check that all of `holds` is true; it fails with the message otherwise."""
    aten._assert_async.msg(holds.all(), message)


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


def _one_hot(classes: Tensor, num_classes: Any = -1) -> Tensor:
    """Of classes that there are, of which PyTorch's kernels alone ask."""
    if classes.dtype != torch.int64 or (isinstance(num_classes, int) and num_classes <= 0):
        return NotImplemented
    demand((classes >= 0) & (classes < num_classes), "a class is not below `num_classes`, or negative")
    return (classes.unsqueeze(-1) == torch.arange(num_classes)).to(torch.int64)


def _counted_one_hot(input: Tensor, num_classes: Any = -1) -> Tensor:
    """Of as many classes as the largest one tells: PyTorch's own way branches on it."""
    if not isinstance(num_classes, int) or num_classes != -1 or input.dtype != torch.int64:
        return NotImplemented
    demand(input >= 0, "a class is negative")
    count = input.max().item() + 1
    _torch._check(count >= 1)
    return (input.unsqueeze(-1) == torch.arange(count)).to(torch.int64)


def _repeat_interleave(repeats: Tensor, *, output_size: Any = None) -> Tensor:
    """Of as many places as it is said there are: PyTorch's kernel alone adds them up."""
    if output_size is not None:
        demand((repeats >= 0).all() & (repeats.sum() == output_size), "`output_size` is not the sum of the repeats")
    return NotImplemented


ASSERTED: dict[Any, Callable[..., Any]] = {
    aten.one_hot.default: _one_hot,
    aten.repeat_interleave.Tensor: _repeat_interleave,
    aten._assert_async.default: partial(aten._assert_async.msg, assert_msg="an assertion does not hold"),
}
"""Of ops, as they are taken apart."""

ASSERTING_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    torch.nn.functional.gaussian_nll_loss: _gaussian_nll_loss,
    torch.nn.functional.one_hot: _counted_one_hot,
}
"""Of functions, while a model is exported."""
