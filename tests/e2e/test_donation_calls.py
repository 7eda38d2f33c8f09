"""Calls with donated tensors: results in them, tensors that cannot be overwritten and are copied, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import hotdesk
from hotdesk.errors import ArgumentTypeError, DonatedOverlapError, LayoutError, OutputOverlapError
from hotdesk.explain import Outcome, Reason
from tests.e2e.checking import Call, close, random


def _elementwise(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x) * 2 + 1


# out=


def test_out_is_another_tensor_or_the_input_itself() -> None:
    program = hotdesk.compile(Call(_elementwise), (random(5, 7),), donate=True)
    x = random(5, 7, seed=2)
    out = torch.empty(5, 7)
    assert program(x.clone(), out=out) is out
    close(out, _elementwise(x))
    given = x.clone()
    assert program(given, out=given) is given
    close(given, _elementwise(x))
    whole = torch.zeros(48)
    with pytest.raises(OutputOverlapError, match="100 bytes shared with argument"):
        program(whole[:35].view(5, 7), out=whole[10:45].view(5, 7))


# Tensors that cannot be donated


def _read_only(x: torch.Tensor) -> Any:
    array = x.numpy().copy()
    array.flags.writeable = False
    return array


def _tensor(given: Any) -> torch.Tensor:
    return torch.from_numpy(given.copy()) if isinstance(given, np.ndarray) else given.clone()


def _misaligned(x: torch.Tensor) -> Any:
    whole = torch.empty(x.numel() + 1)
    whole[1:] = x.flatten()
    return whole[1:].view(x.shape)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda x: x.t().contiguous().t(), Reason.NON_CONTIGUOUS_ARGUMENT),
        (lambda x: x[:1].expand(8, 96), Reason.NON_CONTIGUOUS_ARGUMENT),
        (_read_only, Reason.DONATED_NOT_USABLE),
        (_misaligned, Reason.DONATED_NOT_USABLE),
    ],
    ids=["transposed", "expanded", "read-only", "misaligned"],
)
def test_what_cannot_be_written_is_copied(make: Any, reason: Reason) -> None:
    model = nn.Sequential(nn.Linear(96, 16), nn.ReLU(), nn.Linear(16, 4))
    program = hotdesk.compile(Call(lambda x: (model(x), x * 2)), (random(8, 96),), donate=0)
    given = make(random(8, 96, seed=6))
    before = _tensor(given)
    results = program(given)
    assert torch.equal(_tensor(given), before)
    for result, want in zip(results, (model(before), before * 2), strict=True):
        close(torch.as_tensor(result), want)
    assert program.memory(given).copies == before.nbytes
    assert [(d.reason, d.bytes) for d in program.decisions(given) if d.outcome is Outcome.COPIED] == [
        (reason, before.nbytes)
    ]


def test_what_is_refused() -> None:
    program = hotdesk.compile(Call(lambda x, y: (x * 2, x + y)), (random(4, 8), random(4, 8)), donate=0)
    x = random(4, 8, seed=1)
    before = x.clone()
    with pytest.raises(DonatedOverlapError, match=r"donated argument '\w+': expected memory of its own, got 128 bytes"):
        program(x, x)
    whole = torch.zeros(6, 8)
    with pytest.raises(DonatedOverlapError, match="got 64 bytes shared with argument"):
        program(whole[2:], whole[:4])
    with pytest.raises(ArgumentTypeError, match="without requires_grad"):
        program(x.clone().requires_grad_(), x)
    assert torch.equal(x, before)
    close(program(x.clone(), x)[1], x + x)
    with pytest.raises(LayoutError):
        program(x.clone(), x, out=(torch.empty(8, 4).t(), torch.empty(4, 8)))


def test_a_weight_is_not_to_be_donated() -> None:
    model = nn.Linear(8, 8, bias=False)
    program = hotdesk.compile(model, (random(8, 8),), donate=0)
    with pytest.raises(DonatedOverlapError, match="shared with weight 'weight'"):
        program(model.weight.detach())


def test_autograd_is_told() -> None:
    program = hotdesk.compile(Call(_elementwise), (random(4, 8),), donate=0)
    weight, x = random(4, 8).requires_grad_(), random(4, 8)
    product = (weight * x).sum()
    program(x)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()
