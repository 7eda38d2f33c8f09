"""Batch norm with `momentum=None` in training mode, whose statistics are averages over all batches so far.

PyTorch's own code divides by the number of batches as a number of Python's, which no trace knows. Here it is a tensor.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.nn.modules.batchnorm import _BatchNorm as BatchNorm  # pyright: ignore[reportPrivateUsage]

_forward: Any = BatchNorm.forward


def cumulative_norm(module: Any, x: Tensor) -> Tensor:
    """What a batch norm gives; where its statistics are averages over all batches, a batch changes them by its share."""
    batches: Tensor | None = module.num_batches_tracked
    if batches is None or module.momentum is not None or not (module.training and module.track_running_stats):
        return _forward(module, x)
    module._check_input_dim(x)
    batches.add_(1)
    running: list[Tensor] = [module.running_mean, module.running_var]
    mean, variance = of_batch = [torch.zeros_like(each) for each in running]
    made = F.batch_norm(x, mean, variance, module.weight, module.bias, training=True, momentum=1.0, eps=module.eps)
    share = 1.0 / batches.to(torch.float64)
    for each, new in zip(running, of_batch, strict=True):
        each.copy_((1 - share) * each + share * new)
    return made


@contextmanager
def cumulative_averages_composed() -> Generator[None]:
    """Has batch norms compute what `cumulative_norm` does, of ops that are traced."""
    with mock.patch.object(BatchNorm, "forward", cumulative_norm):
        yield
