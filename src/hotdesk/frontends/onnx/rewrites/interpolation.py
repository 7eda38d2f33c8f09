"""Samples between elements: Resize in all its modes, GridSample in any number of dimensions, RoiAlign, DeformConv.

Resizing goes axis by axis. Along one, an element of the result lies at a coordinate of the input, of whose neighbours it is
a weighted sum; what depends on constant scales alone is folded. Samples at coordinates that a tensor holds are sums over the
corners around each (or 4 places in each direction, for cubic ones), which are rows of a matrix that has a row for each place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil, prod
from typing import Any

import numpy as np

from hotdesk.frontends.onnx.elements import F32, F64, I64
from hotdesk.frontends.onnx.rewrites.nodes import GraphWriter, NotRewritten, OnnxNode, OnnxTensor, Rewrites
from hotdesk.frontends.onnx.rewrites.reductions import all_of, selected

# Resize.


@dataclass(frozen=True, slots=True)
class _Axis:
    """One dimension that is resized: its sizes, and the scale and the region of interest as scalars of 64-bit floats."""

    axis: int
    size: int
    count: int
    scale: OnnxTensor
    region: tuple[OnnxTensor, OnnxTensor] | None


def _resize(op: OnnxNode) -> Any:
    """Before opset 11, coordinates had no name, and were those of the first element of each."""
    x, wanted = op.x, op.result_sizes()
    sizes = x.sizes
    if 0 in sizes or 0 in wanted:
        return NotImplemented
    axes = [each % x.rank for each in op.attribute("axes", range(x.rank))]
    mode = op.attribute("mode", "nearest")
    transform = op.attribute(
        "coordinate_transformation_mode", "half_pixel" if op.graph.first_opset > 10 else "asymmetric"
    )
    y = x if mode == "nearest" else x.cast(F32)
    for each in _axes(op, axes, sizes, wanted, transform):
        y = _resized(op, y, each, mode, transform)
    return y.cast(x.element)


def _axes(
    op: OnnxNode, axes: Sequence[int], sizes: Sequence[int], wanted: Sequence[int], transform: str
) -> list[_Axis]:
    """The dimensions that change, or may: those whose scale is 1 stay."""
    graph = op.graph
    scales, targets = _given(op, 2), _given(op, 3)
    policy = op.attribute("keep_aspect_ratio_policy", "stretch")
    region = _given(op, 1) if transform == "tf_crop_and_resize" else None
    made: list[_Axis] = []
    ratios: list[OnnxTensor] = []
    for place, axis in enumerate(axes):
        if scales is not None:
            ratios.append(scales.gather(place).cast(F64))
        elif targets is not None:
            ratios.append(targets.gather(place).cast(F64) / float(sizes[axis]))
        else:
            raise NotRewritten("scales or sizes", "neither")
    if targets is not None and policy != "stretch":
        kind = "Min" if policy == "not_larger" else "Max"
        ratios = [graph.op(kind, *ratios)] * len(ratios)
    for place, axis in enumerate(axes):
        scale = ratios[place]
        if region is None and scale.constant is not None and scale.constant == 1.0:
            continue
        ends = region and tuple(region.gather(each).cast(F64) for each in (place, place + len(axes)))
        made.append(_Axis(axis, sizes[axis], wanted[axis], scale, ends or None))  # pyright: ignore[reportArgumentType]
    return made


def _given(op: OnnxNode, number: int) -> OnnxTensor | None:
    """An optional input that is not empty."""
    value = op.optional(number)
    return None if value is None or value.shape == (0,) else value


def _resized(op: OnnxNode, x: OnnxTensor, at: _Axis, mode: str, transform: str) -> OnnxTensor:
    graph = op.graph
    places = _coordinates(graph, at, transform)
    if mode == "nearest":
        y = x.gather(
            _checked(
                op,
                at,
                _nearest(
                    places,
                    op.attribute("nearest_mode", "round_prefer_floor" if op.graph.first_opset > 10 else "floor"),
                    at.size,
                ),
            ),
            at.axis,
        )
    else:
        y = _weighted(op, x, at, places, mode)
    if transform != "tf_crop_and_resize":
        return y
    outside = (places < 0.0) | (places > float(at.size - 1))
    return outside.reshape(at.count, *[1] * (x.rank - at.axis - 1)).where(op.attribute("extrapolation_value", 0.0), y)


def _coordinates(graph: GraphWriter, at: _Axis, transform: str) -> OnnxTensor:
    """Where the elements of the result lie, as 64-bit floats."""
    y, scale, size = graph.arange(at.count, F64), at.scale, float(at.size)
    length = scale * size
    centres = (y + 0.5) / scale - 0.5
    match transform:
        case "asymmetric":
            return y / scale
        case "half_pixel":
            return centres
        case "pytorch_half_pixel":
            return length.equals(1.0).where(-0.5, centres)
        case "half_pixel_symmetric":
            return centres + (1.0 - graph.value(np.float64(at.count)) / length) * (size / 2)
        case "align_corners":
            return length.equals(1.0).where(0.0, y * (size - 1) / length.equals(1.0).where(1.0, length - 1.0))
        case "tf_crop_and_resize" if at.region is not None:
            start, end = at.region
            span = (end - start) * (size - 1)
            return start * (size - 1) + length.equals(1.0).where(
                span / 2.0, y * span / length.equals(1.0).where(1.0, length - 1.0)
            )
        case _:
            raise NotRewritten("a coordinate_transformation_mode of ONNX's", repr(transform))


def _nearest(places: OnnxTensor, mode: str, size: int) -> OnnxTensor:
    def rounded(kind: str, x: OnnxTensor) -> OnnxTensor:
        return x.graph.op(kind, x)

    match mode:
        case "round_prefer_floor":
            found = rounded("Ceil", places - 0.5)
        case "round_prefer_ceil":
            found = rounded("Floor", places + 0.5)
        case "floor" | "ceil":
            found = rounded(mode.capitalize(), places)
        case _:
            raise NotRewritten("a nearest_mode of ONNX's", repr(mode))
    return found.cast(I64).clip(0, size - 1)


def _checked(op: OnnxNode, at: _Axis, indices: OnnxTensor) -> OnnxTensor:
    """Indices, if the scale gives the size that is declared."""
    if op.attribute("keep_aspect_ratio_policy", "stretch") != "stretch" and _given(op, 3) is not None:
        length = op.graph.op("Floor", at.scale * float(at.size) + 0.5)
    else:
        length = op.graph.op("Floor", at.scale * float(at.size) + (0.0 if _given(op, 3) is None else 1e-6))
    return op.graph.checked(indices, length.cast(I64).equals(at.count))


def _weighted(op: OnnxNode, x: OnnxTensor, at: _Axis, places: OnnxTensor, mode: str) -> OnnxTensor:
    """Sums of neighbours: of 2 for linear, 4 for cubic ones, of as many as the scale says with `antialias`."""
    graph, linear = op.graph, mode == "linear"
    kernel = _linear if linear else _cubic(op.attribute("cubic_coeff_a", -0.75))
    if op.attribute("antialias", 0):
        return _antialiased(op, x, at, places, kernel, 1 if linear else 2)
    base = graph.op("Floor", places)
    offsets = (0, 1) if linear else (-1, 0, 1, 2)
    weights = [kernel(base + offset - places) for offset in offsets]
    taps = [(base.cast(I64) + offset) for offset in offsets]
    if op.attribute("exclude_outside", 0):
        inside = [(tap >= 0) & (tap < at.size) for tap in taps]
        weights = [each.where(weight, 0.0) for each, weight in zip(inside, weights, strict=True)]
        total = _sum(weights)
        weights = [weight / total for weight in weights]
    shape = (at.count, *[1] * (x.rank - at.axis - 1))
    return _sum(
        [
            x.gather(_checked(op, at, tap.clip(0, at.size - 1)), at.axis) * weight.cast(F32).reshape(*shape)
            for tap, weight in zip(taps, weights, strict=True)
        ]
    )


def _antialiased(op: OnnxNode, x: OnnxTensor, at: _Axis, places: OnnxTensor, kernel: Any, reach: int) -> OnnxTensor:
    """A product with a matrix of weights; elements outside are those at the edge."""
    graph = op.graph
    margin = ceil(reach * max(1.0, (at.size + 1) / at.count)) + 1
    positions = np.arange(-margin, at.size + margin)
    distance = graph.value(positions.astype(np.float64)).reshape(1, -1) - places.reshape(-1, 1)
    weights = kernel(distance * graph.op("Min", at.scale, graph.value(np.float64(1.0))))
    if op.attribute("exclude_outside", 0):
        weights = weights * graph.value(((positions >= 0) & (positions < at.size)).astype(np.float64))
    weights = weights / weights.reduce("Sum", [1], keepdims=True)
    folded = np.minimum(np.maximum(positions, 0), at.size - 1)[:, None] == np.arange(at.size)
    matrix = (weights @ graph.value(folded.astype(np.float64))).cast(F32)
    matrix = matrix.gather(_checked(op, at, graph.arange(at.count)))
    return (x.move(at.axis, -1) @ matrix.transpose(1, 0)).move(-1, at.axis)


def _linear(distance: OnnxTensor) -> OnnxTensor:
    return (1.0 - distance.graph.op("Abs", distance)).clip(0.0, 1.0)


def _cubic(a: float) -> Callable[[OnnxTensor], OnnxTensor]:
    """Keys's kernel (1981) with a parameter."""

    def kernel(distance: OnnxTensor) -> OnnxTensor:
        d = distance.graph.op("Abs", distance)
        near = ((d * (a + 2) - (a + 3)) * d * d) + 1.0
        far = ((d * a - 5 * a) * d + 8 * a) * d - 4 * a
        return (d <= 1.0).where(near, (d < 2.0).where(far, 0.0))

    return kernel


