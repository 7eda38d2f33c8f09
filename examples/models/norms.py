"""Batch norms that do something.

A fresh `BatchNorm` has mean 0, variance 1, scale 1 and shift 0: dropping it, or folding it wrongly, changes nothing,
so a bug stays hidden. Statistics drawn blindly are no better in a deep net: activations fade or blow up layer by layer
until the result no longer depends on the input.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm


def settle_batch_norms(model: nn.Module, *inputs: torch.Tensor) -> nn.Module:
    """Give every batch norm a random scale and shift, and statistics near those that `inputs` produce."""
    norms = [module for module in model.modules() if isinstance(module, _BatchNorm)]
    momenta = [norm.momentum for norm in norms]
    model.eval()
    with torch.no_grad():
        for norm in norms:
            norm.weight.uniform_(0.5, 1.5)
            norm.bias.normal_(std=0.2)
            norm.momentum = 1.0
            norm.train()
        model(*inputs)
        for norm, momentum in zip(norms, momenta, strict=True):
            norm.momentum = momentum
            norm.running_mean.add_(0.1 * norm.running_var.sqrt() * torch.randn_like(norm.running_mean))
            norm.running_var.mul_(torch.empty_like(norm.running_var).uniform_(0.8, 1.25)).add_(1e-3)
    return model.eval()
