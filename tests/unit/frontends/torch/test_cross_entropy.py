"""The gradient of cross entropy as one expression: the same numbers, and no zeros scattered to."""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn import functional

from hotdesk.frontends.torch.cross_entropy import fuse_cross_entropy

aten: Any = torch.ops.aten


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("shape", [(5,), (4, 5), (2, 5, 3, 3)])
@pytest.mark.parametrize("ignored", [-100, 2])
def test_the_gradient_is_that_of_eager(reduction: str, shape: tuple[int, ...], ignored: int) -> None:
    torch.manual_seed(0)
    x, labels = torch.randn(shape), torch.randint(5, (*shape[:1], *shape[2:]) if len(shape) > 1 else ())
    weights = torch.randn(labels.shape) if reduction == "none" else torch.randn(())

    def gradient(x: torch.Tensor, labels: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        given = x.detach().requires_grad_()
        loss = functional.cross_entropy(given, labels, reduction=reduction, ignore_index=ignored)
        return torch.autograd.grad((loss * weights).sum(), given)[0]

    graph = make_fx(gradient, tracing_mode="fake")(x, labels, weights)
    fuse_cross_entropy(graph.graph)
    graph.recompile()
    assert not [node for node in graph.graph.nodes if "backward" in str(node.target)]
    torch.testing.assert_close(graph(x, labels, weights), gradient(x, labels, weights))


def test_weights_of_classes_are_left() -> None:
    x, labels, weights = torch.randn(4, 5), torch.randint(5, (4,)), torch.rand(5)

    def gradient(x: torch.Tensor, labels: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        given = x.detach().requires_grad_()
        return torch.autograd.grad(functional.cross_entropy(given, labels, weights), given)[0]

    graph = make_fx(gradient, tracing_mode="fake")(x, labels, weights)
    fuse_cross_entropy(graph.graph)
    assert graph.graph.find_nodes(op="call_function", target=aten._log_softmax_backward_data.default)
