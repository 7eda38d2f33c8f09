"""PyTorch ops taken apart so that every step can overwrite the one before.

* batch norm in evaluation becomes one scale and one shift per channel, which depend on weights alone and move to `@prepare`;
* layer norm stays in the input's precision (torch-mlir's variance widens the whole activation to f64) and centres once;
* variances and standard deviations add up in f64, as PyTorch's do, without a copy of the input in f64;
* group norm is written the same way, in one shape, so that all of it is one loop (PyTorch's own goes through strided views that
  torch-mlir turns into index tables);
* RMS norm has PyTorch's epsilon where none is given (torch-mlir adds nothing), and computes 16-bit floats in f32;
* attention scales the query only and runs its softmax on one score matrix; that of 16-bit floats is computed in f32, so that no
  scores are ever in memory, unless the queries are few;
* `addmm` loses its multiplications by one; that of 16-bit floats is in f32, and its product reads and rounds such floats itself;
* integral powers become products, a reciprocal becomes a division.
"""

# Sizes may be symbolic and an exponent 2.0; the annotations do not show it.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols, statically_known_true

from hotdesk.frontends.torch.decompositions.counted import counted_amax
from hotdesk.frontends.torch.decompositions.widened import compute_dtype
from hotdesk.kernels.skinny import MOST_ROWS

aten: Any = torch.ops.aten
_torch: Any = torch


def _per_channel(vector: Tensor, rank: int) -> Tensor:
    return vector.view([-1] + [1] * (rank - 2)) if rank > 2 else vector


