"""Places among sorted elements are those that PyTorch's search ends at, whatever it meets on its way."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

import hotdesk
from hotdesk.frontends.torch.decompositions.searched import SEARCHED
from tests.e2e.checking import Call

aten: Any = torch.ops.aten
_NUMBERS = torch.tensor([math.nan, -math.inf, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, math.inf])


def _drawn(seed: int, *shape: int) -> Tensor:
    return _NUMBERS[torch.randint(len(_NUMBERS), shape, generator=torch.Generator().manual_seed(seed))]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64])
@pytest.mark.parametrize("values", [3, 200])
@pytest.mark.parametrize("elements", [0, 1, 2, 3, 7, 29, 64, 100])
def test_any_rows(elements: int, values: int, dtype: torch.dtype) -> None:
    """Few values are searched for, and the places of many are counted."""
    for seed in range(6):
        rows, x = (
            torch.nan_to_num(_drawn(seed, 3, count), 5, 9, -9).to(dtype)
            if dtype == torch.int64
            else _drawn(seed, 3, count)
            for count in (elements, values)
        )
        rows, x = rows.to(dtype), x.to(dtype)
        for row in (rows, rows.sort()[0], rows[0]):
            for kind in ({}, {"right": True}, {"side": "right", "out_int32": True}):
                got = SEARCHED[aten.searchsorted.Tensor](row, x, **kind)
                assert torch.equal(got, torch.searchsorted(row, x, **kind))
            assert torch.equal(SEARCHED[aten.searchsorted.Scalar](rows[0], 2), torch.searchsorted(rows[0], 2))


@pytest.mark.parametrize("elements", [5, 100])
def test_programs(elements: int) -> None:
    row, x = _drawn(1, elements), _drawn(2, 4, 50)
    order = torch.randperm(elements, generator=torch.Generator().manual_seed(3))
    for call in (
        lambda row, x, order: torch.searchsorted(row, x, sorter=order),
        lambda row, x, order: torch.bucketize(x, row, right=True),
        lambda row, x, order: torch.searchsorted(row.sort()[0], x[0, :2], out_int32=True),
    ):
        assert torch.equal(hotdesk.compile(Call(call), (row, x, order))(row, x, order), call(row, x, order))


@pytest.mark.parametrize("dim", [torch.export.Dim("n", max=64), torch.export.Dim("n")])
def test_rows_of_any_length(dim: Any) -> None:
    x = _drawn(4, 9)
    program = hotdesk.compile(Call(torch.searchsorted), (_drawn(5, 12), x), dynamic_shapes=(({0: dim}, None),))
    for elements in (2, 13, 64):
        row = _drawn(elements, elements)
        assert torch.equal(program(row, x), torch.searchsorted(row, x))


@pytest.mark.parametrize("elements", [1, 5, 100])
def test_one_value(elements: int) -> None:
    """A value of rank 0 is searched for in the program, and is not asked for while it is compiled."""
    row = _drawn(6, elements).sort()[0]
    for x in (torch.tensor(2.0), torch.tensor(math.nan)):
        for call in (torch.searchsorted, lambda row, x: torch.bucketize(x, row, right=True, out_int32=True)):
            assert torch.equal(hotdesk.compile(Call(call), (row, x))(row, x), call(row, x))
