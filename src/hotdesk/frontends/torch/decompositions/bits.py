"""PyTorch ops on the bits of floats: signs, also those of zeros and of NaN, exponents, and the float next to another."""

# PyTorch is annotated in part only.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

aten: Any = torch.ops.aten

_FIELDS = {torch.float32: (torch.int32, 23, 8), torch.float64: (torch.int64, 52, 11)}
"""The integer of as many bits, the bits of the mantissa, and those of the exponent."""


def _bits(x: Tensor) -> Tensor:
    return aten.view.dtype(x, _FIELDS[x.dtype][0])


def _lowest(dtype: torch.dtype) -> int:
    """The integer of which the sign bit alone is set."""
    return torch.iinfo(_FIELDS[dtype][0]).min


def _float_of(x: Tensor) -> torch.dtype:
    """A type with the sign of every element, which has fields."""
    if x.dtype == torch.float64:
        return torch.float64
    return torch.float32


def _signbit(x: Tensor) -> Tensor:
    if x.dtype == torch.bool:
        return torch.zeros(x.shape, dtype=torch.bool)
    return _bits(x.to(_float_of(x))) < 0 if x.dtype.is_floating_point else x < 0


def _copysign(x: Tensor, y: Tensor | float) -> Tensor:
    dtype = torch.result_type(x, y)
    dtype = dtype if dtype.is_floating_point else torch.get_default_dtype()
    if dtype not in (torch.float16, torch.bfloat16, *_FIELDS):
        return NotImplemented
    size = x.to(dtype)
    size = size.to(_float_of(size))
    sign = y.to(dtype).to(size.dtype) if isinstance(y, Tensor) else torch.full([], y, dtype=size.dtype)
    lowest = _lowest(size.dtype)
    found = torch.bitwise_or(torch.bitwise_and(_bits(size), ~lowest), torch.bitwise_and(_bits(sign), lowest))
    return aten.view.dtype(found, size.dtype).to(dtype)


def _frexp(x: Tensor) -> tuple[Tensor, Tensor]:
    """What has no exponent, zeros, infinities and NaN, is its own mantissa."""
    if x.dtype not in _FIELDS:
        return NotImplemented
    _, mantissa, exponent = _FIELDS[x.dtype]
    tiny = torch.abs(x) < torch.finfo(x.dtype).tiny
    raised = mantissa + 1
    bits = _bits(torch.where(tiny, x * 2.0**raised, x))
    highest, half = (1 << exponent) - 1, (1 << (exponent - 1)) - 2
    field = torch.bitwise_and(bits >> mantissa, highest)
    power = field - torch.where(tiny, half + raised, half)
    kept = torch.bitwise_or(torch.bitwise_and(bits, ~(highest << mantissa)), half << mantissa)
    whole = (x == 0) | torch.isinf(x) | torch.isnan(x)
    found = torch.where(whole, x, aten.view.dtype(kept, x.dtype))
    return found, torch.where(whole, 0, power).to(torch.int32)


def _nextafter(x: Tensor, y: Tensor) -> Tensor:
    dtype = torch.result_type(x, y)
    if dtype not in _FIELDS:
        return NotImplemented
    x, y = torch.broadcast_tensors(x.to(dtype), y.to(dtype))
    bits = _bits(x)
    away = (y > x) == (x > 0)
    stepped = aten.view.dtype(bits + torch.where(away, 1, -1).to(bits.dtype), dtype)
    smallest = torch.finfo(dtype).smallest_normal * torch.finfo(dtype).eps
    first = torch.where(y > 0, smallest, torch.full([], -smallest, dtype=dtype))
    found = torch.where(x == y, y, torch.where(x == 0, first, stepped))
    return torch.where(torch.isnan(x) | torch.isnan(y), float("nan"), found)


BITS: dict[Any, Callable[..., Any]] = {
    aten.signbit.default: _signbit,
    aten.copysign.Tensor: _copysign,
    aten.copysign.Scalar: _copysign,
    aten.frexp.Tensor: _frexp,
    aten.nextafter.default: _nextafter,
}
