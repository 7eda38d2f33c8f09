"""PyTorch ops that torch-mlir folds or lowers wrongly, written so that it does not.

* GELU by tanh is the formula itself (torch-mlir's is a fit that is off by 5e-5); the exact one is rounded once to 16 bits
  (torch-mlir's rounds `1 + erf(x)`, of which nothing is left below -3), and so is the sigmoid;
* ELU and SELU near zero are what `expm1` gives (torch-mlir's loses all digits: 0 for -1e-10);
* what is cut to a whole number keeps its sign (torch-mlir's -0.0 is 0.0);
* elements are compared with a number in the type that both have together (torch-mlir compares in f64, where no f32 is 0.1),
  also by `threshold` and `hardshrink`;
* what is taken from a number is so in the type of the tensor (torch-mlir's numbers are f32);
* integers are taken from zero to be negated (torch-mlir's are floats on the way: -16777217 would lose its last digit);
* 8-bit integers meet scalars as tensors of their own type (torch-mlir takes the process down with them);
* NaN survives clamping, is what `argmax` finds, and differs from itself, as in PyTorch;
* one divided by an integer is a float (torch-mlir's checks that it is not zero);
* floor division goes by the remainder, as in PyTorch (torch-mlir divides integers as floats);
* integers are divided by what is left of a number in their type (in torch-mlir by the number);
* the rest of a division towards zero goes by the remainder, which is exact (torch-mlir subtracts a product that is rounded);
* NaN comes last among sorted elements (torch-mlir's `kthvalue` gives infinity);
* margins that are no number do not count in the losses of margins, as in PyTorch's kernels (in its decompositions they do);
* places behind the first -1 of a target with several labels do not count (in PyTorch's own decomposition they do);
* padding by a negative width becomes a slice;
* a transposed convolution that cuts more than its window reaches, and adds rows behind, is cut afterwards (torch-mlir reads
  beyond its image);
* nearest-neighbour upsampling of sizes that vary repeats every element, or takes them by places; floats up to a size that varies
  are integers first (torch-mlir finds such sizes by floating-point arithmetic).
"""

# Sizes may be symbolic and an exponent 2.0; the annotations do not show it.
# pyright: reportUnnecessaryIsInstance=false, reportPrivateUsage=false

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch._decomp.decompositions import (
    _upsample_nearest_vec as upsample_to_nearest,  # pyright: ignore[reportPrivateUsage]
)

from hotdesk.frontends.torch.decompositions.widened import compute_dtype, rounded

aten: Any = torch.ops.aten


def _gelu(x: Tensor, approximate: str = "none") -> Tensor:
    wide = x.to(compute_dtype(x.dtype))
    if approximate == "tanh":
        curve = torch.tanh(math.sqrt(2 / math.pi) * (wide + 0.044715 * (wide * wide * wide)))
    elif wide.dtype != x.dtype:
        curve = torch.erf(math.sqrt(0.5) * wide)
    else:
        return NotImplemented
    return (0.5 * wide * (1 + curve)).to(x.dtype)


def _sigmoid(x: Tensor) -> Tensor:
    wide = compute_dtype(x.dtype)
    return NotImplemented if wide == x.dtype else torch.sigmoid(x.to(wide)).to(x.dtype)