def _sum(values: Sequence[OnnxTensor]) -> OnnxTensor:
    total = values[0]
    for each in values[1:]:
        total = total + each
    return total


# Samples at given coordinates.


def sampled(
    x: OnnxTensor, coordinates: Sequence[OnnxTensor], mode: str = "linear", padding: str = "zeros", align: bool = True
) -> OnnxTensor:
    """Elements of `x` f32[N, C, D…] at coordinates, for each of the dimensions D one f32[N, P]: f32[N, P, C].

    Args:
        mode: linear, nearest or cubic.
        padding: what is outside: zeros, border or reflection.
        align: whether reflection is at the centres of the elements at the edge, and not at their outer ends.
    """
    graph, (batch, channels, *sizes) = x.graph, x.sizes
    rows = x.reshape(batch, channels, prod(sizes)).transpose(0, 2, 1).reshape(batch * prod(sizes), channels)
    taps, kernel = {
        "linear": ((0, 1), _linear),
        "nearest": ((0,), None),
        "cubic": ((-1, 0, 1, 2), _cubic(-0.75)),
    }[mode]
    if mode == "nearest":
        coordinates = [graph.op("Round", each) for each in coordinates]
    if mode != "cubic":  # whose weights are those of where a point is, each of its taps inside by itself
        coordinates = [_within(each, size, padding, align) for each, size in zip(coordinates, sizes, strict=True)]
    bases = [graph.op("Floor", each) for each in coordinates]
    first = graph.value(np.arange(batch, dtype=np.int64)[:, None] * prod(sizes))
    parts: list[OnnxTensor] = []
    for corner in product(taps, repeat=len(sizes)):
        index, weight = None, None
        for base, place, offset, size in zip(bases, coordinates, corner, sizes, strict=True):
            at = base + float(offset)
            factors = [kernel(at - place)] if kernel is not None else []
            if padding == "zeros":
                factors.append(((at >= 0.0) & (at <= float(size - 1))).cast(F32))
            elif padding == "reflection":
                at = _reflected(at, size, align)
            for factor in factors:
                weight = factor if weight is None else weight * factor
            at = at.clip(0.0, float(size - 1)).cast(I64)
            index = at if index is None else index * size + at
        assert index is not None
        part = rows.gather(index + first)
        parts.append(part if weight is None else part * weight.unsqueeze(2))
    return _sum(parts)


