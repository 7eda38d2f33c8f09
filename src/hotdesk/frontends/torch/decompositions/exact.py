"""PyTorch ops on booleans, integers and scalars, and on floats that are no numbers, as PyTorch defines them.

* booleans are clamped by their disjunction and conjunction, sorted as integers (torch-mlir sees True as −1), and multiplied as
  64-bit integers;
* integers to the power of integers by repeated squaring; products of integers; closeness of what is infinite, or no number;
* unsigned bytes are clamped as 32-bit integers;
* a shift by less than 0, or by all bits, leaves 0, and the sign on the way to the right (LLVM leaves it open);
* a scalar is reduced along a dim as a vector of one element is;
* NaN is sorted behind everything, and is the largest of all;
* running logarithms of sums of exponentials by doubling steps (Hillis and Steele, 1986);
* `fmax` and `fmin` broadcast, and leave NaN aside.
"""

# Sizes may be symbolic; the annotations do not show it.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import torch
from torch import Tensor

from hotdesk.frontends.torch.decompositions.widened import either, rounded

aten: Any = torch.ops.aten


def _clamp(x: Tensor, lower: Tensor | None = None, upper: Tensor | None = None) -> Tensor:
    given = [each for each in (x, lower, upper) if each is not None]
    if all(each.dtype == torch.bool for each in given):
        x = x if lower is None else torch.logical_or(x, lower)
        return x if upper is None else torch.logical_and(x, upper)
    if any(each.dtype != torch.uint8 for each in given):
        return NotImplemented
    wide = [each if each is None else each.to(torch.int32) for each in (x, lower, upper)]
    return aten.clamp.Tensor(*wide).to(torch.uint8)


def _clamp_max(x: Tensor, upper: Tensor) -> Tensor:
    return _clamp(x, None, upper)


