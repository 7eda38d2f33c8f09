"""Gradients of convolutions, normed weights and softmax: of an image a convolution, of filters a product for each tap.

A product of a tap is of two matrices, output channels by pixels of all images, and pixels by input channels: what convolutions
are made of, and large. torch-mlir makes of the filters' gradient a convolution whose filters are the images, with few and small
results, and refuses groups and transposed convolutions.
"""

# Sizes may be symbolic; the annotations do not show it.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

aten: Any = torch.ops.aten


def _convolution_backward(
    gradient: Tensor,
    image: Tensor,
    filters: Tensor,
    bias_sizes: list[int] | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    output_mask: Sequence[bool],
) -> Any:
    deep = range(image.dim() - 2)
    stride, padding, dilation, output_padding = (
        [each[d % len(each)] for d in deep] for each in (stride, padding, dilation, output_padding)
    )
    if not image.is_floating_point() or any(each.numel() == 0 for each in (gradient, image, filters)):
        return NotImplemented
    moves = (stride, padding, dilation)
    of_image = of_filters = of_bias = None
    if output_mask[1]:  # first: what it copies is gone when the image's gradient, as large as the image, comes
        window = filters.shape[2:]
        pair = (gradient, image) if transposed else (image, gradient)
        of_filters = _of_filters(*pair, window, moves, groups)
    if output_mask[0]:
        of_image = _of_image(gradient, image, filters, moves, transposed, output_padding, groups)
    if output_mask[2]:
        of_bias = gradient.sum([0, *range(2, gradient.dim())])
    return of_image, of_filters, of_bias


def _of_image(
    gradient: Tensor,
    image: Tensor,
    filters: Tensor,
    moves: tuple[Sequence[int], Sequence[int], Sequence[int]],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Tensor:
    """The convolution the other way; what a stride had left over at the end gets no gradient."""
    stride, padding, dilation = moves
    deep = range(len(stride))
    if transposed:
        found = aten.convolution(gradient, filters, None, stride, padding, dilation, False, [0 for _ in deep], groups)
        for d in deep:
            if output_padding[d] >= stride[d]:  # it is longer than the image was
                found = aten.slice(found, 2 + d, 0, image.shape[2 + d])
        return found
    left = [
        image.shape[2 + d]
        - ((gradient.shape[2 + d] - 1) * stride[d] - 2 * padding[d] + dilation[d] * (filters.shape[2 + d] - 1) + 1)
        for d in deep
    ]
    is_known = all(isinstance(size, int) for size in (*filters.shape, *padding, *left))
    if is_known and groups > 1 and filters.shape[1] == 1:
        before = [dilation[d] * (filters.shape[2 + d] - 1) - padding[d] for d in deep]
        if min(before) >= 0 and min(left) >= 0:
            return _of_image_by_channel(gradient, filters, before, left, (stride, dilation), groups)
    return aten.convolution(gradient, filters, None, stride, padding, dilation, True, left, groups)


def _of_image_by_channel(
    gradient: Tensor,
    filters: Tensor,
    before: Sequence[int],
    left: Sequence[int],
    moves: tuple[Sequence[int], Sequence[int]],
    groups: int,
) -> Tensor:
    """A convolution of the gradient, with zeros between its pixels, and of the filters the other way round.

    torch-mlir has no lowering for a transposed convolution with a channel of its own for each filter.
    """
    stride, dilation = moves
    spread = gradient
    for d, step in enumerate(stride):
        if step > 1:
            at = 2 + d
            behind = spread.dim() - 1 - at
            wide = aten.constant_pad_nd(spread.unsqueeze(at + 1), [*[0, 0] * behind, 0, step - 1], 0.0)
            shape = [*spread.shape[:at], spread.shape[at] * step, *spread.shape[at + 1 :]]
            spread = aten.slice(wide.reshape(shape), at, 0, (spread.shape[at] - 1) * step + 1)
    if any(left):
        spread = aten.constant_pad_nd(spread, [side for size in reversed(left) for side in (0, size)], 0.0)
    outs, _, *window = filters.shape
    turned = filters.reshape(groups, outs // groups, *window).flip(list(range(2, filters.dim())))
    ones, none = [1 for _ in stride], [0 for _ in stride]
    return aten.convolution(spread, turned, None, ones, before, dilation, False, none, groups)


def _of_filters(
    image: Tensor,
    gradient: Tensor,
    window: Sequence[int],
    moves: tuple[Sequence[int], Sequence[int], Sequence[int]],
    groups: int,
) -> Tensor:
    """Of shape (output channels, input channels / groups, *window)."""
    stride, padding, dilation = moves
    pads = [side for size in reversed(padding) for side in (size, size)]
    padded = aten.constant_pad_nd(image, pads, 0.0) if any(padding) else image
    ins, outs = image.shape[1] // groups, gradient.shape[1] // groups
    sizes = gradient.shape[2:]
    product = _dots if ins == 1 and outs == 1 else _products
    right = _by_channel(gradient, groups)
    taps: list[Tensor] = []
    for tap in itertools.product(*map(range, window)):
        part = padded
        for d, place in enumerate(tap):
            start = place * dilation[d]
            part = aten.slice(part, 2 + d, start, start + (sizes[d] - 1) * stride[d] + 1, stride[d])
        taps.append(product(_by_channel(part, groups), right))
    if len(taps) == 1:
        return taps[0].reshape(groups * outs, ins, *window)
    return torch.stack(taps, -1).reshape(groups * outs, ins, *window)


def _by_channel(x: Tensor, groups: int) -> Tensor:
    """Of shape (groups, channels / groups, pixels of all images)."""
    return x.transpose(0, 1).reshape(groups, x.shape[1] // groups, -1)


def _products(image: Tensor, gradient: Tensor) -> Tensor:
    if image.shape[0] == 1:
        return aten.mm(gradient[0], image[0].t())
    return aten.bmm(gradient, image.transpose(1, 2)).flatten(0, 1)


def _dots(image: Tensor, gradient: Tensor) -> Tensor:
    """Where each channel has a filter of its own."""
    return (image * gradient).sum(-1)


def _weight_norm_backward(gradient: Tensor, v: Tensor, g: Tensor, norms: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """Of `w = v * (g / norms)`, where the norms of v are those along all dims but one."""
    others = [each for each in range(v.dim()) if each != dim % v.dim()]
    wide, of_w = v.to(norms.dtype), gradient.to(norms.dtype)
    along = (of_w * wide).sum(others, keepdim=True) / norms
    of_v = g / norms * (of_w - wide * (along / norms))
    return of_v.to(v.dtype), along.to(g.dtype)


def _softmax_backward(gradient: Tensor, output: Tensor, dim: int, input_dtype: torch.dtype) -> Tensor:
    """The gradient less its mean, weighed by the output, times the output, as PyTorch's kernel has it.

    PyTorch's decomposition multiplies first, and subtracts infinity from infinity where both products are.
    """
    wide = torch.promote_types(gradient.dtype, torch.float32)
    g, y = gradient.to(wide), output.to(wide)
    total = torch.sum(g * y, dim, keepdim=True)
    return ((g - total) * y).to(input_dtype)


GRADIENTS: dict[Any, Callable[..., Any]] = {
    aten._softmax_backward_data.default: _softmax_backward,
    aten.convolution_backward.default: _convolution_backward,
    aten._weight_norm_interface_backward.default: _weight_norm_backward,
}
