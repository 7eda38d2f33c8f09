"""Scatters taken apart: beside PyTorch's own along every dim and for parts of tensors; what they keep in memory."""

# What a lambda is given is not annotated.
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import hotdesk
from hotdesk.errors import ExecutionError
from hotdesk.frontends.torch.decompositions.scattered import SCATTERED
from tests.e2e.checking import Call, close, integers, random

aten: Any = torch.ops.aten
X = torch.arange(24.0).reshape(2, 3, 4)


def same(op: Any, *args: Any, **kwargs: Any) -> None:
    got, wanted = SCATTERED[op](*args, **kwargs), op(*args, **kwargs)
    assert got is not NotImplemented
    torch.testing.assert_close(got, wanted, check_stride=False)


def _indices(dim: int) -> list[Tensor]:
    """Whole ones, and those of parts; the same ones all along a row, too, which are those of some elements of it alone."""
    limit = X.size(dim)
    column = integers(limit, 2)[:, None, None]
    return [
        *(integers(limit, *sizes) for sizes in ((2, 3, 4), (1, 2, 3), (2, 1, 1))),
        *([column.expand(2, 3, 4), column.expand(2, 2, 4), column.expand(2, 1, 3)] if dim == 0 else []),
    ]


@pytest.mark.parametrize("dim", range(3))
def test_every_dim(dim: int) -> None:
    source = -random(3, 3, 5) if dim == 0 else -random(2, 5, 5)
    for index in _indices(dim):
        same(aten.scatter.src, X, dim, index, source)
        same(aten.scatter.value, X, dim, index, 0.5)
        same(aten.scatter_add.default, X, dim, index, source)
        same(aten.scatter_reduce.two, X, dim, index, source, "amin")
        same(aten.scatter_reduce.two, X, dim, index, source, "prod", include_self=False)


def test_what_is_not_known_or_empty_is_left() -> None:
    empty = torch.zeros(2, 0, 4, dtype=torch.int64)
    for op in (aten.scatter.src, aten.scatter_add.default):
        assert SCATTERED[op](X, 1, empty, X) is NotImplemented


_ALONG: dict[str, tuple[Callable[..., Tensor], int]] = {
    "put": (lambda x, i, y: x.scatter(1, i, y), 8 * 64 * 32),
    "added": (lambda x, i, y: x.scatter_add(0, i, y), 8 * 64 * 32),
    "put as rows": (lambda x, i, y: x.scatter(0, i[:, :1].expand(64, 32), y), 8 * 64 * 32),
}


@pytest.mark.parametrize("name", _ALONG)
def test_one_number_for_each_element_is_kept(name: str) -> None:
    op, most = _ALONG[name]
    x, y, index = random(64, 32), random(64, 32), integers(32, 64, 32)
    program = hotdesk.compile(Call(op), (x, index, y))
    close(program(x, index, y), op(x, index, y))
    assert program.memory().arena <= most


@pytest.mark.parametrize("op", [Tensor.scatter, Tensor.scatter_add])
def test_an_index_that_repeats_a_column_speaks_for_no_other(op: Callable[..., Tensor]) -> None:
    x, y, column = random(6, 4), random(6, 4), torch.tensor([0, 3, 2, 1, 5, 4])[:, None]
    program = hotdesk.compile(Call(lambda x, i, y: op(x, 0, i, y)), (x, column.expand(6, 4), y))
    close(program(x, column.expand(6, 4), y), op(x, 0, column.expand(6, 4), y))
    index = torch.stack([torch.roll(torch.arange(6), by) for by in range(4)], 1)
    close(program(x, index, y), op(x, 0, index, y))


_OUTSIDE: dict[str, Callable[..., Tensor]] = {
    "put": lambda x, i: x.scatter(1, i[:, None].expand(5, 3, 5), x[:, :3]),
    "added": lambda x, i: x.scatter_add(-1, i.repeat(5, 5, 1), x[..., :3]),
    "reduced": lambda x, i: x.scatter_reduce(1, i[:, None].expand(5, 3, 5), x[:, :3], "amax"),
}


@pytest.mark.parametrize("name", _OUTSIDE)
def test_a_place_behind_a_row_is_not_one_in_the_next(name: str) -> None:
    op, x, index = _OUTSIDE[name], random(5, 5, 5), torch.tensor([0, 4, 2])
    program = hotdesk.compile(Call(op), (x, index))
    close(program(x, index), op(x, index))
    for bad in (-1, -5, 5):
        with pytest.raises(ExecutionError):
            program(x, torch.tensor([0, bad, 1]))
