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


@pytest.mark.parametrize("model", [_gathered, _indexed, _scattered])
def test_other_indices_out_of_range(model: Callable[..., torch.Tensor]) -> None:
    x, index = random(5), torch.tensor([0, 4, 2])
    indexing = hotdesk.compile(Call(model), (x, index))
    for bad in (5, 1 << 50, -6, -(1 << 50)):
        with pytest.raises(ExecutionError) as caught:
            indexing(x, torch.tensor([0, bad, 1]))
        well_formed(caught.value)
    close(indexing(x, index), model(x, index))
