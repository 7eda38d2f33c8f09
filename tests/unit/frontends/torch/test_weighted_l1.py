"""`l1_loss` has its weights in programs, whose traces would lose them."""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any, cast

import pytest
import torch
from torch.nn import functional

import hotdesk


def _loss(x: torch.Tensor, y: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    l1_loss: Any = functional.l1_loss  # annotated without weights
    return l1_loss(x, y, weight=weight) + l1_loss(x, y)


@pytest.mark.usefixtures("fresh_dynamo")
def test_weights_of_an_absolute_error() -> None:
    x, y, weight = torch.tensor([1.0, -3.0, 5.0]), torch.zeros(3), torch.tensor([1.0, 2.0, 0.5])
    expected = (1 + 6 + 2.5) / 3.5 + 3
    assert _loss(x, y, weight).item() == pytest.approx(expected)
    assert hotdesk.compile(_loss, (x, y, weight))(x, y, weight).item() == pytest.approx(expected)
    compiled = cast(Any, torch.compile(_loss, backend="hotdesk", options={"fallback": False}))
    found = compiled(x.requires_grad_(), y, weight)
    assert found.item() == pytest.approx(expected)
    found.backward()
    assert x.grad is not None
    assert x.grad.tolist() == pytest.approx([1 / 3.5 + 1 / 3, -2 / 3.5 - 1 / 3, 0.5 / 3.5 + 1 / 3])
