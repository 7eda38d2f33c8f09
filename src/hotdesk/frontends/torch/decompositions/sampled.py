"""Images sampled at the places of a grid (`grid_sample` in two dims), by PyTorch's own formulas, step for step.

What a place comes to where it is no number, infinite or far outside follows from the order of the steps, so these are those of
PyTorch's kernel, where its own decomposition has others:

* a place is brought back to the image by clamping it (`border`), or by reflecting it at the edges and clamping what that leaves;
  what is no number then is 0;
* without that (`zeros`) what is outside counts as zero, and a place that is no number has weights that are none;
* places are whole numbers in the image before they are integers: nothing is ever read beyond it.
"""

# Sizes may be symbolic; the annotations do not show it.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any

import torch
from torch import Tensor

from hotdesk.frontends.torch.decompositions.widened import compute_dtype

aten: Any = torch.ops.aten

_BILINEAR, _NEAREST, _BICUBIC = range(3)
_ZEROS, _BORDER, _REFLECTION = range(3)
_SHARPNESS = -0.75
"""Of the cubic convolution: the slope of its outer pieces at 1."""


def _grid_sample(x: Tensor, grid: Tensor, mode: int, padding: int, align_corners: bool) -> Tensor:
    if not x.dtype.is_floating_point or padding not in (_ZEROS, _BORDER, _REFLECTION):
        return NotImplemented
    places = grid.to(compute_dtype(grid.dtype))
    column, row = (
        _in_pixels(places.select(-1, dim), size, align_corners) for dim, size in enumerate((x.size(3), x.size(2)))
    )

    def bounded(place: Tensor, size: Any) -> Tensor:
        return _brought_back(place, size, padding, align_corners)

    wide = x.to(compute_dtype(x.dtype))
    if mode == _BICUBIC:
        return _cubic(wide, row, column, bounded).to(x.dtype)
    row, column = bounded(row, x.size(2)), bounded(column, x.size(3))
    if mode == _NEAREST:
        return _read(x, torch.round(row), torch.round(column))
    return _linear(wide, row, column).to(x.dtype)


def _in_pixels(place: Tensor, size: Any, align_corners: bool) -> Tensor:
    """Places from -1 to 1 as those of pixels: -1 and 1 are the middle of the outer ones, or their edges."""
    return (place + 1) * ((size - 1) / 2) if align_corners else (place + 1) * (size / 2) - 0.5


def _brought_back(place: Tensor, size: Any, padding: int, align_corners: bool) -> Tensor:
    if padding == _ZEROS:
        return place
    if padding == _REFLECTION:
        place = _reflected(place, size, align_corners)
    return torch.where(place > 0, torch.where(place < size - 1, place, size - 1), 0)


def _reflected(place: Tensor, size: Any, align_corners: bool) -> Tensor:
    """A place behind an edge, as that so far in front of it, and again at the other edge."""
    span = size - 1 if align_corners else size
    if isinstance(span, int) and span == 0:
        return torch.zeros_like(place)
    low = 0.0 if align_corners else -0.5
    distance = torch.abs(place - low)
    rest = distance - torch.trunc(distance / (2 * span)) * (2 * span)
    return torch.minimum(rest, 2 * span - rest) + low


def _read(x: Tensor, row: Tensor, column: Tensor) -> Tensor:
    """The pixels at whole numbers; 0 for one outside, or at what is no number. Image `[n, c, h, w]`, places `[n, i, j]`."""
    batch, channels, height, width = x.shape
    inside = (row > -1) & (row < height) & (column > -1) & (column < width)
    y, x_ = (torch.where(inside, each, 0).to(torch.int64).unsqueeze(1) for each in (row, column))
    n = torch.arange(batch).reshape([-1, 1, 1, 1])
    c = torch.arange(channels).reshape([1, -1, 1, 1])
    return torch.where(inside.unsqueeze(1), x[n, c, y, x_], 0)


def _linear(x: Tensor, row: Tensor, column: Tensor) -> Tensor:
    top, left = torch.floor(row), torch.floor(column)
    down, right = row - top, column - left
    up, back = 1 - down, 1 - right
    corners = (
        (top, left, up * back),
        (top, left + 1, up * right),
        (top + 1, left, down * back),
        (top + 1, left + 1, down * right),
    )
    return reduce(add, (_read(x, y, z) * weight.unsqueeze(1) for y, z, weight in corners))


def _cubic(x: Tensor, row: Tensor, column: Tensor, bounded: Callable[[Tensor, Any], Tensor]) -> Tensor:
    """Of the sixteen pixels around each place, of which each is brought back by itself."""
    top, left = torch.floor(row), torch.floor(column)
    rows, columns = (
        [bounded(first + step, size) for step in (-1, 0, 1, 2)] for first, size in ((top, x.size(2)), (left, x.size(3)))
    )
    along, down = _cubic_weights(column - left), _cubic_weights(row - top)
    lines = (reduce(add, (_read(x, y, z) * each for z, each in zip(columns, along, strict=True))) for y in rows)
    return reduce(add, (line * each for line, each in zip(lines, down, strict=True)))


def _cubic_weights(rest: Tensor) -> list[Tensor]:
    """Of the two pixels before a place and of the two behind it, for how far it is behind the second: `[n, 1, i, j]`."""
    rest = rest.unsqueeze(1)
    other = 1 - rest
    return [_outer(rest + 1), _inner(rest), _inner(other), _outer(other + 1)]


def _inner(distance: Tensor) -> Tensor:
    return ((_SHARPNESS + 2) * distance - (_SHARPNESS + 3)) * distance * distance + 1


def _outer(distance: Tensor) -> Tensor:
    return ((_SHARPNESS * distance - 5 * _SHARPNESS) * distance + 8 * _SHARPNESS) * distance - 4 * _SHARPNESS


SAMPLED: dict[Any, Callable[..., Any]] = {aten.grid_sampler_2d.default: _grid_sample}
