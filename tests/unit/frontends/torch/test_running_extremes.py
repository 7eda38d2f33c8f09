"""Running maxima and minima with their places, of sizes that vary too: by kernels of ours, and by none of PyTorch's."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.export import Dim

import hotdesk
from tests.e2e.checking import Call

COMPILED = hotdesk.Options(foreign=False)


def _drawn(*sizes: int, dtype: torch.dtype) -> Tensor:
    """Few different numbers, so that many are equal; some of the floats are none."""
    x = torch.randint(-3, 4, sizes, generator=torch.Generator().manual_seed(5))
    if dtype.is_floating_point:
        return torch.where(x == -3, float("nan"), torch.where(x == 2, float("inf"), x.double())).to(dtype)
    return x.to(dtype)


def both(x: Tensor) -> tuple[Tensor, ...]:
    return (*x.cummax(0), *x.cummin(-1))


def places(x: Tensor) -> Tensor:
    return x.cummax(1).indices


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.uint8, torch.bool])
def test_of_sizes_that_vary(dtype: torch.dtype) -> None:
    given, other = _drawn(7, 20, dtype=dtype), _drawn(40, 33, dtype=dtype)
    sizes = ({0: Dim("rows", max=100), 1: Dim("columns", max=100)},)
    program = hotdesk.compile(Call(both), (given,), dynamic_shapes=(sizes,), options=COMPILED)
    for x in (given, other, _drawn(3, 2, dtype=dtype)):
        for found, expected in zip(program(x), both(x), strict=True):
            torch.testing.assert_close(found, expected, rtol=0, atol=0, equal_nan=True)


def test_places_alone() -> None:
    x = _drawn(2, 70, 3, dtype=torch.float32)
    program = hotdesk.compile(Call(places), (x,), options=COMPILED)
    assert torch.equal(program(x), places(x))
    assert not program.check(x).faults