def _within(place: OnnxTensor, size: int, padding: str, align: bool) -> OnnxTensor:
    if padding == "border":
        return place.clip(0.0, float(size - 1))
    return _reflected(place, size, align) if padding == "reflection" else place


def _reflected(place: OnnxTensor, size: int, align: bool) -> OnnxTensor:
    """A coordinate outside as the one inside that a mirror at each end shows."""
    low, high = (0.0, float(size - 1)) if align else (-0.5, size - 0.5)
    span = high - low
    if not span:
        return place * 0.0
    graph = place.graph
    distance = graph.op("Abs", place - low)
    turn = distance - graph.op("Floor", distance / (2 * span)) * (2 * span)
    return (turn > span).where(2 * span - turn, turn) + low


def _grid_sample(op: OnnxNode) -> Any:
    x, grid = op.x, op.tensor(1)
    batch, channels, *sizes = x.sizes
    align = bool(op.attribute("align_corners", 0))
    mode = str(op.attribute("mode", "linear")).removeprefix("bi")  # as it was before opset 20
    points = grid.sizes[1:-1]
    if not prod((batch, channels, *sizes, *points)):
        raise NotRewritten("tensors with elements", "none")
    flat = grid.cast(F32).reshape(batch, prod(points), len(sizes))
    coordinates: list[OnnxTensor] = []
    for number, size in enumerate(sizes):
        n = flat.gather(len(sizes) - 1 - number, 2)
        coordinates.append((n + 1.0) * ((size - 1) / 2) if align else ((n + 1.0) * float(size) - 1.0) / 2.0)
    found = sampled(x.cast(F32), coordinates, mode, op.attribute("padding_mode", "zeros"), align)
    return found.transpose(0, 2, 1).reshape(batch, channels, *points).cast(x.element)


