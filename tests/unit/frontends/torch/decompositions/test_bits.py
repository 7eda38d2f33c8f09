"""Ops on the bits of floats, compiled: signs of zeros and of NaN, exponents, neighbours, other types of as many bits."""

# What a lambda is given is not annotated.
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import hotdesk
from hotdesk.frontends.torch.decompositions.bits import BITS
from tests.e2e.checking import Call

ENDS = [0.0, -0.0, 1, -1, 1e-45, -1e-40, 3e38, math.inf, -math.inf, math.nan, -math.nan, 0.1, -7.3, 2**-126, 1 - 2**-24]


def same(op: Callable[..., Any], *args: Tensor) -> None:
    program = hotdesk.compile(Call(op), args, options=hotdesk.Options(foreign=False))
    torch.testing.assert_close(program(*args), op(*args), rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_every_pair_of_ends(dtype: torch.dtype) -> None:
    x = torch.tensor(ENDS, dtype=dtype)
    same(lambda x: (torch.signbit(x), torch.frexp(x)), x)
    same(
        lambda x, y: (torch.copysign(x, y), torch.signbit(torch.copysign(x, y)), torch.nextafter(x, y)),
        x,
        x.unsqueeze(1),
    )


def test_other_types() -> None:
    x = torch.tensor(ENDS)
    same(lambda x: (torch.copysign(x, -2.0), torch.signbit(x)), x.to(torch.bfloat16))
    same(lambda x, y: (torch.copysign(x, y), torch.signbit(x)), torch.arange(-3, 3), torch.tensor(-1))
    same(lambda x: torch.signbit(x), x > 0)
    same(lambda x: (torch.frexp(x), torch.copysign(x, x)), torch.zeros(1, 0, 3))


def test_the_same_bits() -> None:
    x = torch.tensor(ENDS[:9])
    same(lambda x: (x.view(torch.int32) + 1, (x.view(torch.int32) ^ 1).view(torch.float32)), x)
    same(lambda x: x.view(torch.float64) * 2, torch.arange(5) << 60)


def test_the_same_bits_of_sizes_that_vary() -> None:
    model = Call(lambda x: (x * 2).view(torch.int32) >> 3)
    sizes = ({0: torch.export.Dim("n", min=2, max=64)},)
    program = hotdesk.compile(
        model, (torch.ones(4, 3),), dynamic_shapes=(sizes,), options=hotdesk.Options(foreign=False)
    )
    x = torch.tensor(ENDS[:9]).reshape(3, 3)
    assert torch.equal(torch.as_tensor(program(x)), model(x))


def test_halves_have_no_exponent_of_ours() -> None:
    assert BITS[torch.ops.aten.frexp.Tensor](torch.ones(2, dtype=torch.float16)) is NotImplemented
