"""How PyTorch ops are taken apart before import, chosen for memory.

torch-mlir's own table is the base. What is replaced here, and why:

* batch norm in evaluation becomes one scale and one shift per channel, which depend on weights alone and move to `@prepare`;
* layer norm stays in the input's precision (torch-mlir's variance widens the whole activation to f64) and centres once;
* sums and means of half-precision tensors add up in f32;
* variances stay in the input's precision too;
* group norm is written the same way (PyTorch's own goes through strided views that torch-mlir turns into index tables);
* GELU by tanh is the formula itself (torch-mlir's is a fit that is off by 5e-5);
* 8-bit integers meet scalars and matrix products in 32 bits (torch-mlir takes the process down with them);
* NaN survives clamping, is what `argmax` finds, and differs from itself, as in PyTorch;
* floor division goes by the remainder, as in PyTorch;
* padding by a negative width becomes a slice;
* attention scales the query only and runs its softmax on one score matrix, so every step can overwrite the one before;
* `addmm` loses its multiplications by one, integral powers become products, a reciprocal becomes a division.
"""

# PyTorch and SymPy are annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false, reportArgumentType=false, reportCallIssue=false, reportIndexIssue=false
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor
from torch._decomp import get_decompositions  # pyright: ignore[reportUnknownVariableType]

from hotdesk._bindings import torch_mlir_decompositions

aten: Any = torch.ops.aten


def _per_channel(vector: Tensor, rank: int) -> Tensor:
    return vector.view([-1] + [1] * (rank - 2)) if rank > 2 else vector


