"""Attention and encoder layers that `torch.nn` calls as one op in eval mode, where no gradient is recorded.

    _native_multi_head_attention(q, k, v, …)  ->  projections, scaled_dot_product_attention, a projection
    _transformer_encoder_layer_fwd(x, …)      ->  attention and two products, each with what it is added to, and norms

A mask says what is left out; numbers other than 0 do, too, as in PyTorch's kernels. Its kind is told beside it: 0 for a mask of
queries by keys, 1 of batch by keys, 2 of batch by heads by queries by keys.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

aten: Any = torch.ops.aten
functional: Any = nn.functional  # annotated in part only


def _native_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim: int,
    heads: int,
    weight: Tensor,
    bias: Tensor,
    out_weight: Tensor,
    out_bias: Tensor,
    mask: Tensor | None = None,
    need_weights: bool = True,
    average_weights: bool = True,
    mask_kind: int | None = None,
) -> tuple[Tensor, Tensor | None]:
    if query is key and key is value:
        parts: list[Tensor] = [*functional.linear(query, weight, bias).chunk(3, -1)]
    else:
        thirds = zip((query, key, value), weight.chunk(3), bias.chunk(3), strict=True)
        parts = [functional.linear(*third) for third in thirds]
    q, k, v = (_by_head(each, heads) for each in parts)
    left_out = _left_out(mask, mask_kind)
    if need_weights:
        scores = (q * (embed_dim // heads) ** -0.5) @ k.transpose(-2, -1)
        if left_out is not None:
            scores = torch.where(left_out, float("-inf"), scores)
        weights = torch.softmax(scores, -1)
        mixed = weights @ v
        told = weights.mean(1) if average_weights else weights
    else:
        mixed = functional.scaled_dot_product_attention(q, k, v, None if left_out is None else ~left_out)
        if left_out is not None:  # a query without keys has zeros there, and no numbers in these kernels
            mixed = torch.where(left_out.all(-1, keepdim=True), float("nan"), mixed)
        told = None
    return functional.linear(mixed.transpose(1, 2).flatten(2), out_weight, out_bias), told


def _by_head(x: Tensor, heads: int) -> Tensor:
    """Of shape (batch, heads, length, width)."""
    return x.reshape(*x.shape[:-1], heads, x.shape[-1] // heads).transpose(1, 2)


def _left_out(mask: Tensor | None, kind: int | None) -> Tensor | None:
    """The mask as one of batch by heads by queries by keys."""
    if mask is None:
        return None
    mask = mask.to(torch.bool)
    return mask.unsqueeze(1).unsqueeze(1) if kind == 1 else mask


def _encoder_layer(
    x: Tensor,
    embed_dim: int,
    heads: int,
    weight: Tensor,
    bias: Tensor,
    out_weight: Tensor,
    out_bias: Tensor,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    norm_weight_1: Tensor,
    norm_bias_1: Tensor,
    norm_weight_2: Tensor,
    norm_bias_2: Tensor,
    ffn_weight_1: Tensor,
    ffn_bias_1: Tensor,
    ffn_weight_2: Tensor,
    ffn_bias_2: Tensor,
    mask: Tensor | None = None,
    mask_kind: int | None = None,
) -> Tensor:
    def first_norm(x: Tensor) -> Tensor:
        return functional.layer_norm(x, [embed_dim], norm_weight_1, norm_bias_1, eps)

    def second_norm(x: Tensor) -> Tensor:
        return functional.layer_norm(x, [embed_dim], norm_weight_2, norm_bias_2, eps)

    def attended(x: Tensor) -> Tensor:
        projections = (weight, bias, out_weight, out_bias)
        return _native_attention(x, x, x, embed_dim, heads, *projections, mask, False, True, mask_kind)[0]

    def fed_forward(x: Tensor) -> Tensor:
        inner = functional.linear(x, ffn_weight_1, ffn_bias_1)
        inner = functional.gelu(inner) if use_gelu else functional.relu(inner)
        return functional.linear(inner, ffn_weight_2, ffn_bias_2)

    if norm_first:
        x = x + attended(first_norm(x))
        return x + fed_forward(second_norm(x))
    x = first_norm(x + attended(x))
    return second_norm(x + fed_forward(x))


TRANSFORMERS: dict[Any, Callable[..., Any]] = {
    aten._native_multi_head_attention.default: _native_attention,
    aten._transformer_encoder_layer_fwd.default: _encoder_layer,
}
