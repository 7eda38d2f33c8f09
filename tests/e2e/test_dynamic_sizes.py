"""Layers and functions whose sizes vary: compiled once, compared with eager PyTorch for sizes they were not compiled with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim
from torch.nn import functional as F

import hotdesk
from hotdesk.errors import ShapeError, UnsupportedOpError
from tests.e2e.checking import Call, close, random, seeded

Shape = tuple[int, ...]


def _statistics(x: Tensor) -> tuple[Tensor, ...]:
    return x.mean(0), x.var(0), x.std(), x.sum(), x.amax(0), x.argmax(0), x.softmax(0), x.cumsum(0), x.mean()


def _rearranged(x: Tensor) -> tuple[Tensor, ...]:
    return (
        x[1:],
        x[:-1],
        x[::2],
        x.flip(0),
        x.roll(1, 0),
        x.roll((7, -9), (0, 0)),
        x.t().reshape(-1),
        x.repeat(2, 1),
        x.tril(),
        x.unfold(1, 2, 1),
    )


def _joined(x: Tensor) -> tuple[Tensor, ...]:
    return (
        torch.cat([x, x * 2]),
        torch.cat([x, x], 1),
        torch.stack([x, x]),
        F.pad(x, (1, 2, 1, 1)),
        x[:, None] * x[None],
    )


def _positions(x: Tensor) -> tuple[Tensor, ...]:
    rows = torch.arange(x.shape[0])
    return x + rows[:, None], x[rows], torch.where(rows[:, None] >= rows, 1.0, 0.0) @ x, torch.full_like(x, 2.0)


def _heads(x: Tensor) -> Tensor:
    """Two sizes that vary, split and merged on both sides."""
    batch, length, width = x.shape
    parts = x.view(batch, length, 3, width // 3).transpose(1, 2)
    rows = parts.reshape(batch * 3, length, width // 3)
    return rows.softmax(-1).flatten(0, 1)


def _numbers_of_sizes(x: Tensor) -> tuple[Tensor, ...]:
    """Sizes and scalars that take more than sums, products and quotients of whole numbers."""
    to_fours = F.pad(x, (0, (4 - x.shape[1] % 4) % 4, 0, -x.shape[0] % 3))
    return (
        to_fours,
        x / x.shape[0] ** 0.5,
        x * (x.shape[0] / (x.shape[0] + 1)),
        x.quantile(0.3, dim=0),
        x.unfold(0, 3, 2),
    )


def _resized(x: Tensor) -> tuple[Tensor, ...]:
    factors = (("nearest", 0.5), ("nearest", 1.5), ("nearest-exact", 2.0), ("bilinear", 1.5), ("bilinear", 0.5))
    return (
        *(F.interpolate(x, scale_factor=factor, mode=mode) for mode, factor in factors),
        F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=True),
        F.max_pool2d(x, 2, ceil_mode=True),
    )


def _products(x: Tensor) -> tuple[Tensor, ...]:
    return x @ x.t(), x.t() @ x, torch.einsum("ij,kj->ik", x, x), x @ torch.ones(5, 2), x @ x[0]


ROWS: Any = {0: Dim("n", min=3, max=512)}
IMAGE: Any = {0: Dim("batch", max=64), 2: Dim("height", min=8, max=512), 3: Dim("width", min=8, max=512)}
OPEN: Any = {0: Dim.AUTO, 2: Dim.AUTO, 3: Dim.AUTO}
ROW: Any = {0: Dim("batch", max=64), 2: Dim("length", min=6, max=512)}
TOKENS: Any = {0: Dim("batch", max=64), 1: Dim("length", max=512)}
IMAGES = ((2, 4, 9, 10), (1, 4, 8, 8), (3, 4, 17, 30))

CASES: dict[str, tuple[Callable[[], nn.Module], Any, tuple[Shape, ...]]] = {
    # name: model, what varies, the shape compiled with and those called with
    "statistics": (lambda: Call(_statistics), ROWS, ((3, 5), (3, 5), (9, 5))),
    "rearranged": (lambda: Call(_rearranged), ROWS, ((4, 5), (3, 5), (9, 5))),
    "joined": (lambda: Call(_joined), ROWS, ((4, 5), (3, 5), (9, 5))),
    "positions": (lambda: Call(_positions), ROWS, ((4, 5), (3, 5), (9, 5))),
    "numbers of sizes": (lambda: Call(_numbers_of_sizes), ROWS, ((4, 5), (3, 5), (9, 5), (10, 5))),
    "resized": (lambda: Call(_resized), OPEN, ((2, 4, 9, 10), (3, 4, 8, 8), (3, 4, 17, 30))),
    "products": (lambda: Call(_products), ROWS, ((4, 5), (3, 5), (40, 5))),
    "heads": (lambda: Call(_heads), TOKENS, ((2, 5, 12), (1, 1, 12), (3, 7, 12), (2, 64, 12))),
    "linear": (
        lambda: nn.Sequential(nn.Linear(6, 9), nn.GELU(), nn.Linear(9, 4)),
        TOKENS,
        ((2, 5, 6), (1, 1, 6), (3, 70, 6)),
    ),
    "layer norm": (lambda: nn.LayerNorm(6), TOKENS, ((2, 5, 6), (1, 1, 6), (3, 70, 6))),
    "lstm": (
        lambda: _First(nn.LSTM(4, 5, batch_first=True)),
        {0: Dim("batch", max=64)},
        ((2, 3, 4), (1, 3, 4), (7, 3, 4)),
    ),
    "batch norm": (lambda: nn.BatchNorm2d(4), IMAGE, IMAGES),
    "group norm": (lambda: nn.GroupNorm(2, 4), IMAGE, IMAGES),
    "instance norm": (lambda: nn.InstanceNorm2d(4), IMAGE, IMAGES),
    "pools": (lambda: nn.Sequential(nn.MaxPool2d(3, 2, 1), nn.AvgPool2d(2, 1)), IMAGE, IMAGES),
    "global pool": (lambda: nn.AdaptiveAvgPool2d(1), IMAGE, IMAGES),
    "nearest": (lambda: nn.Upsample(scale_factor=2), IMAGE, IMAGES),
    "bilinear": (lambda: nn.Upsample(scale_factor=2, mode="bilinear"), IMAGE, IMAGES),
    "convolutions": (
        lambda: nn.Sequential(
            nn.Conv2d(4, 8, 3, stride=2, padding=1),
            nn.Conv2d(8, 8, 3, padding=1, groups=8),
            nn.Conv2d(8, 8, 1),
            nn.Conv2d(8, 4, 3, padding=2, dilation=2),
            nn.Conv2d(4, 4, (1, 3), groups=2),
        ),
        IMAGE,
        IMAGES,
    ),
    "transposed convolution": (lambda: nn.ConvTranspose2d(4, 3, 2, stride=2), IMAGE, IMAGES),
    "convolution of rows": (lambda: nn.Conv1d(4, 3, 3, stride=2, padding=1), ROW, ((2, 4, 9), (1, 4, 6), (3, 4, 100))),
}


@pytest.mark.parametrize("name", CASES)
def test_sizes_that_vary(name: str) -> None:
    factory, varies, shapes = CASES[name]
    model = seeded(factory)
    first = random(*shapes[0])
    program = hotdesk.compile(model, (first,), dynamic_shapes=((varies,),) if isinstance(model, Call) else (varies,))
    for shape in (*shapes, shapes[0]):
        x = random(*shape, seed=len(shape) + shape[0])
        close(program(x), model(x))


class _First(nn.Module):
    """A recurrent layer without its state."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x)[0]


