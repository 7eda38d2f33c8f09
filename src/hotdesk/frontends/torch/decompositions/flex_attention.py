"""`flex_attention`, a higher-order op, as products and a softmax: its functions of a score and of a mask on all scores at once.

Autograd is the first that sees the op, so there it is taken apart, recorded or not.
"""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportPrivateUsage=false

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex
from torch._higher_order_ops.flex_attention import flex_attention
from torch.nn.attention.flex_attention import _vmap_for_bhqkv

from hotdesk.frontends.torch.decompositions.autograd_kernels import autograd_kernels
from hotdesk.frontends.torch.decompositions.widened import compute_dtype


def _composed(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: Callable[..., Tensor],
    block_mask: tuple[Any, ...],
    scale: float,
    _kernel_options: Any,
    read_by_score: tuple[Any, ...] = (),
    read_by_mask: tuple[Any, ...] = (),
) -> tuple[Tensor, Tensor, Tensor]:
    """The attention, and of each query the logarithm of its sum of powers and its largest score, both to the base 2.

    The mask says all that its blocks do. Scores are in float32, or in float64 of such queries.
    """
    wide = compute_dtype(query.dtype)
    key, value = (each.repeat_interleave(query.size(1) // each.size(1), 1) for each in (key, value))
    key, value = (each.expand(query.size(0), *each.shape[1:]).to(wide) for each in (key, value))
    scores = torch.matmul(query.to(wide), key.transpose(-2, -1)) * scale
    places = [torch.arange(size, device=query.device) for size in scores.shape]
    changed = _vmap_for_bhqkv(score_mod, prefix=(0,), suffix=(None,) * len(read_by_score))
    counts = _vmap_for_bhqkv(block_mask[-1], prefix=(), suffix=(None,) * len(read_by_mask))
    with TransformGetItemToIndex():  # these functions may read tensors at places that are tensors
        logits = torch.where(counts(*places, *read_by_mask), changed(scores, *places, *read_by_score), float("-inf"))
    weights = torch.ops.aten._safe_softmax(logits, -1)
    largest = logits.amax(-1)
    total = torch.where(largest == float("-inf"), float("-inf"), logits.logsumexp(-1))
    return torch.matmul(weights, value).to(query.dtype), total / math.log(2), largest / math.log(2)


@contextmanager
def flex_attention_composed() -> Generator[None]:
    """Has autograd see what the op is composed of."""
    with autograd_kernels({flex_attention: _composed}):
        yield
