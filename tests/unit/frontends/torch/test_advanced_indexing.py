"""Elements at places that several tensors tell, along one size that varies: read by a loop, and by no kernel of PyTorch's."""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.export import Dim

import hotdesk
from hotdesk.errors import ExecutionError
from tests.e2e.checking import Call, close, random

COMPILED = hotdesk.Options(foreign=False)


def column_of_each_row(x: Tensor, i: Tensor) -> Tensor:
    return x[torch.arange(x.shape[0]), i]


def neighbours(x: Tensor, i: Tensor, j: Tensor) -> Tensor:
    return x[:, i, j]


def dims_apart(x: Tensor, i: Tensor, j: Tensor) -> Tensor:
    return x[i, :, j]


def places_of_other_sizes(x: Tensor, i: Tensor, j: Tensor) -> Tensor:
    return x[:, i[:, None], i[:, None].expand(-1, 2), j[:, None]]


def truths(x: Tensor, i: Tensor) -> Tensor:
    return column_of_each_row(x > 0, i)


ROWS_TOO, PLACES = (True, True), (False, True, True)
CASES: dict[str, tuple[Callable[..., Tensor], tuple[int, ...], tuple[bool, ...]]] = {
    # name: function, the shape of what is read, which arguments vary in their first size
    "a column of each row": (column_of_each_row, (6, 4, 3), ROWS_TOO),
    "neighbours behind another dim": (neighbours, (3, 5, 4), PLACES),
    "dims apart": (dims_apart, (5, 2, 4), PLACES),
    "places of other sizes": (places_of_other_sizes, (2, 5, 6, 4), PLACES),
    "truths": (truths, (6, 4), ROWS_TOO),
}


def placed(shape: tuple[int, ...], varies: tuple[bool, ...], length: int) -> tuple[Tensor, ...]:
    """What is read, and places in it: the last of them in a dim of 4, counted from the front and from the end."""
    x = random(length, *shape[1:]) if varies[0] else random(*shape)
    last = 3 - torch.arange(length) % 5
    return (x, last) if len(varies) == 2 else (x, (torch.arange(length) % 5).int(), last)


@pytest.mark.parametrize("name", CASES)
def test_as_many_places_as_a_size_that_varies(name: str) -> None:
    function, shape, varies = CASES[name]
    open_sizes = tuple({0: Dim("length", max=64)} if each else None for each in varies)
    first = placed(shape, varies, 6)
    program = hotdesk.compile(Call(function), first, dynamic_shapes=(open_sizes,), options=COMPILED)
    for length in (6, 2, 40):
        given = placed(shape, varies, length)
        close(program(*given), function(*given))
    for place in (4, -5):
        given = placed(shape, varies, 7)
        given[-1][given[-1] == 3] = place
        with pytest.raises(ExecutionError, match="every index in range"):
            program(*given)
    assert not program.check(*first).faults


def at_places_that_are_counted(x: Tensor) -> tuple[Tensor, ...]:
    rows, columns = torch.where(x[:, 0] > 0)
    return x[rows, :, columns - 4], x[rows[:, None], 0, columns], x[:, 0][torch.where(x[:, 0] > 0)]


def test_places_that_are_counted() -> None:
    x = random(3, 2, 4)
    program = hotdesk.compile(Call(at_places_that_are_counted), (x,), options=COMPILED)
    for given in (x, x.abs(), -x.abs()):
        close(program(given), at_places_that_are_counted(given))