def _sorted_bools(op: Callable[..., Any]) -> Callable[..., Any]:
    def widened(x: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        if x.dtype != torch.bool:
            return NotImplemented
        values, order = op(x.to(torch.int32), *args, **kwargs)
        return values != 0, order

    return widened


_SORTING_KEYS: ContextVar[bool] = ContextVar("sorting keys", default=False)


def _by_keys(op: Callable[..., Any], place: int) -> Callable[..., Any]:
    """Floats sorted by keys among which NaN is the largest: infinity, which makes room by one step of the floats below it.

    `place` is where the dim stands among the arguments behind the tensor.
    """

    def keyed(x: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        if not x.dtype.is_floating_point or _SORTING_KEYS.get():
            return NotImplemented
        wide = x if x.dtype in (torch.float32, torch.float64) else x.to(torch.float32)
        largest = torch.finfo(wide.dtype).max
        below = largest * (1 - torch.finfo(wide.dtype).eps / 2)
        keys = torch.where(wide == largest, below, torch.where(wide == float("inf"), largest, wide))
        keys = torch.where(torch.isnan(wide), float("inf"), keys)
        token = _SORTING_KEYS.set(True)
        try:
            _, order = op(keys, *args, **kwargs)
        finally:
            _SORTING_KEYS.reset(token)
        dim = kwargs.get("dim", args[place] if len(args) > place else -1)
        return torch.gather(x, dim, order) if x.dim() else x.clone(), order

    return keyed


def _stable_sort(
    x: Tensor, *, stable: bool | None = None, dim: int = -1, descending: bool = False
) -> tuple[Tensor, Tensor]:
    return aten.sort.default(x, dim, descending)  # which torch-mlir lowers to a stable one


def _square(x: Tensor) -> Tensor:
    x = x.to(torch.int64) if x.dtype == torch.bool else x
    return x * x


def _power(x: Tensor | int, exponent: Tensor | int) -> Tensor:
    """Integers to the power of integers, modulo the range of their type; 0 for one over an integer, as PyTorch."""
    dtype = torch.result_type(x, exponent)
    if dtype.is_floating_point or dtype.is_complex or dtype == torch.bool:
        return NotImplemented
    if isinstance(exponent, int):
        return NotImplemented
    exponent = exponent.to(dtype)
    base = x.to(dtype) if isinstance(x, Tensor) else torch.full([], x, dtype=dtype)
    result, square = torch.ones([], dtype=dtype), base
    for bit in range(torch.iinfo(dtype).bits - (1 if dtype.is_signed else 0)):
        result = torch.where(torch.bitwise_and(exponent, 1 << bit) != 0, result * square, result)
        square = square * square
    if not dtype.is_signed:
        return result
    odd = torch.bitwise_and(exponent, 1) != 0
    inverse = torch.where(base == 1, 1, torch.where(base == -1, torch.where(odd, -1, 1), 0)).to(dtype)
    return torch.where(exponent < 0, inverse, result)


_SHIFTING: ContextVar[bool] = ContextVar("shifting by less than all bits", default=False)


def _least_common_multiple(x: Tensor, y: Tensor) -> Tensor:
    """PyTorch's kernel ends the process where it divides the smallest integer by -1, which it finds for a common divisor."""
    dtype = torch.result_type(x, y)
    common = torch.gcd(x.to(dtype), y.to(dtype))
    wide = torch.promote_types(dtype, torch.int32)  # as C++ multiplies
    is_zero = torch.eq(common, 0)
    divisor = torch.where(is_zero, torch.ones_like(common), common).to(wide)
    found = torch.abs(torch.div(x.to(wide), divisor, rounding_mode="trunc") * y.to(wide))
    return torch.where(is_zero, torch.zeros_like(found), found).to(dtype)


def _shifted(op: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def guarded(x: Tensor | int, by: Tensor | int) -> Tensor:
        dtype = torch.result_type(x, by)
        if _SHIFTING.get() or dtype.is_floating_point or dtype.is_complex or dtype == torch.bool:
            return NotImplemented
        bits = torch.iinfo(dtype).bits
        x = x.to(dtype) if isinstance(x, Tensor) else torch.full([], x, dtype=dtype)
        left = op is aten.bitwise_left_shift.Tensor
        token = _SHIFTING.set(True)
        try:
            if isinstance(by, Tensor):
                by = by.to(dtype)
                inside = (by >= 0) & (by < bits)
                beyond = 0 if left or not dtype.is_signed else op(x, torch.full([], bits - 1, dtype=dtype))
                return torch.where(inside, op(x, torch.where(inside, by, 0)), beyond)
            number = rounded(by, dtype)
            if 0 <= number < bits:
                return op(x, torch.full([], number, dtype=dtype))
            if left or not dtype.is_signed:
                return torch.zeros_like(x)
            return op(x, torch.full([], bits - 1, dtype=dtype))
        finally:
            _SHIFTING.reset(token)

    return guarded


def _isclose(x: Tensor, y: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
    """Numbers with an infinite difference, or none, are close only if they are equal, or are to be taken for that."""
    if x.dtype != y.dtype:
        return NotImplemented
    close = x == y
    if equal_nan and _has_nan(x):
        close = close | (torch.isnan(x) & torch.isnan(y))
    if not rtol and not atol:
        return close
    wide = y if _has_nan(y) else y.to(torch.get_default_dtype())
    apart = torch.abs(x.to(wide.dtype) - wide)
    return close | (torch.isfinite(apart) & (apart <= atol + torch.abs(rtol * wide)))


def _has_nan(x: Tensor) -> bool:
    return x.dtype.is_floating_point or x.dtype.is_complex


def _addbmm(bias: Tensor, a: Tensor, b: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    if not a.dtype.is_floating_point:
        beta, alpha = int(beta), int(alpha)  # as PyTorch: numbers are taken in the type of the tensors
    product = torch.bmm(a, b).sum(0, dtype=a.dtype)
    product = product if alpha == 1 else product * alpha
    return (product if beta == 0 else product + (bias if beta == 1 else bias * beta)).to(bias.dtype)


def _fmax(x: Tensor, y: Tensor) -> Tensor:
    return torch.where(torch.isnan(x), y, torch.where(torch.isnan(y), x, torch.maximum(x, y)))


def _fmin(x: Tensor, y: Tensor) -> Tensor:
    return torch.where(torch.isnan(x), y, torch.where(torch.isnan(y), x, torch.minimum(x, y)))


def _on_vector(op: Callable[..., Tensor], dim: Any) -> Callable[..., Tensor]:
    """A scalar reduced along its only dim, `dim`."""

    def widened(x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if x.dim() != 0:
            return NotImplemented
        dtype = {name: value for name, value in kwargs.items() if name == "dtype"}
        return op(x.reshape(1), dim, **dtype).reshape([])

    return widened


def _cumprod(x: Tensor, dim: int, *, dtype: torch.dtype | None = None) -> Tensor:
    """Products of integers are of 64 bits: cut off, they are those of narrower ones."""
    return NotImplemented if dtype is None else aten.cumprod(x.to(dtype), dim).to(dtype)


def _logcumsumexp(x: Tensor, dim: int) -> Tensor:
    if x.dim() == 0:
        return x.clone()
    if not isinstance(x.size(dim), int) or not x.dtype.is_floating_point:
        return NotImplemented

    size, step = x.size(dim), 1
    while step < size:
        a, b = x.narrow(dim, 0, size - step), x.narrow(dim, step, size - step)
        large = torch.maximum(a, b)
        rest = torch.log1p(torch.exp(-torch.abs(a - b)))
        joined = torch.where(torch.isinf(large), large, large + rest)
        x, step = torch.cat([x.narrow(dim, 0, step), joined], dim), 2 * step
    return x


def _running_extreme(x: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    return NotImplemented if x.dim() else (x.clone(), torch.zeros([], dtype=torch.int64))


EXACT: dict[Any, Callable[..., Any]] = {
    aten.lcm.default: _least_common_multiple,
    aten.clamp.Tensor: _clamp,
    aten.clamp_min.Tensor: _clamp,
    aten.clamp_max.Tensor: _clamp_max,
    aten.sort.default: either(_sorted_bools(aten.sort.default), _by_keys(aten.sort.default, 0)),
    aten.topk.default: _by_keys(aten.topk.default, 1),
    aten.sort.stable: _stable_sort,
    aten.square.default: _square,
    aten.pow.Tensor_Tensor: _power,
    aten.pow.Scalar: _power,
    **{
        op: _shifted(aten.bitwise_left_shift.Tensor)
        for op in (
            *(aten.bitwise_left_shift.Tensor, aten.bitwise_left_shift.Tensor_Scalar, aten.__lshift__.Scalar),
            *(aten.bitwise_left_shift.Scalar_Tensor, aten.__lshift__.Tensor),
        )
    },
    **{
        op: _shifted(aten.bitwise_right_shift.Tensor)
        for op in (
            *(aten.bitwise_right_shift.Tensor, aten.bitwise_right_shift.Tensor_Scalar, aten.__rshift__.Scalar),
            *(aten.bitwise_right_shift.Scalar_Tensor, aten.__rshift__.Tensor),
        )
    },
    aten.isclose.default: _isclose,
    aten.addbmm.default: _addbmm,
    aten.fmax.default: _fmax,
    aten.fmin.default: _fmin,
    aten.amax.default: _on_vector(aten.amax.default, [0]),
    aten.amin.default: _on_vector(aten.amin.default, [0]),
    aten.logsumexp.default: _on_vector(aten.logsumexp.default, [0]),
    aten.any.dim: _on_vector(aten.any.dim, 0),
    aten.all.dim: _on_vector(aten.all.dim, 0),
    aten.any.dims: _on_vector(aten.any.dim, 0),
    aten.all.dims: _on_vector(aten.all.dim, 0),
    aten.cumsum.default: _on_vector(aten.cumsum.default, 0),
    aten.cumprod.default: either(_on_vector(aten.cumprod.default, 0), _cumprod),
    aten.prod.dim_int: _on_vector(aten.prod.dim_int, 0),
    aten.logcumsumexp.default: _logcumsumexp,
    aten.cummax.default: _running_extreme,
    aten.cummin.default: _running_extreme,
}
