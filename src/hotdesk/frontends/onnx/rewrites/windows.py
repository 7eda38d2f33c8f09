"""Sliding windows: pooling by norms, what undoes pooling and unfolding, and convolutions in forms that have no lowering."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from hotdesk.frontends.onnx.elements import I32
from hotdesk.frontends.onnx.rewrites.nodes import NotRewritten, OnnxNode, OnnxTensor, Rewrites
from hotdesk.frontends.onnx.rewrites.reductions import all_of, selected


def _pads(op: OnnxNode, sizes: Sequence[int | None], kernel: Sequence[int]) -> list[int]:
    """How much is put around each dimension: in front of all, then behind them. With steps of 1 no size matters."""
    count = len(kernel)
    strides, dilations = op.attribute("strides", [1] * count), op.attribute("dilations", [1] * count)
    mode = op.attribute("auto_pad", "NOTSET")
    if mode == "NOTSET":
        return op.attribute("pads", [0] * (2 * count))
    if mode == "VALID":
        return [0] * (2 * count)
    if any(size is None and stride > 1 for size, stride in zip(sizes, strides, strict=True)):
        raise NotRewritten(f"sizes that are numbers, of which the pads of {mode} depend", "open ones")
    total = [
        max(0, (-(-(size or 1) // stride) - 1) * stride + (width - 1) * dilation + 1 - (size or 1))
        for size, width, stride, dilation in zip(sizes, kernel, strides, dilations, strict=True)
    ]
    less, more = [each // 2 for each in total], [each - each // 2 for each in total]
    return less + more if mode == "SAME_UPPER" else more + less


def padded(x: OnnxTensor, pads: Sequence[int], value: Any = 0) -> OnnxTensor:
    """The last dimensions of a tensor with a number around them."""
    count = len(pads) // 2
    if not any(pads):
        return x
    lead = [0] * (x.rank - count)
    return x.graph.op("Pad", x, [*lead, *pads[:count], *lead, *pads[count:]], x.graph.value(value, x))


def _lp_pool(op: OnnxNode) -> Any:
    x, p, kernel = op.x, op.attribute("p", 2), op.attribute("kernel_shape")
    if op.attribute("ceil_mode", 0):
        raise NotRewritten("ceil_mode 0", "1")
    strides, dilations = op.attribute("strides", [1] * len(kernel)), op.attribute("dilations", [1] * len(kernel))
    pads = _pads(op, x.sizes[2:], kernel)
    power = op.graph.op("Abs", x) if p == 1 else op.graph.op("Pow", op.graph.op("Abs", x), op.graph.value(p, x))
    spacing = {} if all(each == 1 for each in dilations) else {"dilations": dilations}
    mean = op.graph.op("AveragePool", padded(power, pads), kernel_shape=kernel, strides=strides, **spacing)
    total = mean * float(prod(kernel))
    return total if p == 1 else op.graph.op("Pow", total, op.graph.value(1.0 / p, x))


def _max_pool(op: OnnxNode) -> Any:
    """Places in the whole tensor: the lowering counts them in the plane of a channel, around which uneven pads are put."""
    x, count = op.x, op.x.rank - 2
    if len(op.node.output) < 2 or not x.is_float:
        return _pool(op)
    sizes, pads = x.sizes[2:], _pads(op, x.sizes[2:], op.attribute("kernel_shape"))
    is_even = pads[:count] == pads[count:]
    if not is_even and op.attribute("ceil_mode", 0):
        raise NotRewritten("even pads with ceil_mode 1", str(pads))
    wide = x if is_even else padded(x, pads, -np.inf)
    y, left = op.as_is(wide, pads=pads if is_even else None, auto_pad=None, storage_order=0)
    by_column = bool(op.attribute("storage_order", 0))
    places = op.graph.arange(prod(x.sizes[:2])).reshape(*x.sizes[:2], *[1] * count) * prod(sizes)
    for axis in range(count)[::-1]:
        place, left = left % wide.sizes[2 + axis], left / wide.sizes[2 + axis]
        place = place if is_even else (place - pads[axis]).clip(0, sizes[axis] - 1)
        places = places + place * prod(sizes[:axis] if by_column else sizes[axis + 1 :])
    return [y, places]


def _pool(op: OnnxNode) -> Any:
    """Where sizes are open, what a mode asks for, and uneven pads of a greatest element, are put around the tensor first: the
    lowering computes with sizes that it takes for -1."""
    x, is_mean = op.x, op.node.op_type == "AveragePool"
    count, mode = x.rank - 2, op.attribute("auto_pad", "NOTSET")
    said: list[int] = op.attribute("pads", [0] * 2 * count)
    is_even = mode == "NOTSET" and (is_mean or said[:count] == said[count:])
    if None not in x.shape[2:] or mode == "VALID" or is_even:
        return NotImplemented
    if op.attribute("ceil_mode", 0):
        raise NotRewritten("sizes that are numbers, for such pads with ceil_mode 1", "open ones")
    kernel, strides = op.attribute("kernel_shape"), op.attribute("strides", [1] * count)
    steps = zip(x.shape[2:], strides, strict=True)
    if mode == "NOTSET" or all(size is not None or stride == 1 for size, stride in steps):
        pads = _pads(op, x.shape[2:], kernel)
        if is_mean or pads[:count] == pads[count:]:
            return op.like(x, auto_pad=None, pads=pads)
        return op.like(padded(x, pads, _least(x)), auto_pad=None, pads=None)
    pads = _pads_of_open_sizes(op, kernel)
    if not is_mean:
        return op.like(_around(x, pads, _least(x)), auto_pad=None, pads=None)
    mean = op.like(_around(x, pads, 0), auto_pad=None, pads=None, count_include_pad=None)
    if op.attribute("count_include_pad", 0):
        return mean
    image = op.graph.op("Shape", x).gather(list(range(2, x.rank)))
    ones = op.graph.op(
        "Expand", op.graph.value(1, x), op.graph.concat([op.graph.value(np.ones(2, np.int64)), image], 0)
    )
    return mean / op.like(_around(ones, pads, 0), auto_pad=None, pads=None, count_include_pad=None)


def _around(x: OnnxTensor, pads: OnnxTensor, value: Any) -> OnnxTensor:
    return x.graph.op("Pad", x, pads, x.graph.value(value, x))


def _least(x: OnnxTensor) -> Any:
    """What no element is less than."""
    from onnx import helper

    kind: Any = helper.tensor_dtype_to_np_dtype(x.element)
    return -np.inf if x.is_float else np.iinfo(kind).min


def _pads_of_open_sizes(op: OnnxNode, kernel: Sequence[int]) -> OnnxTensor:
    """As `_pads` for `auto_pad`, for all dimensions, and computed when the program runs."""
    x, graph, count = op.x, op.graph, len(kernel)
    strides, dilations = op.attribute("strides", [1] * count), op.attribute("dilations", [1] * count)
    sizes = graph.op("Shape", x)
    less: list[OnnxTensor] = []
    more: list[OnnxTensor] = []
    for axis, (width, stride, dilation) in enumerate(zip(kernel, strides, dilations, strict=True)):
        wide = (width - 1) * dilation
        if wide + 1 < stride:
            raise NotRewritten("windows that leave nothing out", f"one of {wide + 1} in {stride}")
        last = sizes.gather([2 + axis]) - 1
        total = wide + (last / stride) * stride - last
        less.append(total / 2)
        more.append(total - total / 2)
    ends = (less, more) if op.attribute("auto_pad") == "SAME_UPPER" else (more, less)
    none = [graph.value(np.zeros(2, np.int64))]
    return graph.concat([*none, *ends[0], *none, *ends[1]], 0)


def _max_unpool(op: OnnxNode) -> Any:
    x, places, given = op.x, op.tensor(1), op.optional(2)
    kernel = op.attribute("kernel_shape")
    strides, pads = op.attribute("strides", [1] * len(kernel)), op.attribute("pads", [0] * 2 * len(kernel))
    spatial = [
        (size - 1) * stride - pads[each] - pads[each + len(kernel)] + width
        for each, (size, stride, width) in enumerate(zip(x.sizes[2:], strides, kernel, strict=True))
    ]
    sizes = (*x.sizes[:2], *spatial)
    wanted = op.result_sizes() if given is not None else sizes
    empty = op.graph.op("ConstantOfShape", [prod(sizes)]).cast(x.element)
    y = op.graph.op("ScatterElements", empty, places.reshape(-1), x.reshape(-1), axis=0).reshape(*sizes)
    y = padded(y, [0] * len(kernel) + [a - b for a, b in zip(wanted[2:], spatial, strict=True)])
    if given is None or given.constant is not None:
        return y
    return selected([y], [all_of(given.equals(list(wanted)))])


def _fold(op: OnnxNode) -> Any:
    """Blocks put back into an image, added where they overlap."""
    x, shape, block = op.x, op.tensor(1), op.tensor(2)
    _, channels, *image = op.result_sizes()
    taps = x.sizes[1] // channels
    known = block.constant
    widths = [tuple(int(each) for each in known)] if known is not None else _factors(taps, len(image))
    made = [(width, y) for width in widths if (y := _folded(op, x, channels, image, width)) is not None]
    if not made:
        raise NotRewritten("a block that goes with the declared sizes", "none")
    if known is not None and shape.constant is not None:
        return made[0][1]
    right = all_of(shape.equals(list(image)))
    return selected([y for _, y in made], [right & all_of(block.equals(list(width))) for width, _ in made])


def _factors(number: int, count: int) -> list[tuple[int, ...]]:
    """All ways to write a number as a product of so many."""
    if count == 1:
        return [(number,)]
    return [
        (first, *rest)
        for first in range(1, number + 1)
        if number % first == 0
        for rest in _factors(number // first, count - 1)
    ]


def _folded(
    op: OnnxNode, x: OnnxTensor, channels: int, image: Sequence[int], widths: Sequence[int]
) -> OnnxTensor | None:
    count = len(image)
    strides, dilations = op.attribute("strides", [1] * count), op.attribute("dilations", [1] * count)
    pads = op.attribute("pads", [0] * 2 * count)
    sizes = [image[each] + pads[each] + pads[each + count] for each in range(count)]
    blocks = [
        (size - dilation * (width - 1) - 1) // stride + 1
        for size, dilation, width, stride in zip(sizes, dilations, widths, strides, strict=True)
    ]
    if min(blocks) < 1 or prod(blocks) != x.sizes[2]:
        return None
    places: Any = np.zeros((prod(widths), prod(blocks)), np.int64)
    for each in range(count):
        tap = np.indices(widths)[each].reshape(-1, 1) * dilations[each]
        places = places * sizes[each] + tap + np.indices(blocks)[each].reshape(1, -1) * strides[each]
    rows = x.sizes[0] * channels
    flat = x.reshape(rows, places.size)
    empty = op.graph.op("ConstantOfShape", [rows, prod(sizes)]).cast(x.element)
    indices = op.graph.value(places.reshape(1, -1)).expand(rows, places.size)
    y = op.graph.op("ScatterElements", empty, indices, flat, axis=1, reduction="add")
    y = y.reshape(x.sizes[0], channels, *sizes)
    for each in range(count):
        y = y.slice(2 + each, pads[each], pads[each] + image[each])
    return y


def _conv_integer(op: OnnxNode) -> Any:
    """Pads of the zero point, and zero points of weights by channel: what they take away is a convolution with ones."""
    x, weights, zero, zeros = op.x, op.tensor(1), op.optional(2), op.optional(3)
    pads = _pads(op, x.sizes[2:], op.attribute("kernel_shape", list(weights.sizes[2:])))
    by_channel = zeros is not None and zeros.rank == 1 and zeros.shape != (1,)
    if not (any(pads) or by_channel) or (zero is not None and zero.rank and zero.shape != (1,)):
        return NotImplemented
    if by_channel and op.attribute("group", 1) != 1:
        raise NotRewritten("one group", "several")
    moved = x.cast(I32) if zero is None else x.cast(I32) - zero.cast(I32).reshape()
    ends = padded(moved, pads)
    ends = (ends if zero is None else ends + zero.cast(I32).reshape()).cast(x.element)
    if not by_channel or zeros is None:
        return op.like(ends, weights, zero, zeros, pads=None, auto_pad=None)
    ones = op.graph.value(np.ones((1, *weights.sizes[1:])), weights)
    whole, sums = (op.like(ends, each, zero, None, pads=None, auto_pad=None) for each in (weights, ones))
    return whole - zeros.cast(I32).reshape(1, -1, *[1] * (x.rank - 2)) * sums


def _conv_transpose(op: OnnxNode) -> Any:
    """Each group by itself, and a result that is cut unevenly as a part of the whole."""
    x, weights, bias = op.x, op.tensor(1), op.optional(2)
    groups, spatial = op.attribute("group", 1), x.rank - 2
    pads = op.attribute("pads", [0] * 2 * spatial)
    declared = (
        op.attribute("auto_pad", "NOTSET") in ("SAME_UPPER", "SAME_LOWER") or op.attribute("output_shape") is not None
    )
    if declared or pads[:spatial] != pads[spatial:]:
        return _cut(op, x, weights, pads)
    if groups == 1:
        return NotImplemented
    width, rows = x.sizes[1] // groups, weights.sizes[0] // groups
    parts = [
        op.like(x.slice(1, each * width, (each + 1) * width), weights.slice(0, each * rows, (each + 1) * rows), group=1)
        for each in range(groups)
    ]
    y = op.graph.concat(parts, 1)
    return y if bias is None else y + bias.reshape(1, -1, *[1] * spatial)


def _cut(op: OnnxNode, x: OnnxTensor, weights: OnnxTensor, pads: Sequence[int]) -> OnnxTensor:
    """The whole result without what is beyond the declared sizes: the odd element at the end, or with SAME_LOWER in front."""
    count, wanted = x.rank - 2, op.result_sizes()[2:]
    kernel = op.attribute("kernel_shape", list(weights.sizes[2:]))
    strides, dilations = op.attribute("strides", [1] * count), op.attribute("dilations", [1] * count)
    extra = op.attribute("output_padding", [0] * count)
    mode = op.attribute("auto_pad", "NOTSET")
    y = op.like(*op.inputs, auto_pad=None, output_shape=None, pads=None)
    for each in range(count):
        whole = strides[each] * (x.sizes[2 + each] - 1) + extra[each] + (kernel[each] - 1) * dilations[each] + 1
        total = whole - wanted[each]
        if total < 0:
            raise NotRewritten("a result no larger than the whole", str(wanted))
        given = mode == "NOTSET" and op.attribute("output_shape") is None
        start = pads[each] if given else total - total // 2 if mode != "SAME_UPPER" else total // 2
        y = y.slice(2 + each, start, start + wanted[each])
    return y


REWRITES: Rewrites = {
    "AveragePool": _pool,
    "Col2Im": _fold,
    "ConvInteger": _conv_integer,
    "ConvTranspose": _conv_transpose,
    "LpPool": _lp_pool,
    "MaxPool": _max_pool,
    "MaxUnpool": _max_unpool,
}
