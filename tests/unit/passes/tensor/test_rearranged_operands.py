"""Contractions of compiled models: their operands are read where they lie, and the results are PyTorch's."""

# PyTorch is annotated in part only.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional

import hotdesk

Tensor = torch.Tensor
Case = tuple[Callable[..., Tensor], tuple[tuple[int, ...], ...], tuple[int, ...]]


class _Net(torch.nn.Module):
    def __init__(self, function: Callable[..., Tensor], weight: tuple[int, ...]) -> None:
        super().__init__()
        self.function, self.weight = function, torch.nn.Parameter(torch.randn(weight))

    def forward(self, *inputs: Tensor) -> Tensor:
        return self.function(*inputs, self.weight)


def _windows(x: Tensor, weight: Tensor) -> Tensor:
    return functional.linear(x.view(1, 2, 49, 2, 49, 8).permute(0, 1, 3, 2, 4, 5), weight)


IN_PLACE: dict[str, Case] = {
    "pixels": (lambda x, w: functional.linear(x.permute(0, 2, 3, 1), w), ((2, 24, 14, 14),), (40, 24)),
    "part": (lambda x, w: functional.linear(x[:, 1:-1, 1:-1], w), ((2, 9, 60, 24),), (40, 24)),
    "windows": (_windows, ((1, 98, 98, 8),), (24, 8)),
    "both repeated": (lambda x, y, w: x @ y * w, ((3, 1, 50, 16), (1, 4, 16, 60)), ()),
    "scores": (lambda x, y, w: torch.einsum("bqhd,bkhd->bhqk", x, y) * w, ((2, 50, 4, 64), (2, 60, 4, 64)), ()),
    "merged heads": (lambda x, w: torch.einsum("bhse,dhe->bsd", x, w), ((2, 3, 50, 64),), (70, 3, 64)),
    "repeated heads": (
        lambda q, k, w: q @ k.repeat_interleave(4, 1).mT * w,
        ((1, 8, 50, 16), (1, 2, 60, 16)),
        (),
    ),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_no_operand_is_copied(name: str) -> None:
    function, shapes, weight = IN_PLACE[name]
    torch.manual_seed(0)
    model, inputs = _Net(function, weight).eval(), [torch.randn(shape) for shape in shapes]
    program = hotdesk.compile(model, tuple(inputs))
    memory = program.memory()
    assert (memory.arena, memory.prepared) == (0, 0)
    torch.testing.assert_close(program(*inputs), model(*inputs), rtol=1e-4, atol=1e-4)


def test_a_weight_is_read_once_where_rows_are_copied() -> None:
    """Rows of seven would be slow products, so the image is copied: once, and the weight not at all."""
    torch.manual_seed(0)
    model, x = _Net(lambda x, w: functional.linear(x[:, 1:-1, 1:-1], w), (40, 24)).eval(), torch.randn(8, 9, 9, 24)
    program = hotdesk.compile(model, (x,))
    assert program.memory().arena <= 8 * 7 * 7 * 24 * 4 + 64
    assert program.memory().prepared == 0
    torch.testing.assert_close(program(x), model(x), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("batch", [1, 3])
def test_sizes_that_vary(batch: int) -> None:
    torch.manual_seed(0)
    model, x = _Net(lambda x, w: functional.linear(x.permute(0, 2, 3, 1), w), (40, 24)).eval(), torch.randn(2, 24, 9, 8)
    sizes: Any = ({0: torch.export.Dim("batch", min=1, max=8)},)
    program = hotdesk.compile(model, (x,), dynamic_shapes=(sizes,))
    given = torch.randn(batch, 24, 9, 8)
    assert program.memory(given).arena == 0
    torch.testing.assert_close(program(given), model(given), rtol=1e-4, atol=1e-4)


def test_added_to_what_is_there() -> None:
    torch.manual_seed(0)
    inputs = (torch.randn(6, 50, 70), torch.randn(2, 3, 50, 16), torch.randn(3, 16, 70))

    def function(c: Tensor, x: Tensor, y: Tensor, weight: Tensor) -> Tensor:
        return torch.baddbmm(c, x.reshape(6, 50, 16), y.expand(2, 3, 16, 70).reshape(6, 16, 70)) * weight

    model = _Net(function, ()).eval()
    program = hotdesk.compile(model, inputs)
    torch.testing.assert_close(program(*inputs), model(*inputs), rtol=1e-4, atol=1e-4)
