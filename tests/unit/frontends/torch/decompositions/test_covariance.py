"""Covariances and correlations are those of eager PyTorch, whose own branch on values."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import hotdesk
from hotdesk.errors import ExecutionError

WEIGHTS = torch.tensor([1, 2, 0, 3, 1])


def moments(x: Tensor, z: Tensor, whole: Tensor, weights: Tensor) -> list[Tensor]:
    some = weights / 4
    return [
        *(torch.cov(x), x.cov(correction=0), torch.cov(x[0]), x.corrcoef(), torch.corrcoef(x[1])),
        *(torch.cov(x, fweights=weights), torch.cov(x, aweights=some), torch.cov(x, fweights=weights, aweights=some)),
        *(torch.cov(x, correction=2, aweights=some), torch.cov(whole), torch.cov(z), torch.corrcoef(z)),
        torch.cov(x, correction=9),
    ]


def test_as_eager() -> None:
    whole = torch.tensor([[1, 5, 2, 0, 3], [4, 1, 1, 7, 2]])
    given = (torch.randn(3, 5), torch.randn(2, 5, dtype=torch.complex64), whole, WEIGHTS)
    found = hotdesk.compile(moments, given)(*given)
    for number, (own, wanted) in enumerate(zip(found, moments(*given), strict=True)):
        torch.testing.assert_close(own, wanted, msg=lambda text, at=number: f"{at}: {text}", equal_nan=True)


def test_sizes_that_vary() -> None:
    auto = torch.export.Dim.AUTO

    def both(x: Tensor) -> tuple[Tensor, Tensor]:
        return torch.cov(x), x.corrcoef()

    program = hotdesk.compile(both, (torch.randn(3, 7),), dynamic_shapes=({0: auto, 1: auto},))
    x = torch.randn(5, 9)
    torch.testing.assert_close(program(x), (torch.cov(x), x.corrcoef()))


def test_negative_weights_are_an_error() -> None:
    def weighted(x: Tensor, weights: Tensor) -> Tensor:
        return torch.cov(x, fweights=weights)

    x = torch.randn(2, 5)
    program = hotdesk.compile(weighted, (x, WEIGHTS))
    with pytest.raises(ExecutionError):
        program(x, -WEIGHTS)
