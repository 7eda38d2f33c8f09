"""The gradient of attention by blocks of queries is that of attention as a whole, and makes no values of queries by keys."""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.fx import GraphModule
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from hotdesk.frontends.torch import attention_gradient
from hotdesk.frontends.torch.attention_gradient import BlockedAttention, blocked_attention

Mask = Callable[[int, int], Tensor]
MASKS: dict[str, Mask] = {
    "bool": lambda queries, keys: torch.rand(queries, keys) > 0.3,
    "summand": lambda queries, keys: torch.randn(2, 1, queries, keys),
    "of keys": lambda _, keys: torch.rand(2, 1, 1, keys) > 0.3,
    "of one dim": lambda _, keys: torch.rand(keys) > 0.3,
    "sees nothing": lambda queries, keys: (torch.arange(queries) != 3).unsqueeze(1).expand(queries, keys),
}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention_gradient, "ROWS", 4)
    torch.manual_seed(0)


def gradients(given: tuple[Tensor, ...], **more: Any) -> list[Tensor]:
    asked = [each.detach().requires_grad_() for each in given]
    with sdpa_kernel(SDPBackend.MATH):
        result = scaled_dot_product_attention(asked[0], asked[1], asked[2], **more)
        weights = torch.linspace(-1, 1, result.numel()).reshape(result.shape).to(result)
        return [result, *torch.autograd.grad((result * weights).sum(), asked)]


def both(given: tuple[Tensor, ...], **more: Any) -> None:
    with BlockedAttention():
        found = gradients(given, **more)
    for each, expected in zip(found, gradients(given, **more), strict=True):
        torch.testing.assert_close(each, expected, atol=1e-12, rtol=1e-9)


def heads(queries: int, keys: int, *leading: int) -> tuple[Tensor, Tensor, Tensor]:
    return tuple(torch.randn(*leading, rows, 3, dtype=torch.float64) for rows in (queries, keys, keys))  # type: ignore[return-value]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("queries", "keys"), [(10, 10), (8, 8), (10, 6), (6, 10), (5, 1), (5, 5)])
def test_sizes(queries: int, keys: int, causal: bool) -> None:
    both(heads(queries, keys, 2, 4), is_causal=causal)


@pytest.mark.parametrize("mask", MASKS)
def test_masks(mask: str) -> None:
    both(heads(9, 7, 2, 4), attn_mask=MASKS[mask](9, 7))


def test_more_blocks_than_are_written_out() -> None:
    both(heads(100, 9, 1), is_causal=True)


def test_scale_and_leading_dims() -> None:
    both(heads(9, 9), scale=0.3)
    both(heads(9, 9, 2, 1, 3), scale=2.0, is_causal=True)


def test_repeated_heads() -> None:
    query, key, value = heads(9, 7, 2, 4)
    both((query, key[:, :2], value[:, :2]), enable_gqa=True)
    both((query, key[:, :2], value[:, :1]), enable_gqa=True)


@pytest.mark.parametrize("causal", [False, True])
def test_dropout(causal: bool) -> None:
    def dropped(*given: Tensor) -> Tensor:
        torch.manual_seed(1)
        return blocked_attention(given[0], given[1], given[2], dropout_p=0.4, is_causal=causal)

    asked = tuple(each.requires_grad_() for each in heads(9, 7, 2))
    assert torch.autograd.gradcheck(dropped, asked)  # pyright: ignore[reportPrivateImportUsage]
    query, _, value = heads(100, 50, 40)
    left = blocked_attention(query, torch.zeros(40, 50, 3), torch.ones_like(value), dropout_p=0.4)
    assert left.mean().item() == pytest.approx(1, abs=0.02)
    both(heads(9, 7, 2, 4), dropout_p=1.0)


def test_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise AssertionError("not to be taken by blocks")

    monkeypatch.setattr(attention_gradient.Blocked, "apply", refused)
    both(heads(9, 7, 2, 4), attn_mask=torch.randn(9, 7, dtype=torch.float64).requires_grad_())
    query, key, value = heads(9, 7, 2, 4)
    both((query, key[:1], value[:1]))
    both(heads(4, 9, 2))
    with pytest.raises(AssertionError, match="not to be taken"), BlockedAttention():
        scaled_dot_product_attention(*heads(9, 7, 2, 4))


def test_transforms_see_attention_as_a_whole() -> None:
    query = torch.randn(3, 2, 10, 4, dtype=torch.float64, requires_grad=True)

    def found() -> Tensor:
        result = torch.vmap(lambda x: scaled_dot_product_attention(x, x, x))(query)
        return torch.autograd.grad((result * torch.linspace(0, 1, 4)).sum(), query)[0]

    with sdpa_kernel(SDPBackend.MATH):
        expected = found()
        with BlockedAttention():
            torch.testing.assert_close(found(), expected)


def test_no_values_of_queries_by_keys_are_left_to_the_gradient() -> None:
    """Those of the forward pass go into one kernel; the backward pass has blocks of four rows."""

    def trained(*given: Tensor) -> list[Tensor]:
        return gradients(given)

    with BlockedAttention():
        graph: GraphModule = make_fx(trained, tracing_mode="fake")(*heads(40, 40))
    large = [node for node in graph.graph.nodes if getattr(node.meta.get("val"), "shape", ())[-2:] == (40, 40)]
    products = [node for node in large if node.target == torch.ops.aten.mm.default]
    assert len(products) == 1
    graph.graph.eliminate_dead_code()
    assert any(getattr(node.meta.get("val"), "shape", ())[-2:] == (4, 40) for node in graph.graph.nodes)
