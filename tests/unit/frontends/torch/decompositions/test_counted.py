"""Stores at a place that a tensor of one number tells, as in a cache: one row is written where it lies; the place is checked."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

import hotdesk
from hotdesk.errors import ExecutionError


class Cache(nn.Module):
    rows: Tensor

    def __init__(self, store: Callable[[Tensor, Tensor, Tensor], None]) -> None:
        super().__init__()
        self.register_buffer("rows", torch.zeros(8, 8))
        self.store = store

    def forward(self, x: Tensor, place: Tensor) -> Tensor:
        self.store(self.rows, x, place)
        return self.rows.sum(0)


def row(rows: Tensor, x: Tensor, place: Tensor) -> None:
    rows[place] = x


def column(rows: Tensor, x: Tensor, place: Tensor) -> None:
    rows[:, place] = x


def element(rows: Tensor, x: Tensor, place: Tensor) -> None:
    rows[place, place.int()] = x[0]


def row_added(rows: Tensor, x: Tensor, place: Tensor) -> None:
    rows[place] += x


@pytest.mark.parametrize("store", [row, column, element, row_added])
def test_a_store_at_a_place_that_a_tensor_tells(store: Callable[[Tensor, Tensor, Tensor], None]) -> None:
    model, eager = Cache(store), Cache(store)
    program = hotdesk.compile(model, (torch.ones(8), torch.tensor(1)))
    for place in (1, 3, -1, 3):
        x = torch.arange(8.0) + place
        torch.testing.assert_close(program(x, torch.tensor(place)), eager(x, torch.tensor(place)))
        torch.testing.assert_close(model.rows, eager.rows)
    for place in (8, -9):
        with pytest.raises(ExecutionError, match="not within dim"):
            program(torch.ones(8), torch.tensor(place))
    torch.testing.assert_close(model.rows, eager.rows)
    assert not program.foreign
    assert program.memory().copies == 0