def test_what_a_decomposition_assumes_of_sizes_left_open_is_checked_by_calls() -> None:
    model = nn.AdaptiveAvgPool2d(3)
    program = hotdesk.compile(model, (random(1, 2, 7, 9),), dynamic_shapes={"input": {2: Dim.AUTO}})
    for rows in (7, 10, 16):
        x = random(1, 2, rows, 9)
        close(program(x), model(x))
    with pytest.raises(ShapeError, match="mod 3") as caught:
        program(random(1, 2, 9, 9))
    assert caught.value.code == "HD205"


def test_sizes_that_turn_out_to_be_fixed() -> None:
    model = Call(lambda x: torch.linspace(0, 1, x.shape[0]) + x.sum())
    program = hotdesk.compile(model, (random(8),), dynamic_shapes=(({0: Dim.AUTO},),))
    close(program(random(8)), model(random(8)))
    with pytest.raises(ShapeError, match="expected 8"):
        program(random(9))


def test_an_op_that_divides_sizes_otherwise_for_some() -> None:
    """PyTorch takes such an op apart for the example's size alone; with another it would be wrong."""
    with pytest.raises(UnsupportedOpError, match="some sizes only") as caught:
        hotdesk.compile(nn.AdaptiveAvgPool2d(3), (random(1, 2, 7, 9),), dynamic_shapes={"input": {2: Dim("n", min=3)}})
    assert "(n mod 3)" in (caught.value.got or "")


def test_running_sums_of_exponentials() -> None:
    """Of numbers whose exponentials are beyond floats, along a dim of an open size too."""

    class Sums(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return x.logcumsumexp(0), x.logcumsumexp(-1)

    rows = torch.export.Dim("rows", min=1, max=64)
    program = hotdesk.compile(Sums(), (torch.randn(4, 5),), dynamic_shapes=({0: rows},))
    for size in (4, 1, 9):
        x = torch.randn(size, 5) * 300
        for found, expected in zip(program(x), Sums()(x), strict=True):
            torch.testing.assert_close(found, expected)


def test_a_size_in_a_merged_dim_of_what_a_product_reads() -> None:
    """Between two transposes it is a part of a dim, and no dim of a tensor that the product could read."""
    model = Call(lambda x, w: x.t().view(-1, 64, 64).transpose(0, 1).reshape(-1, 64) @ w)
    w = random(64, 48)
    program = hotdesk.compile(model, (random(64, 128), w), dynamic_shapes=(({1: 64 * Dim("b")}, {}),))
    for count in (2, 5):
        x = random(64, 64 * count)
        close(program(x, w), model(x, w))
