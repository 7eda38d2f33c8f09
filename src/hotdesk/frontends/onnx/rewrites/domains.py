"""Ops outside of ONNX's main domain: steps of optimisers (`ai.onnx.preview.training`), and those of `ai.onnx.ml` on numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hotdesk.frontends.onnx.elements import F32, I32
from hotdesk.frontends.onnx.rewrites.nodes import NotRewritten, OnnxNode, OnnxTensor, Rewrites


def _each(op: OnnxNode, step: Callable[..., Sequence[OnnxTensor]], states: int) -> list[OnnxTensor]:
    """A step for each tensor; inputs and results come state by state, not tensor by tensor."""
    rate, count = op.tensor(0), op.tensor(1)
    given = [op.tensor(number) for number in range(2, len(op.inputs))]
    many = len(given) // (states + 2)
    made = [step(op, rate, count, *given[number::many]) for number in range(many)]
    return [result[place] for place in range(states + 1) for result in made]


def _momentum(op: OnnxNode) -> Any:
    def step(
        op: OnnxNode, rate: OnnxTensor, count: OnnxTensor, x: OnnxTensor, gradient: OnnxTensor, v: OnnxTensor
    ) -> Sequence[OnnxTensor]:
        alpha, beta = op.attribute("alpha"), op.attribute("beta")
        gradient = x * op.attribute("norm_coefficient") + gradient
        first = count.reshape().equals(0)
        v = v * alpha + gradient * first.where(1.0, op.graph.floats(beta))
        moved = gradient + v * alpha if op.attribute("mode") == "nesterov" else v
        return x - rate * moved, v

    return _each(op, step, 1)


def _adagrad(op: OnnxNode) -> Any:
    def step(
        op: OnnxNode, rate: OnnxTensor, count: OnnxTensor, x: OnnxTensor, gradient: OnnxTensor, h: OnnxTensor
    ) -> Sequence[OnnxTensor]:
        decayed = rate / (count.cast(F32) * op.attribute("decay_factor", 0.0) + 1.0)
        gradient = x * op.attribute("norm_coefficient", 0.0) + gradient
        h = h + gradient * gradient
        return x - decayed * gradient / (op.graph.op("Sqrt", h) + op.attribute("epsilon", 1e-6)), h

    return _each(op, step, 1)


def _adam(op: OnnxNode) -> Any:
    def step(
        op: OnnxNode,
        rate: OnnxTensor,
        count: OnnxTensor,
        x: OnnxTensor,
        gradient: OnnxTensor,
        v: OnnxTensor,
        h: OnnxTensor,
    ) -> Sequence[OnnxTensor]:
        alpha, beta = op.attribute("alpha", 0.9), op.attribute("beta", 0.999)
        gradient = x * op.attribute("norm_coefficient", 0.0) + gradient
        v = v * alpha + gradient * (1 - alpha)
        h = h * beta + gradient * gradient * (1 - beta)
        times = count.cast(F32)
        power = op.graph.op("Sqrt", 1.0 - op.graph.op("Pow", op.graph.floats(beta), times))
        scaled = rate * power / (1.0 - op.graph.op("Pow", op.graph.floats(alpha), times))
        corrected = (count > 0).where(scaled, rate)
        new = x - corrected * v / (op.graph.op("Sqrt", h) + op.attribute("epsilon", 1e-6))
        return new * (1.0 - op.attribute("norm_coefficient_post", 0.0)), v, h

    return _each(op, step, 2)


def _features(op: OnnxNode) -> Any:
    x, places = op.x, op.tensor(1)
    y = x.gather(places.reshape(-1), x.rank - 1)
    return y.unsqueeze(0) if x.rank == 1 else y


def _binarize(op: OnnxNode) -> Any:
    return (op.x > op.attribute("threshold", 0.0)).cast(op.x.element)


def _encode(op: OnnxNode) -> Any:
    """The value of the last key that is equal, or the default."""
    keys = _table(op, "keys")
    values = _table(op, "values")
    default: Any = op.attribute("default_tensor")
    if default is None:
        number = op.attribute("default_int64", -1) if values.dtype == np.int64 else op.attribute("default_float", -0.0)
        default = np.array(number, values.dtype)
    if any(each.dtype.kind in "OUS" for each in (keys, values, default)):
        raise NotRewritten("numbers", "strings")
    keys, values = keys[::-1], values[::-1]
    x = op.x.unsqueeze(op.x.rank)
    found = x.equals(keys)
    if (keys != keys).any():
        found = found | (op.graph.op("IsNaN", x) & op.graph.value(keys != keys))
    found = found.cast(I32)
    place = op.graph.op("ArgMax", found, axis=op.x.rank, keepdims=0)
    is_there = found.reduce("Max", [op.x.rank]) > 0
    return is_there.where(op.graph.value(values).gather(place), default.reshape(()))


def _table(op: OnnxNode, name: str) -> Any:
    """Keys or values, in whichever of its attributes they are."""
    kinds: tuple[tuple[str, Any], ...] = (("tensor", None), ("int64s", np.int64), ("floats", np.float32))
    for suffix, kind in kinds:
        found = op.attribute(f"{name}_{suffix}")
        if found is not None:
            return np.asarray(found) if kind is None else np.asarray(found, kind)
    raise NotRewritten("numbers", "strings")


REWRITES: Rewrites = {
    "ai.onnx.ml.ArrayFeatureExtractor": _features,
    "ai.onnx.ml.Binarizer": _binarize,
    "ai.onnx.ml.LabelEncoder": _encode,
    "ai.onnx.preview.training.Adagrad": _adagrad,
    "ai.onnx.preview.training.Adam": _adam,
    "ai.onnx.preview.training.Momentum": _momentum,
}
