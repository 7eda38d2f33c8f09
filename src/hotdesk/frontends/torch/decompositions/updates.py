"""Updates of many parameters at once, as optimizers with `fused=True` call them, taken apart parameter by parameter.

They compute what PyTorch's kernels for the CPU do, in their order. Gradients that are scaled (`grad_scale`, `found_inf`), and
parameters that are narrower than f32, whose kernels compute in f32 within, are left as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

import torch
from torch import Tensor

aten: Any = torch.ops.aten

_WIDE = (torch.float32, torch.float64)


def _adam(
    parameters: Sequence[Tensor],
    gradients: Sequence[Tensor],
    means: Sequence[Tensor],
    squares: Sequence[Tensor],
    largest: Sequence[Tensor],
    steps: Sequence[Tensor],
    *,
    lr: float | Tensor,
    beta1: float,
    beta2: float,
    weight_decay: float,
    eps: float,
    amsgrad: bool,
    maximize: bool,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    decoupled: bool,
) -> Any:
    """Kingma and Ba 2015; with `decoupled` weight decay Loshchilov and Hutter 2019. `steps` have been counted up."""
    if grad_scale is not None or found_inf is not None or not _are_wide(parameters):
        return NotImplemented
    new: tuple[list[Tensor], ...] = ([], [], [], [])
    rows = zip(parameters, gradients, means, squares, steps, strict=True)
    for number, (parameter, gradient, mean, square, step) in enumerate(rows):
        given = -gradient if maximize else gradient
        if weight_decay and decoupled:
            parameter = parameter - parameter * (lr * weight_decay)
        elif weight_decay:
            given = given + parameter * weight_decay
        mean = mean + (given - mean) * (1 - beta1)
        square = square * beta2 + given * given * (1 - beta2)
        greatest = torch.maximum(largest[number], square) if amsgrad else square
        corrected = greatest.sqrt() / (1 - beta2**step).sqrt() + eps
        new[0].append(parameter - mean / corrected * (lr / (1 - beta1**step)))
        new[1].append(mean)
        new[2].append(square)
        new[3].append(greatest)
    found, mean, square, greatest = new
    return found, list(gradients), mean, square, greatest if amsgrad else list(largest)


def _sgd(
    parameters: Sequence[Tensor],
    gradients: Sequence[Tensor],
    momenta: Sequence[Tensor],
    *,
    weight_decay: float,
    momentum: float,
    lr: float | Tensor,
    dampening: float,
    nesterov: bool,
    maximize: bool,
    is_first_step: bool,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
) -> Any:
    """Sutskever et al. 2013, as `torch.optim.SGD` has it: the first gradient is not damped."""
    if grad_scale is not None or found_inf is not None or not _are_wide(parameters):
        return NotImplemented
    found: list[Tensor] = []
    moved: list[Tensor] = []
    for number, (parameter, gradient) in enumerate(zip(parameters, gradients, strict=True)):
        given = -gradient if maximize else gradient
        if weight_decay:
            given = given + parameter * weight_decay
        if momentum:
            moved.append(given if is_first_step else momenta[number] * momentum + given * (1 - dampening))
            given = given + moved[-1] * momentum if nesterov else moved[-1]
        found.append(parameter - given * lr)
    return found, list(gradients), moved or list(momenta)


def _are_wide(parameters: Sequence[Tensor]) -> bool:
    return all(each.dtype in _WIDE for each in parameters)


def _overloads() -> dict[Any, Callable[..., Any]]:
    written: dict[str, Callable[..., Any]] = {
        "_fused_adam": partial(_adam, decoupled=False),
        "_fused_adamw": partial(_adam, decoupled=True),
        "_fused_sgd": _sgd,
    }
    return {
        getattr(getattr(aten, name), overload): cast("Callable[..., Any]", function)
        for name, function in written.items()
        for overload in ("default", "tensor_lr")
    }


UPDATES = _overloads()

__all__ = ["UPDATES"]
