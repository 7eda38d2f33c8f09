"""Selections at numbers from data: parts of such sizes are slices, and are checked."""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import hotdesk
from hotdesk.errors import ExecutionError
from tests.e2e.checking import Call, close, random

COMPILED = hotdesk.Options(foreign=False)


def parts(x: Tensor, sizes: Tensor) -> tuple[Tensor, ...]:
    return x.split(sizes.tolist())


def parts_of_columns(x: Tensor, count: Tensor) -> tuple[Tensor, ...]:
    number: int = count.item()  # pyright: ignore[reportAssignmentType]
    first, middle, last = x.split([1, number, 3 - number], dim=1)
    return first, middle.sum(1), last


def test_parts_of_sizes_from_data() -> None:
    x = random(6, 2)
    program = hotdesk.compile(Call(parts), (x, torch.tensor([1, 0, 5])), options=COMPILED)
    for sizes in ([1, 0, 5], [2, 2, 2], [0, 0, 6]):
        close(program(x, torch.tensor(sizes)), parts(x, torch.tensor(sizes)))
    with pytest.raises(ExecutionError, match="add up"):
        program(x, torch.tensor([1, 2, 2]))
    with pytest.raises(ExecutionError, match="non-negative"):
        program(x, torch.tensor([1, -1, 6]))


def test_parts_along_another_dim() -> None:
    x = random(3, 4)
    program = hotdesk.compile(Call(parts_of_columns), (x, torch.tensor(2)), options=COMPILED)
    for count in (2, 0, 3):
        close(program(x, torch.tensor(count)), parts_of_columns(x, torch.tensor(count)))