def _affine_grid(op: OnnxNode) -> Any:
    """Where the points of a grid lie in another: products of a matrix for each image with coordinates from -1 to 1."""
    theta, size = op.x, op.tensor(1)
    batch, *sizes, count = op.result_sizes()
    align = bool(op.attribute("align_corners", 0))
    lines = [np.linspace(-1, 1, each) if align else (2 * np.arange(each) + 1) / each - 1 for each in sizes]
    grids: Any = np.meshgrid(*lines, indexing="ij")
    rows = np.stack([*(each.reshape(-1) for each in grids[::-1]), np.ones(prod(sizes))], 1)
    grid = op.graph.value(rows, theta) @ theta.transpose(0, 2, 1)
    grid = grid.reshape(batch, *sizes, count)
    channels = size.gather([1])
    wanted = op.graph.concat([op.graph.value([batch]), channels, op.graph.value(sizes)], 0)
    return selected([grid], [all_of(size.equals(wanted))]) if size.constant is None else grid


def _roi_align(op: OnnxNode) -> Any:
    x, rois, batches = op.x, op.tensor(1), op.tensor(2)
    _, channels, height, width = x.sizes
    count = rois.sizes[0]
    samples: int = op.attribute("sampling_ratio", 0)
    if samples <= 0:
        raise NotRewritten("a sampling_ratio from 1 on", str(samples))
    half = op.attribute("coordinate_transformation_mode", "half_pixel" if op.graph.opset >= 16 else "") == "half_pixel"
    rows: int = op.attribute("output_height", 1)
    columns: int = op.attribute("output_width", 1)
    corners = rois.cast(F32) * op.attribute("spatial_scale", 1.0) - (0.5 if half else 0.0)
    left, top, right, bottom = (corners.gather([each], 1) for each in range(4))

    def along(start: OnnxTensor, end: OnnxTensor, bins: int) -> OnnxTensor:
        length = end - start if half else op.graph.op("Max", end - start, op.graph.floats(1.0))
        fractions = (np.arange(bins * samples) + 0.5) / (samples * bins)
        return start + length * op.graph.floats(fractions[None])

    ys, xs = along(top, bottom, rows), along(left, right, columns)
    shape = (count, rows * samples, columns * samples)
    points = [ys.unsqueeze(2).expand(*shape).reshape(count, -1), xs.unsqueeze(1).expand(*shape).reshape(count, -1)]
    image = x.cast(F32).gather(batches, 0)
    parts = _corners(image, points, (height, width))
    pooled_max = op.attribute("mode", "avg") == "max"
    value = op.graph.op("Max", *parts) if pooled_max else _sum(parts)
    value = value.reshape(count, rows, samples, columns, samples, channels)
    value = value.reduce("Max" if pooled_max else "Mean", [2, 4])
    return value.transpose(0, 3, 1, 2).cast(x.element)


