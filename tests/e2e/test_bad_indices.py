"""What only a run can see to be wrong, at the Python line that does it; the program can be used again."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

import hotdesk
from hotdesk.errors import (
    ExecutionError,
)
from tests.e2e.checking import Call, close, integers, random, seeded
from tests.e2e.refusing import line_of, well_formed


class Lookup(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(10, 4)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.table(ids).tanh()  # here


def _gathered(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return x.gather(0, index)


def _indexed(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return x[index]


def _scattered(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return x.scatter(0, index, 1.0)


@pytest.mark.parametrize("bad", [10, 11, 1 << 40, -1, -(1 << 62)])
def test_an_index_out_of_range(bad: int) -> None:
    model = seeded(Lookup)
    lookup = hotdesk.compile(model, (integers(10, 3),))
    ids = integers(10, 3)
    close(lookup(ids), model(ids))
    with pytest.raises(ExecutionError) as caught:
        lookup(torch.tensor([0, bad, 1]))
    well_formed(caught.value)
    assert caught.value.where == line_of(Lookup.forward)
    close(lookup(ids), model(ids))


def _floor(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x // y


def _rest(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x % y


def _truncated(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.div(x, y, rounding_mode="trunc")


def _rest_of_number(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x + 5 % y


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int8, torch.uint8])
@pytest.mark.parametrize("model", [_floor, _rest, _truncated, torch.fmod, _rest_of_number])
def test_an_integer_by_zero(model: Callable[..., torch.Tensor], dtype: torch.dtype) -> None:
    x, y = torch.tensor([40, 7, 9], dtype=dtype), torch.tensor([3, 2, 4], dtype=dtype)
    dividing = hotdesk.compile(Call(model), (x, y))
    with pytest.raises(
        ExecutionError, match="a check of `linalg.generic` failed: expected no division of an integer by zero"
    ) as caught:
        dividing(x, torch.tensor([3, 0, 4], dtype=dtype))
    well_formed(caught.value)
    close(dividing(x, y), model(x, y))


@pytest.mark.parametrize("model", [_gathered, _indexed, _scattered])
def test_other_indices_out_of_range(model: Callable[..., torch.Tensor]) -> None:
    x, index = random(5), torch.tensor([0, 4, 2])
    indexing = hotdesk.compile(Call(model), (x, index))
    for bad in (5, 1 << 50, -6, -(1 << 50)):
        with pytest.raises(ExecutionError) as caught:
            indexing(x, torch.tensor([0, bad, 1]))
        well_formed(caught.value)
    close(indexing(x, index), model(x, index))
