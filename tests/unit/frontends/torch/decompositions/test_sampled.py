"""Images sampled at places that are no numbers, infinite or far away: as in eager PyTorch, and nothing is read beyond them."""

from __future__ import annotations

import math
from typing import Any, cast

import pytest
import torch
from torch import Tensor
from torch.nn import functional

import hotdesk

PLACES = (0.3, -0.7, 1.0, -1.0, 0.0, -0.0, 1.7, -2.9, 1e20, -1e20, 3e9, math.inf, -math.inf, math.nan)
PIXELS = (0.5, -2.0, 3.0, 1.0, math.inf, -0.25, 4.0, math.nan, -1.5, -math.inf, 2.5, 0.75)


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
def test_grids_of_any_numbers(mode: str) -> None:
    along = torch.tensor(PLACES)
    grid = torch.stack(torch.meshgrid(along, along, indexing="ij"), -1)[None]
    plain = torch.arange(24.0).reshape(1, 2, 3, 4).sin()
    special = torch.tensor(PIXELS).reshape(1, 1, 3, 4)

    def model(grid: Tensor, *images: Tensor) -> list[Tensor]:
        return [
            functional.grid_sample(x, grid, mode, padding, align_corners)
            for x, align_corners in zip(images, (False, True), strict=False)
            for padding in ("zeros", "border", "reflection")
        ]

    given = (grid, plain) if mode == "bicubic" else (grid, plain, special)  # which reads sixteen pixels at each place
    program = hotdesk.compile(model, given)
    assert not program.foreign
    for found, expected in zip(cast("list[Tensor]", program(*given)), model(*given), strict=True):
        torch.testing.assert_close(found, expected, equal_nan=True, rtol=1e-4, atol=1e-5)
    if mode == "nearest":
        assert program.check(*given).clean


def test_an_image_of_one_pixel_and_sizes_that_vary() -> None:
    class Sampled(torch.nn.Module):
        def forward(self, x: Tensor, grid: Tensor) -> Tensor:
            return functional.grid_sample(x, grid, "bilinear", "reflection", True)

    height = torch.export.Dim("height", min=1, max=64)
    dynamic: Any = {"x": {2: height}, "grid": None}
    grid = torch.tensor(PLACES).reshape(1, 1, 7, 2)
    program = hotdesk.compile(Sampled(), (torch.rand(1, 2, 4, 1), grid), dynamic_shapes=dynamic)
    for rows in (1, 5):
        x = torch.rand(1, 2, rows, 1)
        torch.testing.assert_close(program(x, grid), Sampled()(x, grid), equal_nan=True)