def _batch_norm_inference(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Tensor, var: Tensor, momentum: float, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    wide = compute_dtype(x.dtype)
    scale = torch.rsqrt(var.to(wide) + eps)
    if weight is not None:
        scale = scale * weight
    shift = -mean * scale
    if bias is not None:
        shift = shift + bias
    result = x * _per_channel(scale, x.dim()) + _per_channel(shift, x.dim())
    empty = x.new_empty([0])
    return result.to(x.dtype), empty, empty


def _layer_norm(
    x: Tensor, normalized_shape: list[int], weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    dims = list(range(x.dim() - len(normalized_shape), x.dim()))
    wide = x.to(compute_dtype(x.dtype))
    mean = torch.mean(wide, dims, keepdim=True)
    centred = wide - mean
    rstd = torch.rsqrt(torch.mean(centred * centred, dims, keepdim=True) + eps)
    result = centred * rstd
    if weight is not None:
        result = result * weight
    if bias is not None:
        result = result + bias
    kept = _dtype_of_statistics(x, weight)
    return result.to(x.dtype), mean.to(kept), rstd.to(kept)


def _dtype_of_statistics(x: Tensor, weight: Tensor | None) -> torch.dtype:
    """Of means and deviations: the type of what they are of, or that of wider weights."""
    return x.dtype if weight is None or weight.dtype == x.dtype else compute_dtype(x.dtype)


def _rms_norm(x: Tensor, normalized_shape: list[int], weight: Tensor | None = None, eps: float | None = None) -> Tensor:
    wide = x.to(compute_dtype(x.dtype))
    mean = torch.mean(wide * wide, list(range(x.dim() - len(normalized_shape), x.dim())), keepdim=True)
    result = wide * torch.rsqrt(mean + (torch.finfo(wide.dtype).eps if eps is None else eps))
    return (result if weight is None else result * weight).to(x.dtype)


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
    wide = x.reshape(batch, groups, channels // groups, positions).to(compute_dtype(x.dtype))
    mean = torch.mean(wide, [2, 3], keepdim=True)
    centred = wide - mean
    rstd = torch.rsqrt(torch.mean(centred * centred, [2, 3], keepdim=True) + eps)
    result = centred * rstd
    if weight is not None:
        result = result * weight.view(groups, channels // groups, 1)
    if bias is not None:
        result = result + bias.view(groups, channels // groups, 1)
    kept = _dtype_of_statistics(x, weight)
    return (
        result.to(x.dtype).reshape(x.shape),
        mean.reshape(batch, groups).to(kept),
        rstd.reshape(batch, groups).to(kept),
    )


def _softmax(x: Tensor, dim: int, half_to_float: bool) -> Tensor:
    if x.dim() == 0:
        return _softmax(x.reshape(1), 0, half_to_float).reshape([])
    if isinstance(x.size(dim), int) and x.size(dim) == 0:
        return x.to(compute_dtype(x.dtype)) if half_to_float else x.clone()
    wide = x.to(compute_dtype(x.dtype))
    exponent = torch.exp(wide - counted_amax(wide, dim))
    result = exponent / torch.sum(exponent, [dim], keepdim=True)
    return result if half_to_float else result.to(x.dtype)


def attention(
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
    """`scaled_dot_product_attention` as products and a softmax; NotImplemented with dropout.

    Scores of halves are in float32, as PyTorch's are. Where few queries, as of a step of generation, read all keys and values,
    these are widened as they are read, by a loop of their own, not by a product that wants them in memory.
    """
    if dropout_p:
        return NotImplemented
    given, queries = query.dtype, query.size(-2)
    if compute_dtype(given) != given:
        query, key, value = (each.to(compute_dtype(given)) for each in (query, key, value))
    if enable_gqa:
        key, value = (each.repeat_interleave(query.size(-3) // each.size(-3), -3) for each in (key, value))
    factor = scale if scale is not None else attention_scale(query)
    few = compute_dtype(given) != given and isinstance(queries, int) and queries <= MOST_ROWS
    weights = attention_weights(query * factor, key, attn_mask, 0 if is_causal else None, few)
    result = (weights.unsqueeze(-1) * value.unsqueeze(-3)).sum(-2) if few else torch.matmul(weights, value)
    return result.to(given)


def attention_scale(query: Tensor) -> float:
    """What queries are multiplied by where nobody says."""
    width = query.size(-1)
    return 1.0 if isinstance(width, int) and width == 0 else 1.0 / math.sqrt(width)


def attention_weights(query: Tensor, key: Tensor, mask: Tensor | None, first: int | None, few: bool = False) -> Tensor:
    """How much each key counts for each query, by scaled queries.

    Args:
        mask: of bools, or a summand of the scores, whose shape it has or is broadcast to.
        first: of causal attention the number of the first query; it sees keys up to that number.
        few: whether there are so few queries that keys are read as they are, without a copy in the type of the scores.
    """
    scores = (query.unsqueeze(-2) * key.unsqueeze(-3)).sum(-1) if few else torch.matmul(query, key.transpose(-2, -1))
    if first is not None:
        rows = torch.arange(first, first + query.size(-2), device=query.device).unsqueeze(-1)
        columns = torch.arange(key.size(-2), device=query.device)
        scores = torch.where(columns <= rows, scores, float("-inf"))
    if mask is not None:
        scores = torch.where(mask, scores, float("-inf")) if mask.dtype == torch.bool else scores + mask
    return _safe_softmax(scores, -1) if mask is not None else _softmax(scores, -1, False)


def _safe_softmax(x: Tensor, dim: int, dtype: torch.dtype | None = None) -> Tensor:
    """Softmax where a row that is all −inf gives zeros, as PyTorch's masked attention does."""
    x = x if dtype is None else x.to(dtype)
    wide = x.to(compute_dtype(x.dtype))
    peak = counted_amax(wide, dim)
    finite_peak = torch.where(peak == float("-inf"), 0.0, peak)
    exponent = torch.exp(wide - finite_peak)
    total = torch.sum(exponent, [dim], keepdim=True)
    return (exponent / torch.where(total == 0, 1.0, total)).to(x.dtype)


def _addmm(bias: Tensor, a: Tensor, b: Tensor, beta: float = 1, alpha: float = 1) -> Tensor:
    if not a.dtype.is_floating_point:
        beta, alpha = int(beta), int(alpha)  # as PyTorch: numbers are taken in the type of the tensors
    wide = compute_dtype(a.dtype)
    product = torch.mm(a.to(wide), b.to(wide))
    if alpha != 1:
        product = product * alpha
    if beta != 0:
        summand = bias.to(wide)
        product = product + (summand if beta == 1 else summand * beta)
    return product.to(a.dtype)


def _power(x: Tensor, exponent: float) -> Tensor:
    if exponent == 0.5 and x.dtype.is_floating_point:
        return torch.sqrt(x)
    if x.dtype == torch.bool and isinstance(exponent, int):
        x = x.to(torch.int64)
    if exponent not in (2, 3, 4) or not (x.dtype.is_floating_point or isinstance(exponent, int)):
        return NotImplemented
    if exponent == 4:
        wide = x.to(compute_dtype(x.dtype))
        square = wide * wide
        return (square * square).to(x.dtype)
    return x * x if exponent == 2 else x * x * x


def _reciprocal(x: Tensor) -> Tensor:
    return torch.div(torch.ones([], dtype=x.dtype, device=x.device), x) if x.dtype.is_floating_point else NotImplemented


def _variance(x: Tensor, dim: list[int] | None, correction: float | None) -> tuple[Tensor, Tensor]:
    """Variance and mean in f64, as PyTorch adds them up, both with the reduced dimensions kept.

    No copy of `x` is in f64: its sum and the difference widen what they read.
    """
    dims = [each % x.dim() for each in dim] if dim and x.dim() else list(range(x.dim()))
    if x.is_complex():
        pairs = torch.view_as_real(x)
        (a, real), (b, imaginary) = (_variance(pairs[..., part], dims, correction) for part in (0, 1))
        return a + b, torch.complex(real, imaginary)
    count = math.prod(x.size(d) for d in dims)
    mean = torch.sum(x, dims, keepdim=True, dtype=torch.float64) / count
    centred = x - mean
    total = torch.sum(centred * centred, dims, keepdim=True)
    degrees = count - (1 if correction is None else correction)
    if isinstance(degrees, int | float):
        return total / max(0, degrees), mean  # too few samples: 0 / 0
    least = torch.full((), cast(Any, degrees), dtype=torch.float64, device=x.device).clamp_min(0)
    return total / least, mean


def _without(x: Tensor, dim: list[int] | None, keepdim: bool, rank: int) -> Tensor:
    return x if keepdim else torch.squeeze(x, tuple(dim) if dim else tuple(range(rank)))


def _var(x: Tensor, dim: list[int] | None = None, *, correction: float | None = None, keepdim: bool = False) -> Tensor:
    return _without(_variance(x, dim, correction)[0].to(x.dtype.to_real()), dim, keepdim, x.dim())


def _std(x: Tensor, dim: list[int] | None = None, *, correction: float | None = None, keepdim: bool = False) -> Tensor:
    return _without(torch.sqrt(_variance(x, dim, correction)[0]).to(x.dtype.to_real()), dim, keepdim, x.dim())


def _var_mean(
    x: Tensor, dim: list[int] | None = None, *, correction: float | None = None, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    var, mean = _variance(x, dim, correction)
    var, mean = var.to(x.dtype.to_real()), mean.to(x.dtype)
    return _without(var, dim, keepdim, x.dim()), _without(mean, dim, keepdim, x.dim())


def _std_mean(
    x: Tensor, dim: list[int] | None = None, *, correction: float | None = None, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    return _std(x, dim, correction=correction, keepdim=keepdim), _var_mean(
        x, dim, correction=correction, keepdim=keepdim
    )[1]


def _select_scatter(x: Tensor, source: Tensor, dim: int, index: Any) -> Tensor:
    """One row is written, where PyTorch's own chooses between all elements of two tensors."""
    dim, size = dim % x.dim(), x.size(dim)
    if not isinstance(index, int) and free_unbacked_symbols(index):
        aten._assert_scalar.default((index < size) & (index >= -size), f"the index of `select` is not within dim {dim}")
        if not statically_known_true(index >= 0):
            index = _torch.sym_ite(index < 0, index + size, index)
    elif index < 0:
        index = index + size
    return aten.slice_scatter(x, source.unsqueeze(dim), dim, index, index + 1)


MEMORY: dict[Any, Callable[..., Any]] = {
    aten._native_batch_norm_legit_no_training.default: _batch_norm_inference,
    aten.native_layer_norm.default: _layer_norm,
    aten.native_group_norm.default: _group_norm,
    aten.rms_norm.default: _rms_norm,
    aten.var.correction: _var,
    aten.std.correction: _std,
    aten.var_mean.correction: _var_mean,
    aten.std_mean.correction: _std_mean,
    aten._softmax.default: _softmax,
    aten._safe_softmax.default: _safe_softmax,
    aten.scaled_dot_product_attention.default: attention,
    aten.addmm.default: _addmm,
    aten.pow.Tensor_Scalar: _power,
    aten.reciprocal.default: _reciprocal,
    aten.select_scatter.default: _select_scatter,
}
