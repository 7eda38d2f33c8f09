"""Functions and ops of PyTorch that assert, or branch on, values of tensors: each call of the program checks what they assert.

`torch.export` keeps what is demanded of a number, by `torch._check`, and refuses a branch on a value. Ops are taken apart into an
assertion on a number that assert something of values: what PyTorch's kernels alone ask, or what they are there for. Graphs that
Dynamo traced have no numbers from data: there it is an assertion on a tensor, of which `tensor_assertions` makes a check.
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
    _torch._check((~holds).sum().item() == 0, lambda: message)


def demand_traced(holds: Tensor, message: str) -> None:
    """The same where ops are taken apart: of branches and loops PyTorch drops then what is demanded by `torch._check`."""
    aten._assert_scalar.default((~holds).sum().item() < 1, message)  # not `== 0`: PyTorch would write 0 for the number


def demand_of_tensor(holds: Tensor, message: str) -> None:
    """The same in graphs of Dynamo."""
    aten._assert_async.msg(holds.all(), message)


_Demand = Callable[[Tensor, str], None]


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


def _one_hot(demand: _Demand, classes: Tensor, num_classes: Any = -1) -> Tensor:
    """Of classes that there are, of which PyTorch's kernels alone ask."""
    if classes.dtype != torch.int64 or (isinstance(num_classes, int) and num_classes <= 0):
        return NotImplemented
    demand((classes >= 0) & (classes < num_classes), "a class is not below `num_classes`, or negative")
    return (classes.unsqueeze(-1) == torch.arange(num_classes)).to(torch.int64)


_UNSAID = "an assertion does not hold"


def _assert_async(condition: Tensor, assert_msg: str = _UNSAID) -> None:
    demand_traced(condition if condition.dtype == torch.bool else condition != 0, assert_msg)


def _repeat_interleave(demand: _Demand, repeats: Tensor, *, output_size: Any = None) -> Tensor:
    """Of as many places as it is said there are: PyTorch's kernel alone adds them up."""
    if output_size is not None:
        demand((repeats >= 0).all() & (repeats.sum() == output_size), "`output_size` is not the sum of the repeats")
    return NotImplemented


def _asserting(demand: _Demand) -> dict[Any, Callable[..., Any]]:
    ops = {aten.one_hot.default: _one_hot, aten.repeat_interleave.Tensor: _repeat_interleave}
    return {op: partial(function, demand) for op, function in ops.items()}


ASSERTED: dict[Any, Callable[..., Any]] = {
    **_asserting(demand_traced),
    aten._assert_async.default: _assert_async,
    aten._assert_async.msg: _assert_async,
}
"""Of ops, as they are taken apart."""

ASSERTED_OF_DYNAMO: dict[Any, Callable[..., Any]] = {
    **_asserting(demand_of_tensor),
    aten._assert_async.default: partial(aten._assert_async.msg, assert_msg=_UNSAID),
}
"""The same in graphs of Dynamo, where assertions on tensors stay."""

ASSERTING_FUNCTIONS: dict[Any, Callable[..., Any]] = {torch.nn.functional.gaussian_nll_loss: _gaussian_nll_loss}
"""Of functions, while a model is exported."""
