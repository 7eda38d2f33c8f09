"""Attention whose gradient is computed block by block of queries, so that no values of queries by keys are kept or there at once.

The forward pass keeps query, key, value and mask. The backward pass computes the weights of a block of queries again, as
FlashAttention does (Dao et al. 2022), but of whole rows: their largest and their sum need not be kept. Of causal attention each
block takes the keys that it sees.
"""

# PyTorch is annotated in part only, and sizes may be symbolic, which the annotations do not show.
# pyright: reportUnknownMemberType=false, reportIncompatibleMethodOverride=false, reportUnnecessaryIsInstance=false
# pyright: reportPrivateUsage=false

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from hotdesk.frontends.torch.decompositions.memory import attention, attention_scale, attention_weights
from hotdesk.frontends.torch.decompositions.widened import compute_dtype

aten: Any = torch.ops.aten

ROWS = 256
"""Queries of a block. Attention of no more queries is left alone: what it keeps or computes again is the planner's to choose."""
MOST_BLOCKS = 16
"""Blocks are written out one by one, so there are no more; of longer sequences they are larger."""


class Blocked(torch.autograd.Function):
    """Attention of queries, keys and values with the same leading dims.

    What dropout draws is kept, a byte for each weight, unless it is drawn again.
    """

    @staticmethod
    def forward(
        ctx: Any,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None,
        dropout: float,
        causal: bool,
        scale: float | None,
    ) -> Tensor:
        factor = scale if scale is not None else attention_scale(query)
        ctx.settings = causal, factor, dropout
        if not dropout:
            ctx.save_for_backward(query, key, value, mask)
            return attention(query, key, value, mask, 0.0, causal, scale=factor)
        results: list[Tensor] = []
        drawn: list[Tensor] = []
        for start, stop, seen in _blocks(query, key, causal):
            block = query[..., start:stop, :] * factor
            weights = attention_weights(
                block, key[..., :seen, :], _of_rows(mask, start, stop), start if causal else None
            )
            left, kept = aten.native_dropout(weights, dropout, True)
            results.append(torch.matmul(left, value[..., :seen, :]))
            drawn.append(kept)
        ctx.save_for_backward(query, key, value, mask, *drawn)
        return torch.cat(results, -2)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        query, key, value, mask, *drawn = ctx.saved_tensors
        causal, factor, dropout = ctx.settings
        of_query: list[Tensor] = []
        of_key, of_value = torch.zeros_like(key), torch.zeros_like(value)
        # The last block first: of causal attention it sees most keys.
        for number, (start, stop, seen) in reversed([*enumerate(_blocks(query, key, causal))]):
            near, far = key[..., :seen, :], value[..., :seen, :]
            block, arriving = query[..., start:stop, :] * factor, gradient[..., start:stop, :]
            weights = attention_weights(block, near, _of_rows(mask, start, stop), start if causal else None)
            of_weights = torch.matmul(arriving, far.transpose(-2, -1))
            left = weights
            if dropout:
                kept = drawn[number] * (0.0 if dropout == 1 else 1.0 / (1.0 - dropout))
                left, of_weights = weights * kept, of_weights * kept
            of_value = _added(of_value, torch.matmul(left.transpose(-2, -1), arriving))
            of_scores = weights * (of_weights - (of_weights * weights).sum(-1, keepdim=True))
            of_key = _added(of_key, torch.matmul(of_scores.transpose(-2, -1), block))
            of_query.append(torch.matmul(of_scores, near) * factor)
        return torch.cat(of_query[::-1], -2), of_key, of_value, None, None, None, None


def _blocks(query: Tensor, key: Tensor, causal: bool) -> list[tuple[int, int, int]]:
    """The first query of each block, the one behind its last, and how many keys it sees."""
    queries, keys = query.size(-2), key.size(-2)
    rows = max(ROWS, math.ceil(queries / MOST_BLOCKS))
    ends = [(start, min(start + rows, queries)) for start in range(0, queries, rows)]
    return [(start, stop, min(stop, keys) if causal else keys) for start, stop in ends]


def _of_rows(mask: Tensor | None, start: int, stop: int) -> Tensor | None:
    return mask if mask is None or mask.dim() < 2 or mask.size(-2) == 1 else mask[..., start:stop, :]


def _added(total: Tensor, part: Tensor) -> Tensor:
    """The sum, where a part may be of the first rows only."""
    seen = part.size(-2)
    if seen == total.size(-2):
        return total + part
    return torch.slice_scatter(total, total[..., :seen, :] + part, -2, 0, seen)


class BlockedAttention(TorchFunctionMode):
    """While it is there, attention that is recorded for gradients has its gradient block by block.

    Left alone: attention of few queries, with a mask that has a gradient, with leading dims that differ other than by repeated
    heads, of sizes that are open, and within transforms such as `torch.vmap`, which know nothing of its gradient.
    """

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if func is torch.nn.functional.scaled_dot_product_attention:
            return blocked_attention(*args, **(kwargs or {}))
        return func(*args, **(kwargs or {}))


def blocked_attention(
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
    """`scaled_dot_product_attention`, with a gradient block by block where that can be."""
    whole = torch.nn.functional.scaled_dot_product_attention
    if enable_gqa and query.dim() > 2 and key.size(-3) and value.size(-3):
        key, value = (each.repeat_interleave(query.size(-3) // each.size(-3), -3) for each in (key, value))
    sizes = [size for each in (query, key, value) for size in each.shape]
    alike = query.shape[:-2] == key.shape[:-2] == value.shape[:-2]
    is_fixed = all(isinstance(size, int) and size > 0 for size in sizes)
    is_left = torch._C._are_functorch_transforms_active() or (
        attn_mask is not None and (attn_mask.requires_grad or is_causal)
    )
    if is_left or not (alike and is_fixed and query.size(-2) > ROWS):
        return whole(query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)
    given = query.dtype
    wide = (each.to(compute_dtype(given)) for each in (query, key, value))
    return cast(Any, Blocked).apply(*wide, attn_mask, dropout_p, is_causal, scale).to(given)
