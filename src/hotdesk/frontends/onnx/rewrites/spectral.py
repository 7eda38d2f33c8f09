"""Fourier transforms as products with matrices of cosines and sines: DFT, its inverse, and STFT on frames."""

from __future__ import annotations

from typing import Any

import numpy as np

from hotdesk.frontends.onnx.elements import I64
from hotdesk.frontends.onnx.rewrites.nodes import GraphWriter, NotRewritten, OnnxNode, OnnxTensor, Rewrites
from hotdesk.frontends.onnx.rewrites.reductions import selected


def _matrices(graph: GraphWriter, rows: int, columns: int, length: int, like: int) -> tuple[OnnxTensor, OnnxTensor]:
    """Cosines and sines of 2π r c / length, for so many rows r and columns c. Angles are whole parts of a turn, exactly."""
    turns = graph.arange(rows).reshape(rows, 1) * graph.arange(columns).reshape(1, columns) % length
    steps = np.arange(length) * (2 * np.pi / length)
    cosines, sines = (graph.value(each).cast(like) for each in (np.cos(steps), np.sin(steps)))
    return cosines.gather(turns), sines.gather(turns)


def transformed(x: OnnxTensor, axis: int, length: int, inverse: bool = False, onesided: bool = False) -> OnnxTensor:
    """The transform of `x` f32[…, n, …, 1 or 2] along an axis, of a length to which it is cut or filled with zeros.

    One-sided ones give the first half of the result; of an inverse, the first half is given, and the result is real.
    """
    graph = x.graph
    whole = length // 2 + 1 if onesided else length
    given = whole if inverse and onesided else length
    x = x.move(axis, -2)
    x = x.slice(-2, 0, given) if x.sizes[-2] > given else x
    real = x.gather(0, -1)
    imaginary = x.gather(1, -1) if x.sizes[-1] == 2 else None
    columns = length if inverse else whole
    cosines, sines = _matrices(graph, x.sizes[-2], columns, length, x.element)
    if inverse and onesided:
        return _real_inverse(real, imaginary, cosines, sines, length).unsqueeze(x.rank - 1).move(-2, axis)
    sign = 1 if inverse else -1
    a, b = real @ cosines, real @ sines
    if imaginary is not None:
        c, d = imaginary @ sines, imaginary @ cosines
        a, b = (a - c, b + d) if sign > 0 else (a + c, d - b)
    elif sign < 0:
        b = -b
    y = graph.concat([a.unsqueeze(x.rank - 1), b.unsqueeze(x.rank - 1)], x.rank - 1)
    return (y / float(length) if inverse else y).move(-2, axis)


def _real_inverse(
    real: OnnxTensor, imaginary: OnnxTensor | None, cosines: OnnxTensor, sines: OnnxTensor, length: int
) -> OnnxTensor:
    """The real signal of half a spectrum, whose other half is its mirror image: all but the ends count twice."""
    count = real.sizes[-1]
    twice = np.full(count, 2.0)
    twice[0] = 1.0
    if length % 2 == 0 and count == length // 2 + 1:
        twice[-1] = 1.0
    weights = real.graph.value(twice / length, real)
    y = (real * weights) @ cosines
    return y if imaginary is None else y - (imaginary * weights) @ sines


def _transform(op: OnnxNode) -> Any:
    x, length = op.x, op.optional(1)
    inverse, onesided = bool(op.attribute("inverse", 0)), bool(op.attribute("onesided", 0))
    axis = op.optional(2)
    if axis is None:
        axes = [op.attribute("axis", 1 if op.graph.opset < 20 else -2) % x.rank]
    elif axis.constant is not None:
        axes = [int(axis.constant.reshape(())) % x.rank]
    else:
        axes = list(range(x.rank - 1))
    wanted = op.result(0) if axis is not None and axis.constant is None else None
    made: list[OnnxTensor] = []
    kept: list[int] = []
    for each in axes:
        count = _length(length, x.sizes[each], inverse and onesided)
        if count < 1:
            continue
        y = transformed(x, each, count, inverse, onesided)
        if wanted is None or y.sizes == op.result_sizes():
            made.append(y)
            kept.append(each)
    if axis is None or axis.constant is not None:
        return made[0]
    if not made:
        raise NotRewritten("an axis that gives the declared sizes", "none")
    scalar = axis.reshape()
    return selected(made, [scalar.equals(each) | scalar.equals(each - x.rank) for each in kept])


def _length(length: OnnxTensor | None, size: int, is_half: bool) -> int:
    if length is None:
        return 2 * (size - 1) if is_half else size
    if length.constant is None:
        raise NotRewritten("a length that is constant", "another")
    return int(length.constant.reshape(()))


def _short_time(op: OnnxNode) -> Any:
    x, step, window, length = op.x, op.tensor(1), op.optional(2), op.optional(3)
    onesided = bool(op.attribute("onesided", 1))
    x = x.unsqueeze(2) if x.rank == 2 else x
    _, frames, bins, _ = op.result_sizes()
    if window is not None:
        counts = [window.sizes[0]]
    elif length is not None and length.constant is not None:
        counts = [int(length.constant.reshape(()))]
    else:
        counts = [2 * bins - 2, 2 * bins - 1] if onesided else [bins]
    counts = [count for count in counts if 1 <= count <= x.sizes[1]]
    step = step.cast(I64).reshape()
    made = [_frames(x, step, window, count, frames, onesided) for count in counts]
    right = [((step * 0 + (x.sizes[1] - count)) / step).equals(frames - 1) for count in counts]
    if length is not None:
        right = [each & length.reshape().equals(count) for each, count in zip(right, counts, strict=True)]
    return selected(made, right)


def _frames(
    x: OnnxTensor, step: OnnxTensor, window: OnnxTensor | None, count: int, frames: int, onesided: bool
) -> OnnxTensor:
    """The transforms of frames, as many as are declared; one that begins too late begins with the last that fits."""
    graph = x.graph
    starts = (graph.arange(frames).reshape(frames, 1) * step).clip(0, x.sizes[1] - count)
    cut = x.gather(starts + graph.arange(count).reshape(1, count), 1)
    cut = cut if window is None else cut * window.reshape(1, 1, count, 1)
    return transformed(cut, 2, count, onesided=onesided)


REWRITES: Rewrites = {"DFT": _transform, "STFT": _short_time}