def _batch_norm_inference(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Tensor, var: Tensor, momentum: float, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    wide = _compute_dtype(x.dtype)
    scale = torch.rsqrt(var.to(wide) + eps)
    if weight is not None:
        scale = scale * weight
    shift = -mean * scale
    if bias is not None:
        shift = shift + bias
    result = x * _per_channel(scale, x.dim()) + _per_channel(shift, x.dim())
    empty = x.new_empty([0])
    return result.to(x.dtype), empty, empty


def _compute_dtype(dtype: torch.dtype) -> torch.dtype:
    return torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype


def _layer_norm(
    x: Tensor, normalized_shape: list[int], weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    dims = list(range(x.dim() - len(normalized_shape), x.dim()))
    wide = x.to(_compute_dtype(x.dtype))
    mean = torch.mean(wide, dims, keepdim=True)
    centred = wide - mean
    rstd = torch.rsqrt(torch.mean(centred * centred, dims, keepdim=True) + eps)
    result = centred * rstd
    if weight is not None:
        result = result * weight
    if bias is not None:
        result = result + bias
    return result.to(x.dtype), mean, rstd


def _group_norm(
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    batch: int,
    channels: int,
    positions: int,
    groups: int,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    wide = x.reshape(batch, groups, (channels // groups) * positions).to(_compute_dtype(x.dtype))
    mean = torch.mean(wide, [2], keepdim=True)
    centred = wide - mean
    rstd = torch.rsqrt(torch.mean(centred * centred, [2], keepdim=True) + eps)
    result = (centred * rstd).reshape(x.shape)
    if weight is not None:
        result = result * _per_channel(weight, x.dim())
    if bias is not None:
        result = result + _per_channel(bias, x.dim())
    return result.to(x.dtype), mean.reshape(batch, groups), rstd.reshape(batch, groups)


def _softmax(x: Tensor, dim: int, half_to_float: bool) -> Tensor:
    if x.dim() == 0:
        return _softmax(x.reshape(1), 0, half_to_float).reshape([])
    if isinstance(x.size(dim), int) and x.size(dim) == 0:
        return x.to(_compute_dtype(x.dtype)) if half_to_float else x.clone()
    wide = x.to(_compute_dtype(x.dtype))
    exponent = torch.exp(wide - torch.amax(wide, [dim], keepdim=True))
    result = exponent / torch.sum(exponent, [dim], keepdim=True)
    return result if half_to_float else result.to(x.dtype)


def _attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    if dropout_p:
        return NotImplemented
    if enable_gqa:
        groups = query.size(-3) // key.size(-3)
        key = key.repeat_interleave(groups, -3)
        value = value.repeat_interleave(groups, -3)
    factor = 1.0 / math.sqrt(query.size(-1)) if scale is None else scale
    scores = torch.matmul(query * factor, key.transpose(-2, -1))
    if is_causal:
        rows = torch.arange(query.size(-2), device=query.device).unsqueeze(-1)
        columns = torch.arange(key.size(-2), device=query.device)
        scores = torch.where(columns <= rows, scores, float("-inf"))
    if attn_mask is not None:
        mask = attn_mask
        scores = torch.where(mask, scores, float("-inf")) if mask.dtype == torch.bool else scores + mask
    return torch.matmul(_safe_softmax(scores, -1) if attn_mask is not None else _softmax(scores, -1, False), value)


def _safe_softmax(x: Tensor, dim: int, dtype: torch.dtype | None = None) -> Tensor:
    """Softmax where a row that is all −inf gives zeros, as PyTorch's masked attention does."""
    x = x if dtype is None else x.to(dtype)
    wide = x.to(_compute_dtype(x.dtype))
    peak = torch.amax(wide, [dim], keepdim=True)
    finite_peak = torch.where(peak == float("-inf"), 0.0, peak)
    exponent = torch.exp(wide - finite_peak)
    total = torch.sum(exponent, [dim], keepdim=True)
    return (exponent / torch.where(total == 0, 1.0, total)).to(x.dtype)


def _addmm(bias: Tensor, a: Tensor, b: Tensor, beta: float = 1, alpha: float = 1) -> Tensor:
    product = torch.mm(a, b)
    if alpha != 1:
        product = product * alpha
    if beta == 0:
        return product
    return product + (bias if beta == 1 else bias * beta)


def _power(x: Tensor, exponent: float) -> Tensor:
    if exponent == 0.5 and x.dtype.is_floating_point:
        return torch.sqrt(x)
    if exponent not in (2, 3, 4) or not (x.dtype.is_floating_point or isinstance(exponent, int)):
        return NotImplemented
    square = x * x
    return square if exponent == 2 else square * x if exponent == 3 else square * square


def _reciprocal(x: Tensor) -> Tensor:
    return torch.div(torch.ones([], dtype=x.dtype, device=x.device), x) if x.dtype.is_floating_point else NotImplemented


def _variance(x: Tensor, dim: list[int] | None, correction: float | None) -> tuple[Tensor, Tensor]:
    """Variance and mean, both with the reduced dimensions kept."""
    dims = list(dim) if dim else list(range(x.dim()))
    wide = x.to(_compute_dtype(x.dtype))
    mean = torch.mean(wide, dims, keepdim=True)
    centred = wide - mean
    count = math.prod(x.size(d) for d in dims)
    total = torch.sum(centred * centred, dims, keepdim=True)
    return (total / (count - (1 if correction is None else correction))).to(x.dtype), mean.to(x.dtype)


def _without(x: Tensor, dim: list[int] | None, keepdim: bool, rank: int) -> Tensor:
    return x if keepdim else torch.squeeze(x, tuple(dim) if dim else tuple(range(rank)))


def _var(x: Tensor, dim: list[int] | None = None, *, correction: float | None = None, keepdim: bool = False) -> Tensor:
    return _without(_variance(x, dim, correction)[0], dim, keepdim, x.dim())


def _std(x: Tensor, dim: list[int] | None = None, *, correction: float | None = None, keepdim: bool = False) -> Tensor:
    return torch.sqrt(_var(x, dim, correction=correction, keepdim=keepdim))


def _var_mean(
    x: Tensor, dim: list[int] | None = None, *, correction: float | None = None, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    var, mean = _variance(x, dim, correction)
    return _without(var, dim, keepdim, x.dim()), _without(mean, dim, keepdim, x.dim())


def _in_wide(op: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A reduction of half-precision tensors that adds up in f32 and rounds once, as PyTorch does."""

    def widened(x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        dtype = kwargs.pop("dtype", None) or x.dtype
        if _compute_dtype(x.dtype) == x.dtype or dtype != x.dtype:
            return NotImplemented
        return op(x.to(torch.float32), *args, **kwargs).to(x.dtype)

    return widened


_REDUCTIONS = (
    aten.sum.default,
    aten.sum.dim_IntList,
    aten.mean.default,
    aten.mean.dim,
    aten.prod.default,
    aten.prod.dim_int,
    aten.cumsum.default,
)


def _bitwise(op: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return lambda x, number: op(x, x.new_full([], number))


_BITWISE = {
    getattr(aten, name).Scalar: getattr(aten, name).Tensor for name in ("bitwise_and", "bitwise_or", "bitwise_xor")
}


def _gelu(x: Tensor, approximate: str = "none") -> Tensor:
    if approximate != "tanh":
        return NotImplemented
    wide = x.to(_compute_dtype(x.dtype))
    inner = math.sqrt(2 / math.pi) * (wide + 0.044715 * (wide * wide * wide))
    return (0.5 * wide * (1 + torch.tanh(inner))).to(x.dtype)


def _clamp(x: Tensor, lower: float | None = None, upper: float | None = None) -> Tensor:
    if not x.dtype.is_floating_point:
        return NotImplemented
    if lower is not None:
        x = torch.where(x < lower, lower, x)
    if upper is not None:
        x = torch.where(x > upper, upper, x)
    return x.clone() if lower is None and upper is None else x


def _hardtanh(x: Tensor, lower: float = -1, upper: float = 1) -> Tensor:
    return _clamp(x, lower, upper)


def _hardsigmoid(x: Tensor) -> Tensor:
    wide = x.to(_compute_dtype(x.dtype))
    return (_clamp(wide + 3, 0, 6) / 6).to(x.dtype)


def _argmax(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    return _first(x, torch.amax, dim, keepdim)


def _argmin(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    return _first(x, torch.amin, dim, keepdim)


def _first(x: Tensor, extreme: Callable[..., Tensor], dim: int | None, keepdim: bool) -> Tensor:
    """Where the extreme value is for the first time; NaN is both the largest and the smallest of all."""
    if not x.dtype.is_floating_point:
        return NotImplemented
    if dim is None:
        found = _first(x.reshape(-1), extreme, 0, False)
        return found.reshape([1] * x.dim()) if keepdim else found
    if x.dim() == 0:
        return torch.zeros([], dtype=torch.int64)
    hit = (x == extreme(x, [dim], keepdim=True)) | torch.isnan(x)
    return torch.argmax(hit.to(torch.int32), dim, keepdim)


def _max_along(x: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    if not x.dtype.is_floating_point:
        return NotImplemented
    return torch.amax(x, [dim], keepdim=keepdim), _argmax(x, dim, keepdim)


def _min_along(x: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
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


def _divide(x: Tensor, y: Tensor | float, *, rounding_mode: str | None = None) -> Tensor:
    """Floor division by the remainder, as PyTorch does it: `1.0 // 0.1` is 9, not the floor of 10.0."""
    if rounding_mode != "floor" or not x.dtype.is_floating_point:
        return NotImplemented
    divisor = y if isinstance(y, Tensor) else x.new_full([], y)
    rest = torch.fmod(x, divisor)
    quotient = (x - rest) / divisor
    quotient = torch.where((rest != 0) & ((divisor < 0) != (rest < 0)), quotient - 1, quotient)
    floor = torch.floor(quotient)
    floor = torch.where(quotient - floor > 0.5, floor + 1, floor)
    return torch.where(divisor == 0, x / divisor, torch.where(quotient == 0, x / divisor * 0, floor))


def _fmod(x: Tensor, y: float) -> Tensor:
    return torch.fmod(x, x.new_full([], y)) if x.dtype.is_floating_point or isinstance(y, int) else NotImplemented


def _upsample_nearest(x: Tensor, output_size: list[Any] | None, scale_factors: list[float] | None) -> Tensor:
    """Sizes that vary, times a whole number: every element repeated. torch-mlir finds sizes by floating-point arithmetic."""
    if not scale_factors or all(isinstance(size, int) for size in x.shape[2:]):
        return NotImplemented
    if any(not float(factor).is_integer() for factor in scale_factors):
        return NotImplemented
    for dim, factor in enumerate(map(int, scale_factors), start=2):
        repeated = x.unsqueeze(dim + 1).expand([*x.shape[: dim + 1], factor, *x.shape[dim + 1 :]])
        x = repeated.flatten(dim, dim + 1)
    return x


def _isfinite(x: Tensor) -> Tensor:
    return (x - x) == 0 if x.dtype.is_floating_point else torch.ones_like(x, dtype=torch.bool)


def _roll(x: Tensor, shifts: list[int], dims: list[int] | None = None) -> Tensor:
    return NotImplemented if dims else aten.roll(x.reshape(-1), shifts, [0]).reshape(x.shape)


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


def _in_int32(op: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The op on 8-bit integers, computed in 32 bits and cut off: the same modulo 256."""

    def widened(*args: Any, **kwargs: Any) -> Tensor:
        types = {arg.dtype for arg in args if isinstance(arg, Tensor)}
        if types not in ({torch.int8}, {torch.uint8}) or any(isinstance(arg, float) for arg in args):
            return NotImplemented
        wide = [arg.to(torch.int32) if isinstance(arg, Tensor) else arg for arg in args]
        return op(*wide, **kwargs).to(*types)

    return widened


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


def _promoted(op: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The op on unsigned bytes and something wider, of which torch-mlir would see the bytes as signed."""

    def widened(x: Any, y: Any, **kwargs: Any) -> Tensor:
        wide = torch.result_type(x, y)
        if op is aten.div.Tensor and not wide.is_floating_point:
            wide = torch.get_default_dtype()
        if wide == torch.uint8 or not any(isinstance(each, Tensor) and each.dtype == torch.uint8 for each in (x, y)):
            return NotImplemented
        return op(*(each.to(wide) if isinstance(each, Tensor) else each for each in (x, y)), **kwargs)

    return widened


def _reduced_bytes(op: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A sum or mean of unsigned bytes, in the type of its result."""

    def widened(x: Tensor, *args: Any, dtype: torch.dtype | None = None, **kwargs: Any) -> Tensor:
        return op(x.to(dtype or torch.int64), *args, **kwargs) if x.dtype == torch.uint8 else NotImplemented

    return widened


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


def _absolute(x: Tensor) -> Tensor:
    return x.clone() if x.dtype == torch.uint8 else NotImplemented


_PROMOTING = (aten.add.Tensor, aten.sub.Tensor, aten.mul.Tensor, aten.div.Tensor)
_SORTS = (aten.sort.default, aten.sort.stable, aten.topk.default)
_FLOAT_OPS: dict[Any, Callable[..., Tensor]] = {
    aten.div.Tensor_mode: _divide,
    aten.fmod.Scalar: _fmod,
    aten.sub.Tensor: _promoted(aten.sub.Tensor),
    aten.mul.Tensor: _promoted(aten.mul.Tensor),
    aten.remainder.Tensor: _promoted(aten.remainder.Tensor),
    aten.remainder.Scalar: _promoted(aten.remainder.Scalar),
}


def _either(first: Callable[..., Tensor], second: Callable[..., Tensor] | None) -> Callable[..., Tensor]:
    def tried(*args: Any, **kwargs: Any) -> Tensor:
        result = first(*args, **kwargs)
        return second(*args, **kwargs) if result is NotImplemented and second is not None else result

    return tried


def decomposition_table() -> dict[Any, Callable[..., Any]]:
    """torch-mlir's decompositions with the memory-minded ones of this module in their place."""
    base = torch_mlir_decompositions()
    table: dict[Any, Callable[..., Any]] = dict(base)
    table.update(cast(Any, get_decompositions)([aten.addmv, aten.dist]))
    table.update({op: _promoted(op) for op in _PROMOTING})
    table.update({op: _sorted_bytes(op) for op in _SORTS})
    table.update({op: _either(_in_wide(op), _reduced_bytes(op)) for op in _REDUCTIONS})
    table.update({scalar: _bitwise(tensor) for scalar, tensor in _BITWISE.items()})
    table.update({op: _either(_in_int32(op), _FLOAT_OPS.get(op)) for op in _BYTE_OPS})
    table.update(
        {
            aten._native_batch_norm_legit_no_training.default: _batch_norm_inference,
            aten.native_layer_norm.default: _layer_norm,
            aten.native_group_norm.default: _group_norm,
            aten.var.correction: _var,
            aten.std.correction: _std,
            aten.var_mean.correction: _var_mean,
            aten.gelu.default: _gelu,
            aten.upsample_nearest1d.vec: _upsample_nearest,
            aten.upsample_nearest2d.vec: _upsample_nearest,
            aten.isfinite.default: _isfinite,
            aten.clamp.default: _clamp,
            aten.clamp_min.default: _clamp,
            aten.clamp_max.default: lambda x, upper: _clamp(x, None, upper),
            aten.hardtanh.default: _hardtanh,
            aten.relu6.default: lambda x: _clamp(x, 0, 6),
            aten.hardsigmoid.default: _hardsigmoid,
            aten.argmax.default: _argmax,
            aten.argmin.default: _argmin,
            aten.max.dim: _max_along,
            aten.min.dim: _min_along,
            aten.maximum.default: _maximum,
            aten.minimum.default: _minimum,
            aten.max.other: _maximum,
            aten.min.other: _minimum,
            aten.abs.default: _absolute,
            aten.cat.default: _joined,
            aten.eq.Tensor: _equal,
            aten.roll.default: _roll,
            aten.constant_pad_nd.default: _pad_constant,
            aten._softmax.default: _softmax,
            aten._safe_softmax.default: _safe_softmax,
            aten.scaled_dot_product_attention.default: _attention,
            aten.addmm.default: _addmm,
            aten.pow.Tensor_Scalar: _power,
            aten.reciprocal.default: _reciprocal,
        }
    )
    return {op: ours if base.get(op, ours) is ours else _either(ours, base[op]) for op, ours in table.items()}
