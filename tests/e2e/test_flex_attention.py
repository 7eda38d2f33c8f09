"""`flex_attention` in models that `hotdesk.compile` takes: the same numbers as eager PyTorch, and no array of all scores."""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn.attention.flex_attention import and_masks, create_block_mask, flex_attention

import hotdesk
from hotdesk.explain import Reason

SIZE, HEADS = 160, 4
SCORES = 2 * HEADS * SIZE * SIZE * 4
SLOPES, DOCUMENTS = torch.linspace(0.1, 0.4, HEADS), torch.arange(SIZE) // 60


def qkv(dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, ...]:
    torch.manual_seed(0)
    q, *others = (torch.randn(2, heads, SIZE, 8, dtype=dtype) for heads in (HEADS, 2, 2))
    return q, *others


def masked(counts: Callable[..., Any]) -> Any:
    return create_block_mask(counts, None, None, SIZE, SIZE, device="cpu")


def causal(_batch: Any, _head: Any, query: Any, key: Any) -> Any:
    return query >= key


def same_document(_batch: Any, _head: Any, query: Any, key: Any) -> Any:
    return DOCUMENTS[query] == DOCUMENTS[key]


def sloped(score: Any, _batch: Any, head: Any, query: Any, key: Any) -> Any:
    return score + SLOPES[head] * (key - query)


def faded(score: Any, batch: Any, head: Any, query: Any, key: Any) -> Any:
    return torch.tanh(score / 5) * torch.exp((key - query).abs() * -0.1) + batch * SLOPES[head]


CAUSAL, OF_DOCUMENTS = masked(causal), masked(and_masks(causal, same_document))


def heads_by_slopes(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> Any:
    return flex_attention(q, k, v, score_mod=sloped, block_mask=CAUSAL, enable_gqa=True)


def documents(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> Any:
    return flex_attention(q, k, v, block_mask=OF_DOCUMENTS, enable_gqa=True, scale=0.5)


def fading(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> Any:
    return flex_attention(q, k, v, score_mod=faded, enable_gqa=True)


def with_sums(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> Any:
    return flex_attention(q, k, v, enable_gqa=True, return_lse=True)


def reasons(program: hotdesk.Program, args: tuple[torch.Tensor, ...]) -> list[Reason]:
    return [each.reason for each in program.decisions(*args) if each.subject == "attention scores"]


@pytest.mark.parametrize("attention", [heads_by_slopes, documents, fading])
def test_scores_are_never_in_memory(attention: Callable[..., Any]) -> None:
    args = qkv()
    program = hotdesk.compile(attention, args)
    torch.testing.assert_close(program(*args), attention(*args), atol=1e-5, rtol=1e-5)
    assert reasons(program, args) == [Reason.BLOCK_BY_BLOCK]
    memory = program.memory(*args)
    assert memory.peak + memory.prepared < SCORES / 8


@pytest.mark.parametrize(
    ("attention", "dtype", "reason"),
    [
        (with_sums, torch.float32, Reason.MULTIPLE_READERS),
        (heads_by_slopes, torch.float64, Reason.BEYOND_THE_KERNEL),
    ],
)
def test_scores_in_memory_have_a_reason(attention: Callable[..., Any], dtype: torch.dtype, reason: Reason) -> None:
    args = qkv(dtype)
    program = hotdesk.compile(attention, args)
    torch.testing.assert_close(program(*args), attention(*args), atol=1e-5, rtol=1e-5)
    assert reasons(program, args) == [reason]


def test_exported_before() -> None:
    class Model(torch.nn.Module):
        def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> Any:
            return heads_by_slopes(q, k, v)

    args = qkv()
    program = hotdesk.compile(torch.export.export(Model(), args), args)
    torch.testing.assert_close(program(*args), heads_by_slopes(*args), atol=1e-5, rtol=1e-5)
