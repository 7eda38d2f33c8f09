"""PyTorch ops on truths, bytes and half-precision floats, computed in a wider type.

* sums, means and norms of half-precision tensors add up in f32;
* half-precision tensors meet a number that they do not hold, of Python or of one element, as a factor or divisor, in f32;
* 8-bit integers meet one another and matrix products in 32 bits (torch-mlir takes the process down with them);
* truths and a Python truth are added up as "or";
* unsigned bytes take the type of the result before they meet anything wider (torch-mlir would see them as signed);
* images of unsigned bytes are resized by PyTorch's kernels, which round their weights.
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import _disable_current_modes

aten: Any = torch.ops.aten


STAYS: Any = object()
"""What a decomposition answers for a call that no other may take apart either: the op stays as it is."""


def either(*candidates: Callable[..., Any]) -> Callable[..., Any]:
    """The first of several decompositions that applies to a call."""

    def tried(*args: Any, **kwargs: Any) -> Any:
        results = (candidate(*args, **kwargs) for candidate in candidates)
        found = next((result for result in results if result is not NotImplemented), NotImplemented)
        return NotImplemented if found is STAYS else found

    return tried


def compute_dtype(dtype: torch.dtype) -> torch.dtype:
    """The type to compute in: f32 for half-precision floats, else the type itself."""
    return torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype


def rounded(number: float, dtype: torch.dtype) -> float:
    """A number in a type: the nearest float, or what is left of an integer that has too many bits."""
    if not dtype.is_floating_point and not -(1 << 63) <= number < 1 << 63:
        return number
    widest = torch.float64 if dtype.is_floating_point else torch.int64
    with _disable_current_modes():
        return torch.tensor(number, dtype=widest, device="cpu").to(dtype).item()


def _in_wide(op: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A reduction of half-precision tensors that adds up in f32 and rounds once, as PyTorch does."""

    def widened(x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        dtype = kwargs.pop("dtype", None) or x.dtype
        if compute_dtype(x.dtype) == x.dtype or dtype != x.dtype:
            return NotImplemented
        return op(x.to(torch.float32), *args, **kwargs).to(x.dtype)

    return widened


def _by_number(op: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The product or quotient of a half-precision tensor and a number, or a tensor of one element and another type, which is
    rounded to f32 only, as PyTorch's kernels do."""

    def widened(x: Any, y: Any, **kwargs: Any) -> Tensor:
        if not isinstance(x, Tensor) or compute_dtype(x.dtype) == x.dtype:
            return NotImplemented
        if isinstance(y, Tensor):
            sizes: tuple[Any, ...] = tuple(y.shape)
            is_number = all(isinstance(size, int) and size == 1 for size in sizes) and not y.dtype.is_complex
            if not is_number or y.dtype == x.dtype or torch.result_type(x, y) != x.dtype:
                return NotImplemented
            return op(x.to(torch.float32), y.to(torch.float32), **kwargs).to(x.dtype)
        if isinstance(y, bool) or not isinstance(y, (int, float)) or rounded(y, x.dtype) == y:
            return NotImplemented
        return op(x.to(torch.float32), y, **kwargs).to(x.dtype)

    return widened


def _in_int32(op: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The op on 8-bit integers, computed in 32 bits and cut off: the same modulo 256."""

    def widened(*args: Any, **kwargs: Any) -> Tensor:
        types = {arg.dtype for arg in args if isinstance(arg, Tensor)}
        if types not in ({torch.int8}, {torch.uint8}) or any(isinstance(arg, float) for arg in args):
            return NotImplemented
        wide = [arg.to(torch.int32) if isinstance(arg, Tensor) else arg for arg in args]
        return op(*wide, **kwargs).to(types.pop())

    return widened


def _promoted(op: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The op on unsigned bytes and something wider, of which torch-mlir would see the bytes as signed."""

    def widened(x: Any, y: Any, *args: Any, **kwargs: Any) -> Tensor:
        wide = torch.result_type(x, y)
        if op in (aten.div.Tensor, aten.div.Scalar) and not wide.is_floating_point:
            wide = torch.get_default_dtype()
        if wide == torch.uint8 or not any(isinstance(each, Tensor) and each.dtype == torch.uint8 for each in (x, y)):
            return NotImplemented
        return op(*(each.to(wide) if isinstance(each, Tensor) else each for each in (x, y)), *args, **kwargs)

    return widened


def _reduced_bytes(op: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A sum or mean of unsigned bytes, in the type of its result."""

    def widened(x: Tensor, *args: Any, dtype: torch.dtype | None = None, **kwargs: Any) -> Tensor:
        if x.dtype != torch.uint8:
            return NotImplemented
        found = op(x.to(torch.int64 if dtype in (None, torch.uint8) else dtype), *args, **kwargs)
        return found if dtype is None else found.to(dtype)

    return widened


def _resized_bytes(x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """PyTorch resizes unsigned bytes with weights that it rounds to 16 bits, other ones by the machine: its kernel does."""
    return STAYS if x.dtype == torch.uint8 else NotImplemented


def _sorted_bytes(op: Callable[..., Any]) -> Callable[..., Any]:
    """Unsigned bytes sorted as 32-bit integers."""

    def widened(x: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        if x.dtype != torch.uint8:
            return NotImplemented
        values, order = op(x.to(torch.int32), *args, **kwargs)
        return values.to(torch.uint8), order

    return widened


def _joined(tensors: list[Tensor], dim: int = 0) -> Tensor:
    types = [each.dtype for each in tensors]
    if torch.uint8 not in types or len(set(types)) == 1:
        return NotImplemented
    wide = functools.reduce(torch.promote_types, types)
    return aten.cat([each.to(wide) for each in tensors], dim)


def _one_or_the_other(x: Tensor, y: Any, *, alpha: Any = 1) -> Tensor:
    """A sum of truths, of which torch-mlir would take a Python number as a bit that is carried away."""
    if not isinstance(y, bool) or x.dtype != torch.bool or alpha not in (0, 1):
        return NotImplemented
    return torch.ones_like(x) if y and alpha else x.clone()


def _absolute(x: Tensor) -> Tensor:
    return x.clone() if x.dtype == torch.uint8 else NotImplemented


_REDUCTIONS = (
    aten.sum.default,
    aten.sum.dim_IntList,
    aten.mean.default,
    aten.mean.dim,
    aten.prod.default,
    aten.prod.dim_int,
    aten.cumsum.default,
)
_NORMS = (aten.linalg_vector_norm.default, aten.norm.Scalar, aten.norm.ScalarOpt_dim)
_BYTE_OPS = (
    aten.sub.Tensor,
    aten.mul.Tensor,
    aten.div.Tensor_mode,
    aten.remainder.Scalar,
    aten.remainder.Tensor,
    aten.fmod.Scalar,
    aten.fmod.Tensor,
    aten.mm.default,
    aten.bmm.default,
)
_PROMOTING = (
    aten.add.Tensor,
    aten.add.Scalar,
    aten.sub.Tensor,
    aten.sub.Scalar,
    aten.rsub.Scalar,
    aten.mul.Tensor,
    aten.mul.Scalar,
    aten.div.Tensor,
    aten.div.Scalar,
    aten.remainder.Tensor,
    aten.remainder.Scalar,
)
_BY_NUMBERS = (
    aten.mul.Tensor,
    aten.mul.Scalar,
    aten.div.Tensor,
    aten.div.Scalar,
    aten.div.Tensor_mode,
    aten.div.Scalar_mode,
    aten.floor_divide.default,
    aten.floor_divide.Scalar,
)
_RESIZINGS = (
    aten.upsample_bilinear2d.vec,
    aten.upsample_bilinear2d.default,
    aten.upsample_bicubic2d.vec,
    aten.upsample_bicubic2d.default,
)
_SORTS = (aten.sort.default, aten.sort.stable, aten.topk.default)

BY_NUMBER: dict[Any, Callable[..., Any]] = {op: _by_number(op) for op in _BY_NUMBERS}
"""Ops on a half-precision tensor and a number."""

NARROW: dict[Any, Callable[..., Any]] = {
    **{op: _in_wide(op) for op in (*_REDUCTIONS, *_NORMS)},
    **{op: _in_int32(op) for op in (*_BYTE_OPS, aten.max.default, aten.min.default)},
    **{op: _sorted_bytes(op) for op in _SORTS},
    aten.abs.default: _absolute,
    aten.add.Tensor: _one_or_the_other,
}
"""Ops whose operands all have the narrow type."""

PROMOTED: dict[Any, Callable[..., Any]] = {
    **{op: _reduced_bytes(op) for op in _REDUCTIONS},
    **{op: _promoted(op) for op in _PROMOTING},
    aten.cat.default: _joined,
    **dict.fromkeys(_RESIZINGS, _resized_bytes),
}
"""Ops on unsigned bytes whose result is wider."""
