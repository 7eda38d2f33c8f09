"""Ops on lists of tensors, taken apart, are what PyTorch computes."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from hotdesk.frontends.torch.decompositions.lists import LISTS

aten: Any = torch.ops.aten
SHAPES = ((3, 5), (7,), ())


def tensors(seed: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator) for shape in SHAPES]


@pytest.mark.parametrize(
    ("name", "rest"),
    [
        ("add.Scalar", (2.0,)),
        ("add.List", (tensors(1),)),
        ("mul.ScalarList", ([1.0, 2.0, 3.0],)),
        ("mul.Tensor", (torch.tensor(3.0),)),
        ("addcmul.Scalar", (tensors(1), tensors(2), 0.5)),
        ("addcdiv.ScalarList", (tensors(1), tensors(2), [1.0, 2.0, 3.0])),
        ("lerp.Scalar", (tensors(1), 0.25)),
        ("maximum.List", (tensors(1),)),
        ("maximum.Scalar", (0.5,)),
        ("minimum.ScalarList", ([0.5, 0.0, -1.0],)),
        ("neg.default", ()),
    ],
)
def test_lists(name: str, rest: tuple[Any, ...]) -> None:
    packet, overload = name.split(".")
    op = getattr(getattr(aten, f"_foreach_{packet}"), overload)
    torch.testing.assert_close(LISTS[op](tensors(0), *rest), op(tensors(0), *rest))


def test_powers_of_one_number() -> None:
    op, steps = aten._foreach_pow.ScalarAndTensor, [torch.tensor(2.0), torch.tensor(3.0)]
    torch.testing.assert_close(LISTS[op](0.5, steps), op(0.5, steps))
