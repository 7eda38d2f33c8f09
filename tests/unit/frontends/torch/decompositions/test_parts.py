"""Parts of tensors whose place is a number in a tensor."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import hotdesk
from hotdesk.errors import ExecutionError

X = torch.arange(12.0).reshape(3, 4)


def _read(x: torch.Tensor, start: Any) -> torch.Tensor:
    return torch.narrow(x, 0, start, 2) + 1


def _written(x: torch.Tensor, start: Any) -> torch.Tensor:
    made = x.clone()
    made.narrow(0, start, 2).mul_(3)
    return made


@pytest.mark.parametrize("model", [_read, _written])
def test_a_part_begins_where_a_tensor_says(model: Any) -> None:
    program = hotdesk.compile(model, (X, torch.tensor(1)))
    for start in (0, 1, -2, -3):
        assert torch.equal(program(X, torch.tensor(start)), model(X, start))
    for start in (2, -4, -1):
        with pytest.raises(ExecutionError):
            program(X, torch.tensor(start))