def _elu(x: Tensor, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> Tensor:
    wide = x.to(compute_dtype(x.dtype))
    return torch.where(wide > 0, wide * scale, torch.expm1(wide * input_scale) * (alpha * scale)).to(x.dtype)


def _trunc(x: Tensor) -> Tensor:
    return torch.where(x < 0, torch.ceil(x), torch.floor(x)) if x.dtype.is_floating_point else NotImplemented


def _compare(op: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The comparison of a tensor and a number that is rounded to the type that they have together."""

    def of_rounded(x: Tensor, number: float) -> Tensor:
        if not isinstance(number, int | float):
            return NotImplemented
        wide = torch.result_type(x, number)
        if wide.is_complex or (wide == torch.uint8 and number < 0):  # PyTorch's own are as they are lowered
            return NotImplemented
        limit = rounded(number, wide)
        if x.dtype == wide and (limit == number or math.isnan(number)):
            return NotImplemented
        return op(x.to(wide), limit)

    return of_rounded


def is_element(number: float, dtype: torch.dtype) -> bool:
    """Whether PyTorch converts a number to a type of integers: a negative one that is whole wraps around in unsigned ones."""
    limits = torch.iinfo(dtype)
    if not math.isfinite(number):
        return False
    if isinstance(number, float):  # 127.5 is no int8; 2^63, the float next to the greatest int64, counts as that
        return float(limits.min) <= number <= float(limits.max)
    return (limits.min if dtype.is_signed else -limits.max) <= number <= limits.max


def _threshold(x: Tensor, limit: float, value: float) -> Tensor:
    if not x.dtype.is_floating_point:
        beyond = [each for each in (limit, value) if not is_element(each, x.dtype)]
        if beyond:
            raise OverflowError(f"{beyond[0]} is no number of type {x.dtype}")
        limit, value = (rounded(int(each), x.dtype) for each in (limit, value))
        return torch.where(x.to(torch.int64) <= limit, torch.full([], value, dtype=x.dtype), x)
    return torch.where(x.to(compute_dtype(x.dtype)) <= limit, value, x)


def _hardshrink(x: Tensor, limit: float = 0.5) -> Tensor:
    return torch.where((x >= -limit) & (x <= limit), 0, x)


def _subtracted_from(x: Tensor, number: float, alpha: float = 1) -> Tensor:
    wide = torch.result_type(x, number)
    scaled = x.to(wide) if alpha == 1 else x.to(wide) * alpha
    is_integer = not wide.is_floating_point and not wide.is_complex
    return torch.full([], rounded(number, wide) if is_integer else number, dtype=wide) - scaled


def _negative(x: Tensor) -> Tensor:
    return NotImplemented if x.dtype.is_floating_point or x.dtype.is_complex else torch.zeros_like(x) - x


def _clamp(x: Tensor, lower: float | None = None, upper: float | None = None) -> Tensor:
    if not x.dtype.is_floating_point:
        return NotImplemented
    if lower is not None:
        x = torch.where(x < lower, lower, x)
    if upper is not None:
        x = torch.where(x > upper, upper, x)
    return x.clone() if lower is None and upper is None else x


def _clamp_between(x: Tensor, lower: Tensor | None = None, upper: Tensor | None = None) -> Tensor:
    found = x if lower is None else torch.maximum(x, lower)
    found = found if upper is None else torch.minimum(found, upper)
    return x.clone() if found is x else found


def _clamp_max(x: Tensor, upper: float) -> Tensor:
    return _clamp(x, None, upper)


def _relu6(x: Tensor) -> Tensor:
    return _clamp(x, 0, 6)


def _hardtanh(x: Tensor, lower: float = -1, upper: float = 1) -> Tensor:
    return _clamp(x, lower, upper)


def _hardsigmoid(x: Tensor) -> Tensor:
    wide = x.to(compute_dtype(x.dtype))
    return (_clamp(wide + 3, 0, 6) / 6).to(x.dtype)


def _argmax(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    return _first(x, torch.amax, dim, keepdim)


def _argmin(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    return _first(x, torch.amin, dim, keepdim)


def _first(x: Tensor, extreme: Callable[..., Tensor], dim: int | None, keepdim: bool) -> Tensor:
    """Where the extreme value is for the first time; NaN is both the largest and the smallest of all."""
    if x.dim() == 0:
        return torch.zeros([], dtype=torch.int64)
    if not x.dtype.is_floating_point:
        return NotImplemented
    if dim is None:
        found = _first(x.reshape(-1), extreme, 0, False)
        return found.reshape([1] * x.dim()) if keepdim else found
    hit = (x == extreme(x, [dim], keepdim=True)) | torch.isnan(x)
    return torch.argmax(hit.to(torch.int32), dim, keepdim)


def _max_along(x: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    if x.dim() == 0:
        return x.clone(), torch.zeros([], dtype=torch.int64)
    if not x.dtype.is_floating_point:
        return NotImplemented
    return torch.amax(x, [dim], keepdim=keepdim), _argmax(x, dim, keepdim)


def _min_along(x: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    if x.dim() == 0:
        return x.clone(), torch.zeros([], dtype=torch.int64)
    if not x.dtype.is_floating_point:
        return NotImplemented
    return torch.amin(x, [dim], keepdim=keepdim), _argmin(x, dim, keepdim)


def _maximum(x: Tensor, y: Tensor) -> Tensor:
    """NaN wherever one of both is (torch-mlir's comparison loses the first one's)."""
    return (
        torch.where((x > y) | torch.isnan(x), x, y)
        if x.is_floating_point() or y.is_floating_point()
        else NotImplemented
    )


def _minimum(x: Tensor, y: Tensor) -> Tensor:
    return (
        torch.where((x < y) | torch.isnan(x), x, y)
        if x.is_floating_point() or y.is_floating_point()
        else NotImplemented
    )


def _equal(x: Tensor, y: Tensor) -> Tensor:
    return torch.logical_not(x != y) if x is y and x.dtype.is_floating_point else NotImplemented


def _divide(x: Tensor | float, y: Tensor | float, *, rounding_mode: str | None = None) -> Tensor:
    """Floor division by the remainder, as PyTorch does it: `1.0 // 0.1` is 9, not the floor of 10.0."""
    if rounding_mode != "floor":
        return NotImplemented
    wide = torch.result_type(x, y)
    x = x if isinstance(x, Tensor) else torch.full([], x, dtype=wide)
    if not wide.is_floating_point:
        return _divide_integers(x.to(wide), y)
    if not x.dtype.is_floating_point:
        return NotImplemented
    divisor = y if isinstance(y, Tensor) else x.new_full([], y)
    rest = torch.fmod(x, divisor)
    quotient = (x - rest) / divisor
    quotient = torch.where((rest != 0) & ((divisor < 0) != (rest < 0)), quotient - 1, quotient)
    floor = torch.floor(quotient)
    floor = torch.where(quotient - floor > 0.5, floor + 1, floor)
    return torch.where(divisor == 0, x / divisor, torch.where(quotient == 0, x / divisor * 0, floor))


def _divide_integers(x: Tensor, y: Tensor | float) -> Tensor:
    """Without floats, which have too few digits for 64 bits."""
    divisor = y.to(x.dtype) if isinstance(y, Tensor) else torch.full([], rounded(y, x.dtype), dtype=x.dtype)
    quotient = torch.div(x, divisor, rounding_mode="trunc")
    rest = x - quotient * divisor
    return torch.where((rest != 0) & ((rest < 0) != (divisor < 0)), quotient - 1, quotient)


def _of_wrapped(op: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """An op on integers and a number that has more bits than they: what is left of it in their type, as in PyTorch.

    A division that is not rounded is one of floats, whatever it divides.
    """

    def wrapped(x: Any, number: Any, **kwargs: Any) -> Tensor:
        if kwargs.get("rounding_mode", "") is None:  # no division of integers
            return aten.div.Tensor(x, number)
        dtype = x.dtype if isinstance(x, Tensor) else None
        if dtype is None or dtype.is_floating_point or dtype.is_complex or dtype == torch.bool:
            return NotImplemented
        if not isinstance(number, int) or isinstance(number, bool) or rounded(number, dtype) == number:
            return NotImplemented
        return op(x, rounded(number, dtype), **kwargs)

    return wrapped


WRAPPED: dict[Any, Callable[..., Any]] = {
    op: _of_wrapped(op)
    for op in (
        *(aten.remainder.Scalar, aten.fmod.Scalar, aten.floor_divide.default, aten.floor_divide.Scalar),
        *(aten.div.Tensor_mode, aten.div.Scalar_mode),
    )
}


def _remainder_of_number(number: float, y: Tensor) -> Tensor:
    wide = torch.result_type(y, number)
    return torch.remainder(torch.full([], number, dtype=wide), y.to(wide))


def _fmod(x: Tensor, y: float) -> Tensor:
    return torch.fmod(x, x.new_full([], y)) if x.dtype.is_floating_point or isinstance(y, int) else NotImplemented


def _fmod_of_tensors(x: Tensor, y: Tensor) -> Tensor:
    wide = torch.result_type(x, y)
    if not wide.is_floating_point:
        return NotImplemented
    x = x.to(wide)
    return torch.copysign(torch.remainder(torch.abs(x), torch.abs(y.to(wide))), x)


def _kth_value(x: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    if x.dim() == 0:
        return NotImplemented
    values, places = (each.narrow(dim, k - 1, 1) for each in torch.sort(x, dim))
    return (values, places) if keepdim else (values.squeeze(dim), places.squeeze(dim))


def _multi_margin_loss(
    x: Tensor,
    target: Tensor,
    p: float = 1,
    margin: float = 1,
    weight: Tensor | None = None,
    reduction: int = 1,
) -> Tensor:
    rows, labels = x.reshape(-1, x.shape[-1] if x.dim() else 1), target.reshape(-1, 1)
    if x.dim() > 2 or not x.dtype.is_floating_point or p not in (1, 2):
        return NotImplemented
    short = margin - torch.gather(rows, 1, labels) + rows
    is_short = (short > 0) & (torch.arange(rows.size(1)) != labels)
    short = short if p == 1 else short * short
    short = short if weight is None else short * weight[labels]
    losses = torch.where(is_short, short, 0).sum(1) / rows.size(1)
    return (losses.reshape(target.shape), losses.mean(), losses.sum())[reduction]


def _multilabel_margin_loss(x: Tensor, target: Tensor, reduction: int) -> tuple[Tensor, Tensor]:
    """The loss, and which labels are targets. Of x: one class, classes, or batch by classes."""
    count = x.shape[-1] if x.dim() else 1
    rows, labels = x.reshape(-1, count), target.reshape(-1, count)
    places = torch.arange(count)
    valid = places < torch.where(labels == -1, places, count).amin(-1, keepdim=True)
    of_targets = torch.gather(rows, -1, torch.where(valid, labels, 0))
    is_target = (places == torch.where(valid, labels, -1).unsqueeze(-1)).any(1)
    short = 1 - of_targets.unsqueeze(-1) + rows.unsqueeze(1)
    is_short = (short > 0) & valid.unsqueeze(-1) & ~is_target.unsqueeze(1)
    losses = torch.where(is_short, short / count, 0).sum((-1, -2))
    loss = (losses.reshape(x.shape[:-1]), losses.mean(), losses.sum())[reduction]
    return loss, is_target.to(x.dtype).reshape(target.shape)


def _upsample_nearest(x: Tensor, output_size: list[Any] | None, scale_factors: list[float] | None) -> Tensor:
    """Sizes that vary, times a whole number: every element repeated. torch-mlir finds sizes by floating-point arithmetic."""
    if not scale_factors or all(isinstance(size, int) for size in x.shape[2:]):
        return NotImplemented
    if any(not float(factor).is_integer() for factor in scale_factors):
        return upsample_to_nearest(x, output_size, scale_factors)
    for dim, factor in enumerate(map(int, scale_factors), start=2):
        repeated = x.unsqueeze(dim + 1).expand([*x.shape[: dim + 1], factor, *x.shape[dim + 1 :]])
        x = repeated.flatten(dim, dim + 1)
    return x


def _arange(start: Any, end: Any, step: Any = 1, *, dtype: torch.dtype | None = None, **options: Any) -> Tensor:
    """Floats that count whole numbers up to a size that varies. torch-mlir finds their number by floating-point arithmetic."""
    ends = (start, end, step)
    if dtype is None or not dtype.is_floating_point or not any(isinstance(each, torch.SymInt) for each in ends):
        return NotImplemented
    if not all(isinstance(each, int | torch.SymInt) for each in ends):
        return NotImplemented
    return aten.arange.start_step(start, end, step, dtype=torch.int64, **options).to(dtype)


def _isfinite(x: Tensor) -> Tensor:
    return (x - x) == 0 if x.dtype.is_floating_point else torch.ones_like(x, dtype=torch.bool)


def _roll(x: Tensor, shifts: list[int], dims: list[int] | None = None) -> Tensor:
    """torch-mlir's takes shifts that go no further than the size; where that is dynamic, it is counted round at run time."""
    if not dims:
        return aten.roll(x.reshape(-1), shifts, [0]).reshape(x.shape)
    sizes = [x.shape[dim] for dim in dims]
    if all(isinstance(size, int) for size in sizes):
        rest = [shift % size if size else 0 for shift, size in zip(shifts, sizes, strict=True)]
        return NotImplemented if rest == list(shifts) else aten.roll(x, rest, dims)
    for shift, dim, size in zip(shifts, dims, sizes, strict=True):
        x = aten.index_select(x, dim, aten.remainder(aten.arange(size) - shift, size))
    return x


def _pad_constant(x: Tensor, pad: list[Any], value: float = 0) -> Tensor:
    """Cuts where the padding is negative, so that what is left only adds. A symbolic width counts as not negative."""
    if x.dtype == torch.uint8:
        return aten.constant_pad_nd(x.to(torch.int32), pad, value).to(torch.uint8)
    cuts = [-width if isinstance(width, int) and width < 0 else 0 for width in pad]
    if not any(cuts):
        return NotImplemented
    for i, cut in enumerate(cuts):
        dim = x.dim() - 1 - i // 2
        x = x.narrow(dim, 0 if i % 2 else cut, x.size(dim) - cut)
    rest = [0 if cut else width for width, cut in zip(pad, cuts, strict=True)]
    return aten.constant_pad_nd(x, rest, value) if any(width != 0 for width in rest) else x.clone()


def _convolution(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    transposed: bool,
    output_padding: list[int],
    groups: int,
) -> Tensor:
    """Where padding cuts outputs that no window of the image covers whole, all are computed first."""
    rank = x.dim() - 2
    cuts, apart = (list(each) * (rank if len(each) == 1 else 1) for each in (padding, dilation))
    reach = [step * (taps - 1) for step, taps in zip(apart, weight.shape[2:], strict=True)]
    deep = [cut if cut > most else 0 for cut, most in zip(cuts, reach, strict=True)]
    if not transposed or not any(output_padding) or not any(deep):
        return NotImplemented
    kept = [cut - more for cut, more in zip(cuts, deep, strict=True)]
    y = aten.convolution(x, weight, bias, stride, kept, dilation, transposed, output_padding, groups)
    for dim, cut in enumerate(deep, start=2):
        y = y.narrow(dim, cut, y.size(dim) - 2 * cut)
    return y.clone()


def _bitwise(op: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The op on a tensor and a number, as the one on two tensors of the type that both have together."""

    def of_tensors(x: Tensor, number: int) -> Tensor:
        wide = torch.result_type(x, number)
        return op(x.to(wide), torch.full([], number, dtype=wide))

    return of_tensors


def _reciprocal(x: Tensor) -> Tensor:
    """Of integers: that of floats, infinity for zero."""
    is_float = x.dtype.is_floating_point
    return NotImplemented if is_float else aten.reciprocal(x.to(torch.get_default_dtype()))


REPAIRS: dict[Any, Callable[..., Any]] = {
    aten.bitwise_and.Scalar: _bitwise(aten.bitwise_and.Tensor),
    aten.bitwise_or.Scalar: _bitwise(aten.bitwise_or.Tensor),
    aten.bitwise_xor.Scalar: _bitwise(aten.bitwise_xor.Tensor),
    aten.div.Tensor_mode: _divide,
    aten.remainder.Scalar_Tensor: _remainder_of_number,
    aten.fmod.Scalar: _fmod,
    aten.fmod.Tensor: _fmod_of_tensors,
    aten.kthvalue.default: _kth_value,
    aten.multi_margin_loss.default: _multi_margin_loss,
    aten.multilabel_margin_loss_forward.default: _multilabel_margin_loss,
    aten.gelu.default: _gelu,
    aten.sigmoid.default: _sigmoid,
    aten.elu.default: _elu,
    aten.trunc.default: _trunc,
    aten.neg.default: _negative,
    **{op: _compare(op) for op in (aten.eq.Scalar, aten.ne.Scalar)},
    **{op: _compare(op) for op in (aten.gt.Scalar, aten.ge.Scalar, aten.lt.Scalar, aten.le.Scalar)},
    aten.threshold.default: _threshold,
    aten.hardshrink.default: _hardshrink,
    aten.rsub.Scalar: _subtracted_from,
    aten.reciprocal.default: _reciprocal,
    aten.upsample_nearest1d.vec: _upsample_nearest,
    aten.upsample_nearest2d.vec: _upsample_nearest,
    aten.upsample_nearest3d.vec: _upsample_nearest,
    aten.arange.start_step: _arange,
    aten.isfinite.default: _isfinite,
    aten.clamp.default: _clamp,
    aten.clamp.Tensor: _clamp_between,
    aten.clamp_min.Tensor: torch.maximum,
    aten.clamp_max.Tensor: torch.minimum,
    aten.clamp_min.default: _clamp,
    aten.clamp_max.default: _clamp_max,
    aten.hardtanh.default: _hardtanh,
    aten.relu6.default: _relu6,
    aten.hardsigmoid.default: _hardsigmoid,
    aten.argmax.default: _argmax,
    aten.argmin.default: _argmin,
    aten.max.dim: _max_along,
    aten.min.dim: _min_along,
    aten.maximum.default: _maximum,
    aten.minimum.default: _minimum,
    aten.max.other: _maximum,
    aten.min.other: _minimum,
    aten.eq.Tensor: _equal,
    aten.roll.default: _roll,
    aten.constant_pad_nd.default: _pad_constant,
    aten.convolution.default: _convolution,
}
