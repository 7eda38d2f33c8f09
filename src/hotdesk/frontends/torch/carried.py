"""Tensors of element types that programs do not have, carried by those that they have.

Complex numbers are pairs of floats in a last dimension of their own, unsigned integers and 8-bit floats are integers of the same
bits. Only foreign calls look at what is carried.
"""

from __future__ import annotations

from typing import Any

import torch

_BITS = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}
_BITS.update(
    {
        getattr(torch, name): torch.uint8
        for name in ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz")
    }
)


def is_carried(dtype: torch.dtype) -> bool:
    """Whether tensors of this element type are carried by those of another."""
    return dtype.is_complex or dtype in _BITS


def carrier(tensor: torch.Tensor) -> torch.Tensor:
    """The same memory as a tensor of an element type that programs have, if there is one."""
    if tensor.dtype.is_complex:
        return torch.view_as_real(tensor.resolve_conj())
    return tensor.view(_BITS[tensor.dtype]) if tensor.dtype in _BITS else tensor


def restored(tensor: Any, dtype: torch.dtype) -> torch.Tensor:
    """What a carrier carries, of an element type."""
    if dtype.is_complex:
        return torch.view_as_complex(tensor.contiguous())
    return tensor.view(dtype) if dtype in _BITS else tensor
