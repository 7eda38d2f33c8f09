"""Integers as eager PyTorch computes them, also at the ends of their types."""

from __future__ import annotations

import pytest
import torch

import hotdesk
from tests.e2e.checking import Call


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8], ids=str)
def test_least_common_multiples(dtype: torch.dtype) -> None:
    ends = torch.iinfo(dtype)
    numbers = torch.tensor([ends.min, ends.min + 1, ends.max // 2, ends.max, 0, 1, 4, 6, 9], dtype=dtype)
    x, y = (each.flatten() for each in torch.meshgrid(numbers, numbers, indexing="ij"))
    negative = -y if dtype.is_signed else y
    program = hotdesk.compile(Call(torch.lcm), (torch.ones_like(x), torch.ones_like(x)))
    for other in (y, negative):
        ends_process = (x == ends.min) & (torch.gcd(x, other) == -1)  # eager PyTorch divides them
        taken = ~ends_process | (torch.tensor([], dtype=dtype).element_size() < 4)
        assert torch.equal(program(x, other)[taken], torch.lcm(x[taken], other[taken]))


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32], ids=str)
def test_the_smallest_integer_has_a_multiple_in_common_with_any(dtype: torch.dtype) -> None:
    ends = torch.iinfo(dtype)
    x = torch.tensor([ends.min, ends.min, 6], dtype=dtype)
    y = torch.tensor([ends.max, -1, 4], dtype=dtype)
    program = hotdesk.compile(Call(torch.lcm), (torch.ones_like(x), torch.ones_like(y)))
    assert program(x, y).tolist() == [ends.min, ends.min, 12]
