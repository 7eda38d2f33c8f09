"""Reductions whose axes are known when the program runs: one for each set of axes that gives the declared sizes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from hotdesk.frontends.onnx.elements import BOOL, I64
from hotdesk.frontends.onnx.rewrites.nodes import NotRewritten, OnnxNode, OnnxTensor, Rewrites


def selected(candidates: Sequence[OnnxTensor], conditions: Sequence[OnnxTensor]) -> OnnxTensor:
    """The candidate whose condition, a scalar, holds. A call in which none does ends with an error: the index is outside."""
    graph = candidates[0].graph
    if all(each.constant is not None for each in conditions):
        found = next((value for value, each in zip(candidates, conditions, strict=True) if each.constant), None)
        if found is None:
            raise NotRewritten("sizes as the model declares them", "constants that say others")
        return found
    index: Any = graph.value(len(candidates))
    for number, condition in reversed(list(enumerate(conditions))):
        index = condition.where(number, index)
    if len(candidates) > 1:
        return graph.concat([each.unsqueeze(0) for each in candidates], 0).gather(index)
    return graph.checked(graph.value(0), index.equals(0)).equals(0).where(candidates[0], 0)


def all_of(condition: OnnxTensor) -> OnnxTensor:
    """Whether all elements hold, as a scalar."""
    if not condition.rank:
        return condition
    return condition.cast(I64).reduce("Min", range(condition.rank)).cast(BOOL)


def any_of(condition: OnnxTensor) -> OnnxTensor:
    """Whether an element holds, as a scalar."""
    if not condition.rank:
        return condition
    return condition.cast(I64).reduce("Max", range(condition.rank)).cast(BOOL)


def by_axis(axis: OnnxTensor, rank: int, make: Any) -> OnnxTensor:
    """What `make` makes of an axis: of the constant, or selected by a scalar that is known when the program runs."""
    if axis.constant is not None:
        return make(int(axis.constant.reshape(())) % rank)
    axis = axis.reshape()
    return selected(
        [make(each) for each in range(rank)], [axis.equals(each) | axis.equals(each - rank) for each in range(rank)]
    )


def _reduced(op: OnnxNode) -> Any:
    x, axes = op.x, op.optional(1)
    if axes is None or axes.constant is not None:
        return _with_constant_axes(op, x, axes)
    keepdims = bool(op.attribute("keepdims", 1))
    sizes, wanted, (count,) = x.sizes, op.result_sizes(), axes.sizes
    chosen = [each for each in combinations(range(x.rank), count) if _sizes_without(sizes, each, keepdims) == wanted]
    if not chosen:
        raise NotRewritten("axes whose reduction gives the declared sizes", "none")
    candidates = [op.like(x, list(each), noop_with_empty_axes=None) for each in chosen]
    positive = (axes < 0).where(axes + x.rank, axes)
    conditions = [_same(positive, each) for each in chosen]
    return selected(candidates, conditions)


def _with_constant_axes(op: OnnxNode, x: OnnxTensor, axes: OnnxTensor | None) -> Any:
    if axes is None or axes.constant is None or axes.constant.size:
        return NotImplemented
    if op.attribute("noop_with_empty_axes", 0):
        return NotImplemented
    return op.like(x, noop_with_empty_axes=None)


def _sizes_without(sizes: Sequence[int], axes: Sequence[int], keepdims: bool) -> tuple[int, ...]:
    return tuple(1 if axis in axes else size for axis, size in enumerate(sizes) if keepdims or axis not in axes)


def _same(axes: OnnxTensor, wanted: Sequence[int]) -> OnnxTensor:
    """Whether a vector holds the axes, in whatever order."""
    found = axes.reshape(-1, 1).equals(axes.graph.value([list(wanted)]))
    return all_of(found.cast(I64).reduce("Max", [0]).cast(BOOL))


_KINDS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")
REWRITES: Rewrites = {f"Reduce{each}": _reduced for each in _KINDS}
