"""Covariances and correlations, without the branches on values of PyTorch's own.

    cov(x)[i, j]       =  sum_k w[k] (x[i, k] - m[i]) conj(x[j, k] - m[j]) / d,  m[i] = sum_k w[k] x[i, k] / sum w
    corrcoef(x)[i, j]  =  cov(x)[i, j] / sqrt(cov(x)[i, i] cov(x)[j, j]), its parts no larger than 1

The weights w are products of frequencies and observation weights, and d is sum w - correction * sum(w * aweights) / sum w, or 0
if that is negative.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

_torch: Any = torch


def _cov(
    input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None
) -> Tensor:
    if input.dim() > 2 or input.dtype == torch.bool:
        return NotImplemented  # which says what is expected
    given = [each for each in (fweights, aweights) if each is not None]
    x = input.reshape(1, -1) if input.dim() < 2 else input
    if any(each.dim() > 1 or each.numel() != x.size(1) for each in given):
        return NotImplemented
    if fweights is not None and (fweights.dtype.is_floating_point or fweights.dtype.is_complex):
        return NotImplemented
    if aweights is not None and not aweights.dtype.is_floating_point:
        return NotImplemented
    for each in given:
        _torch._check((each < 0).sum().item() == 0, lambda: "a weight is negative")
    weights = fweights if aweights is None else aweights if fweights is None else fweights * aweights
    weights = None if weights is None else weights.reshape(-1)
    wide = x if x.dtype.is_floating_point or x.dtype.is_complex else x.to(torch.get_default_dtype())
    total: Any = x.size(1) if weights is None else weights.sum()
    weighted = wide if weights is None else wide * weights
    mean = weighted.sum(1, keepdim=True) / total
    taken: Any = correction
    if correction and weights is not None and aweights is not None:
        taken = correction * (weights * aweights.reshape(-1)).sum() / total
    left: Any = total - taken
    count: Any = torch.clamp_min(left, 0) if isinstance(left, Tensor) else _torch.sym_max(left, 0)
    apart = wide - mean
    right = apart if weights is None else apart * weights
    products: Tensor = apart @ right.mH
    return (products / count).squeeze()


def _corrcoef(input: Tensor) -> Tensor:
    if input.dim() > 2 or input.dtype == torch.bool:
        return NotImplemented
    covariance = _cov(input)
    if covariance.dim() == 0:
        return covariance / covariance
    variances = torch.real(torch.diagonal(covariance)) if covariance.dtype.is_complex else torch.diagonal(covariance)
    deviations = torch.sqrt(variances)
    found = covariance / deviations.unsqueeze(1) / deviations.unsqueeze(0)
    if found.dtype.is_complex:
        return torch.complex(torch.real(found).clamp(-1, 1), torch.imag(found).clamp(-1, 1))
    return found.clamp(-1, 1)


COVARIANCES: dict[Any, Callable[..., Any]] = {
    torch.cov: _cov,
    Tensor.cov: _cov,
    torch.corrcoef: _corrcoef,
    Tensor.corrcoef: _corrcoef,
}
