"""`torch.compile(model, backend="hotdesk")` on the ten example models in training: gradients are eager PyTorch's.

In float64, where rounding does not decide on which side of zero a ReLU falls: there gradients of float32 differ by thousandths as
soon as anything is computed in another order.
"""

from __future__ import annotations

import copy
import gc
from collections.abc import Generator
from typing import Any

import pytest
import torch
from torch import nn

import hotdesk
from examples.models import MODELS
from hotdesk.torch_compile.backend import backend

IN_SINGLE = ("llama",)
"""Models that compute some of it in float32 whatever their dtype is: norms and rotations of `transformers`' Llama."""


@pytest.fixture(autouse=True)
def collected(fresh_dynamo: None) -> Generator[None]:
    yield
    torch._dynamo.reset()
    gc.collect()


def trained(name: str) -> nn.Module:
    """In training mode, without dropout, which eager PyTorch draws otherwise."""
    model = MODELS[name].build().train().requires_grad_().double()
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    return model


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_gradients(name: str) -> None:
    inputs = [each.double() if each.is_floating_point() else each for each in MODELS[name].inputs(2)]
    model = trained(name)
    like = copy.deepcopy(model)
    for called in (torch.compile(model, backend=backend), like):
        result: Any = called(*inputs)
        result.square().mean().backward()
    largest = max(each.grad.abs().max().item() for each in like.parameters() if each.grad is not None)
    for (path, found), expected in zip(model.named_parameters(), like.parameters(), strict=True):
        assert (found.grad is None) is (expected.grad is None), path
        if expected.grad is not None and found.grad is not None:
            # What is zero on paper, as of a bias in front of a batch norm or of keys, is rounding of what adds up to it.
            rounding = 1e-6 if name in IN_SINGLE else 1e-9
            atol = max(rounding * expected.grad.abs().max().item(), 1e-12 * largest)
            torch.testing.assert_close(
                found.grad, expected.grad, rtol=1e-6, atol=atol, msg=lambda text, path=path: f"{path}: {text}"
            )
    torch.testing.assert_close(dict(model.named_buffers()), dict(like.named_buffers()))
    assert [graph.kind for graph in hotdesk.dynamo_report().graphs] == ["forward", "backward"]
