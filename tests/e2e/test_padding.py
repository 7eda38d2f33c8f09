"""Padding that reads elsewhere in the tensor, and other reads at places that follow from positions, beside eager PyTorch."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import hotdesk

TYPES = [torch.float32, torch.bfloat16, torch.float16, torch.int64]


class Calling(torch.nn.Module):
    """Of a function, a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: torch.Tensor) -> Any:
        return self.function(*args)


def filled(*sizes: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    generator = torch.Generator().manual_seed(3)
    return (torch.randn(*sizes, generator=generator) * 50).to(dtype)


def check(function: Callable[..., Any], *args: torch.Tensor) -> hotdesk.Program:
    program = hotdesk.compile(Calling(function), args)
    assert torch.equal(program(*args), function(*args))
    return program


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
def test_padding_of_every_rank(mode: str) -> None:
    def padded(row: torch.Tensor, image: torch.Tensor, volume: torch.Tensor) -> torch.Tensor:
        found = [F.pad(row, (4, 6), mode), F.pad(image, (3, 1, 0, 2), mode), F.pad(volume, (1, 2, 2, 0, 1, 1), mode)]
        return torch.cat([each.flatten() for each in found])

    check(padded, filled(2, 3, 7), filled(1, 2, 5, 37), filled(1, 2, 3, 4, 5))


@pytest.mark.parametrize("dtype", TYPES)
def test_padding_of_every_type(dtype: torch.dtype) -> None:
    x = filled(2, 3, 33, 35, dtype=dtype)
    program = check(lambda x: F.pad(x, (3, 2, 1, 4), "reflect") if dtype.is_floating_point else x.flip(-1), x)
    assert program.memory(x).arena == 0


def test_padding_by_all_there_is_and_of_one_element() -> None:
    check(lambda x: F.pad(x, (6, 6), "reflect"), filled(1, 2, 7))
    check(lambda x: F.pad(x, (5, 9), "replicate"), filled(1, 2, 1))
    check(lambda x: F.pad(x, (0, 0, 1, 1), "replicate"), filled(0, 2, 3, 3))


def test_open_sizes() -> None:
    batch = torch.export.Dim("batch", max=9)
    model = Calling(lambda x: F.pad(x, (3, 4, 2, 1), "reflect"))
    program = hotdesk.compile(model, (filled(2, 3, 6, 20),), dynamic_shapes={"args": ({0: batch},)})
    for sizes in ((1, 3, 6, 20), (5, 3, 6, 20)):
        x = filled(*sizes)
        assert torch.equal(program(x), model(x))


@pytest.mark.unchecked("the check fails, as it shall")
def test_places_behind_the_end_are_refused_still() -> None:
    model = Calling(lambda x: x[torch.arange(4) + torch.arange(4)])
    x = filled(7, 3)
    assert torch.equal(hotdesk.compile(model, (x,))(x), model(x))
    with pytest.raises((hotdesk.HotdeskError, IndexError)):
        hotdesk.compile(Calling(lambda x: x[torch.arange(4) + 4]), (x,))(x)


def test_places_of_data_beside_those_of_positions() -> None:
    x, rows = filled(9, 4, 11), torch.tensor([3, 0, 8, 8, 1])
    check(lambda x, rows: x[rows[:, None], torch.arange(3, -1, -1)], x, rows)
    program = hotdesk.compile(Calling(lambda x, rows: x[rows[:, None], torch.arange(3, -1, -1)]), (x, rows))
    with pytest.raises(hotdesk.HotdeskError):
        program(x, torch.tensor([3, 0, 9, 8, 1]))