def _corners(image: OnnxTensor, points: Sequence[OnnxTensor], sizes: Sequence[int]) -> list[OnnxTensor]:
    """The four weighted corners around points, none for a point more than one element outside: f32[N, P, C] each."""
    graph, (count, channels, *_) = image.graph, image.sizes
    inside, near = None, list[OnnxTensor]()
    for place, size in zip(points, sizes, strict=True):
        here = (place >= -1.0) & (place <= float(size))
        inside = here if inside is None else inside & here
        near.append(place.clip(0.0, float(size - 1)))
    assert inside is not None
    weight = inside.cast(F32)
    rows = image.reshape(count, channels, prod(sizes)).transpose(0, 2, 1).reshape(count * prod(sizes), channels)
    first = graph.value(np.arange(count, dtype=np.int64)[:, None] * prod(sizes))
    parts: list[OnnxTensor] = []
    for corner in product((0, 1), repeat=2):
        index, factor = None, weight
        for place, size, offset in zip(near, sizes, corner, strict=True):
            base = graph.op("Floor", place)
            factor = factor * _linear(base + float(offset) - place)
            at = (base + float(offset)).clip(0.0, float(size - 1)).cast(I64)
            index = at if index is None else index * size + at
        assert index is not None
        parts.append(rows.gather(index + first) * factor.unsqueeze(2))
    return parts


def _deform_conv(op: OnnxNode) -> Any:
    x, weights, offsets = op.x, op.tensor(1), op.tensor(2)
    bias, mask = op.optional(3), op.optional(4)
    batch, channels, *sizes = x.sizes
    if len(sizes) != 2:
        raise NotRewritten("images of two dimensions", f"{len(sizes)}")
    outs, per_group, *kernel = weights.sizes
    result = offsets.sizes[2:]
    taps, count = prod(kernel), prod(result)
    groups, own = op.attribute("group", 1), op.attribute("offset_group", 1)
    strides, pads = op.attribute("strides", [1, 1]), op.attribute("pads", [0] * 4)
    dilations = op.attribute("dilations", [1, 1])
    starts = np.stack(
        [
            each.reshape(taps, 1) * dilation + at.reshape(1, count) * stride - pad
            for each, at, dilation, stride, pad in zip(
                np.indices(kernel), np.indices(result), dilations, strides, pads, strict=False
            )
        ]
    )
    moved = offsets.cast(F32).reshape(batch, own, taps, 2, count)
    points = [
        (moved.gather(each, 3) + op.graph.floats(starts[each])).reshape(batch * own, taps * count) for each in range(2)
    ]
    split = x.cast(F32).reshape(batch * own, channels // own, *sizes)
    columns = sampled(split, points).reshape(batch, own, taps, count, channels // own)
    if mask is not None:
        columns = columns * mask.cast(F32).reshape(batch, own, taps, count, 1)
    columns = columns.transpose(0, 1, 4, 2, 3).reshape(batch, groups, per_group * taps, count)
    product_ = weights.cast(F32).reshape(1, groups, outs // groups, per_group * taps) @ columns
    y = product_.reshape(batch, outs, *result)
    y = y if bias is None else y + bias.cast(F32).reshape(1, outs, 1, 1)
    return y.cast(x.element)


REWRITES: Rewrites = {
    "AffineGrid": _affine_grid,
    "DeformConv": _deform_conv,
    "GridSample": _grid_sample,
    "Resize": _resize,
    "RoiAlign": _roi_align,
}
