"""Moves of elements whose extents are known when the program runs: the declared sizes of results are used, and checked.

y = Slice(x, starts, ends)  : f32[4, 8]      ->      y = Gather(x, starts[0] + arange(4), axis=0), and so on
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hotdesk.frontends.onnx.elements import F32, F64, HALVES, I64
from hotdesk.frontends.onnx.rewrites.nodes import NotRewritten, OnnxNode, OnnxTensor, Rewrites
from hotdesk.frontends.onnx.rewrites.reductions import all_of, any_of, selected


def _slice(op: OnnxNode) -> Any:
    rest = [op.optional(number) for number in range(1, 5)]
    if len(op.inputs) < 3 or all(each is None or each.constant is not None for each in rest):
        return NotImplemented
    x, sizes, wanted = op.x, op.x.sizes, op.result_sizes()
    starts, ends, axes, steps = (each if each is None else each.cast(I64) for each in rest)
    assert starts is not None
    assert ends is not None
    (count,) = starts.sizes
    graph = op.graph
    axes = axes if axes is not None else graph.arange(count)
    axes = (axes < 0).where(axes + x.rank, axes)
    steps = steps if steps is not None else graph.value(np.ones(count, np.int64))
    for axis in range(x.rank):
        if axes.constant is not None and axis not in axes.constant:
            continue
        here = axes.equals(axis)
        given = any_of(here)
        start, end, step = (here.where(each, 0).reduce("Sum", [0]) for each in (starts, ends, steps))
        step = given.where(step, 1)
        indices = _steps(given.where(start, 0), given.where(end, sizes[axis]), step, sizes[axis], wanted[axis])
        x = x.gather(indices, axis)
    return x


def _steps(start: OnnxTensor, end: OnnxTensor, step: OnnxTensor, size: int, count: int) -> OnnxTensor:
    """The indices of a slice along a dimension of some size, which shall be so many."""
    forward = step > 0
    start = (start < 0).where(start + size, start)
    end = (end < 0).where(end + size, end)
    start = forward.where(start.clip(0, size), start.clip(0, max(size - 1, 0)))
    end = forward.where(end.clip(0, size), end.clip(-1, max(size - 1, 0)))
    length = forward.where(end - start + step - 1, end - start + step + 1) / step
    indices = start + step * start.graph.arange(count)
    return start.graph.checked(indices, length.clip(0, size + 1).equals(count))


def _reshape(op: OnnxNode) -> Any:
    wanted = op.optional(1)
    if wanted is None or wanted.constant is not None:
        return _without_elements(op)
    sizes, result = op.x.shape, op.result_sizes()
    same = wanted.equals(list(result)) | wanted.equals(-1)
    if not op.attribute("allowzero", 0):
        copied = [number < len(sizes) and sizes[number] == size for number, size in enumerate(result)]
        same = same | (wanted.equals(0) & op.graph.value(np.array(copied, np.bool_)))
    return selected([op.x.reshape(*result)], [all_of(same)])


def _without_elements(op: OnnxNode) -> Any:
    """A tensor without elements has none in another shape either; torch-mlir divides by the number of them."""
    if 0 not in op.x.shape:
        return NotImplemented
    wanted = op.result_sizes()
    return (
        op.graph.value(np.zeros(1, np.int64))
        .cast(op.x.element)
        .reshape(1)
        .slice(0, 0, 0)
        .expand(*(1 if size else 0 for size in wanted))
        if wanted.count(0) == len(wanted) == 1
        else op.graph.op("ConstantOfShape", list(wanted), value=_zero(op.x.element))
    )


def _zero(element: int) -> Any:
    from onnx import helper

    return helper.make_tensor("", element, [1], [0])


def _squeeze(op: OnnxNode) -> Any:
    """Of an open size the first element alone, if a call gives no other: the lowering wants to know it. Without axes, open sizes
    are all 1 or none is, whichever the rest of the graph goes together with."""
    x, graph = op.x, op.graph
    axes = op.constant(1) if graph.opset >= 13 else op.attribute("axes")
    chosen = [axis for axis in range(x.rank) if x.shape[axis] == 1] if axes is None else [int(each) for each in axes]
    is_open = [size is None for size in x.shape]
    if not any(is_open if axes is None else (is_open[axis] for axis in chosen)):
        return NotImplemented
    sizes = graph.op("Shape", x)
    if axes is None and graph.choose():
        others = [axis for axis in range(x.rank) if is_open[axis]]
        return selected([x], [~any_of(sizes.gather(others).equals(1))]).squeeze(*chosen)
    if axes is None:
        chosen += [axis for axis in range(x.rank) if is_open[axis]]
    for axis in sorted((axis % x.rank for axis in chosen), reverse=True):
        x = x.gather(graph.checked(graph.value(0), sizes.gather(axis).equals(1)), axis)
    return x


def _expand(op: OnnxNode) -> Any:
    wanted = op.optional(1)
    if wanted is None or wanted.constant is not None:
        return NotImplemented
    result = op.result_sizes()
    count = wanted.sizes[0]
    lead = result[: len(result) - count]
    own = [1] * (len(result) - op.x.rank) + list(op.x.sizes)
    if any(size != own[number] for number, size in enumerate(lead)):
        raise NotRewritten("sizes that are known", "others")
    ones = wanted.equals(1) & op.graph.value(np.array(own[len(lead) :]) == np.array(result[len(lead) :]))
    return selected([op.x.expand(*result)], [all_of(wanted.equals(list(result[len(lead) :])) | ones)])


def _tile(op: OnnxNode) -> Any:
    repeats = op.tensor(1)
    if repeats.constant is not None:
        return NotImplemented
    sizes, result = op.x.sizes, op.result_sizes()
    if 0 in sizes:
        raise NotRewritten("a tensor with elements", "none")
    times = [whole // size for size, whole in zip(sizes, result, strict=True)]
    return selected([op.graph.op("Tile", op.x, times)], [all_of(repeats.equals(times))])


def _split(op: OnnxNode) -> Any:
    parts = op.optional(1)
    if parts is None or parts.constant is not None:
        return NotImplemented
    axis: int = op.attribute("axis", 0)
    lengths = [op.result_sizes(number)[axis] for number in range(len(op.node.output))]
    ends: Any = np.cumsum(lengths)
    right = all_of(parts.equals(lengths))
    made = [op.x.slice(axis, int(end) - length, int(end)) for end, length in zip(ends, lengths, strict=True)]
    return [selected([each], [right]) for each in made]


def _range(op: OnnxNode) -> Any:
    start, limit, step = (op.tensor(number) for number in range(3))
    (count,) = op.result_sizes()
    span = ((limit - start).cast(F32 if start.is_float else F64)) / step.cast(F32 if start.is_float else F64)
    length = op.graph.op("Ceil", span).clip(0, count + 1).cast(I64)
    numbers = op.graph.checked(op.graph.arange(count), length.equals(count))
    if start.element in HALVES:  # halves are computed in more bits, and rounded once
        return (start.cast(F32) + step.cast(F32) * numbers.cast(F32)).cast(start.element)
    return start + step * numbers.cast(start.element)


def _pad(op: OnnxNode) -> Any:
    mode = op.attribute("mode", "constant")
    pads = op.optional(1)
    if pads is None or (mode == "constant" and (pads.constant is not None or op.optional(3) is None)):
        return NotImplemented
    x, sizes, wanted = op.x, op.x.sizes, op.result_sizes()
    axes = op.constant(3)
    if axes is None and op.optional(3) is not None:
        raise NotRewritten("axes that are constant", "others")
    chosen = list(range(x.rank)) if axes is None else [int(each) % x.rank for each in axes]
    value = op.optional(2)
    filled = op.graph.value(np.zeros((), np.int64)).cast(x.element) if value is None else value.reshape()
    for place, axis in enumerate(chosen):
        before, after = pads.gather(place), pads.gather(place + len(chosen))
        size, count = sizes[axis], wanted[axis]
        indices = op.graph.checked(op.graph.arange(count) - before, (before + after + size).equals(count))
        inside = (indices >= 0) & (indices < size)
        x = x.gather(_folded_back(indices, size, mode), axis)
        if mode == "constant":
            x = inside.reshape(count, *[1] * (x.rank - axis - 1)).where(x, filled)
    return x


def _folded_back(indices: OnnxTensor, size: int, mode: str) -> OnnxTensor:
    """Indices outside of a dimension as those inside that padding takes the place of."""
    if mode == "wrap":
        return indices % size
    if mode == "reflect" and size > 1:
        turn = indices % (2 * size - 2)
        return (turn < size).where(turn, 2 * size - 2 - turn)
    return indices.clip(0, size - 1)


def _compress(op: OnnxNode) -> Any:
    x, condition, axis = op.x, op.tensor(1), op.attribute("axis")
    x, axis = (x.reshape(-1), 0) if axis is None else (x, axis % x.rank)
    (count,), (length,) = (op.result_sizes()[axis],), condition.sizes
    graph = op.graph
    chosen = condition.cast(I64)
    place = graph.op("CumSum", chosen, graph.value(0)) - 1
    here = condition.reshape(1, length) & place.reshape(1, length).equals(graph.arange(count).reshape(count, 1))
    indices = here.where(graph.arange(length), 0).reduce("Sum", [1])
    return x.gather(graph.checked(indices, chosen.reduce("Sum", [0]).equals(count)), axis)


def _tensor_scatter(op: OnnxNode) -> Any:
    past, update, first = op.x, op.tensor(1), op.optional(2)
    axis: int = op.attribute("axis", -2) % past.rank
    count, length = past.sizes[axis], update.sizes[axis]
    graph = op.graph
    batch = past.sizes[0]
    first = first if first is not None else graph.value(np.zeros(batch, np.int64))
    source = graph.arange(count).reshape(1, count) - first.reshape(batch, 1)
    source = source % count if op.attribute("mode", "linear") == "circular" else source
    shape = [batch if each == 0 else count if each == axis else 1 for each in range(past.rank)]
    inside = ((source >= 0) & (source < length)).reshape(*shape)
    indices = source.clip(0, length - 1).reshape(*shape).expand(*past.sizes)
    return inside.where(graph.op("GatherElements", update, indices, axis=axis), past)


def _scatter_elements(op: OnnxNode) -> Any:
    """Greatest and least updates by comparing each index with each place."""
    kind = op.attribute("reduction", "none")
    if kind not in ("max", "min"):
        return NotImplemented
    x, indices, updates = op.x, op.tensor(1), op.tensor(2)
    axis: int = op.attribute("axis", 0) % x.rank
    graph = op.graph
    if any(a != b for d, (a, b) in enumerate(zip(x.sizes, indices.sizes, strict=True)) if d != axis):
        raise NotRewritten("indices of the sizes of the tensor", "others")
    size = x.sizes[axis]
    indices = (indices < 0).where(indices + size, indices).unsqueeze(axis)
    places = graph.arange(size, indices.element).reshape(*[size if d == axis else 1 for d in range(x.rank + 1)])
    if not x.is_float:
        raise NotRewritten("floats", "others")
    best = indices.equals(places).where(updates.unsqueeze(axis), float("-inf") if kind == "max" else float("inf"))
    return graph.op(kind.capitalize(), x, best.reduce(kind.capitalize(), [axis + 1]))


REWRITES: Rewrites = {
    "Compress": _compress,
    "Expand": _expand,
    "Pad": _pad,
    "Range": _range,
    "Reshape": _reshape,
    "ScatterElements": _scatter_elements,
    "Slice": _slice,
    "Split": _split,
    "Squeeze": _squeeze,
    "TensorScatter": _tensor_scatter,
    "Tile": _tile,
}
