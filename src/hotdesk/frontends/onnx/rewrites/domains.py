"""Ops outside of ONNX's main domain: steps of optimisers (`ai.onnx.preview.training`), and those of `ai.onnx.ml` on numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

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
        decayed = rate / (count.cast(1) * op.attribute("decay_factor", 0.0) + 1.0)
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
        times = count.cast(1)
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
    x = op.x
    result: Any = op.graph.value(default.reshape(()))
    for key, value in zip(keys, values, strict=True):
        same = op.graph.op("IsNaN", x) if key != key else x.equals(key)
        result = same.where(op.graph.value(value), result)
    return result


def _table(op: OnnxNode, name: str) -> Any:
    """Keys or values, in whichever of its attributes they are."""
    kinds: tuple[tuple[str, Any], ...] = (("tensor", None), ("int64s", np.int64), ("floats", np.float32))
    for suffix, kind in kinds:
        found = op.attribute(f"{name}_{suffix}")
        if found is not None:
            return np.asarray(found) if kind is None else np.asarray(found, kind)
    raise NotRewritten("numbers", "strings")


def _trees(op: OnnxNode) -> Any:
    """All leaves of all trees, each weighted with 1 if every decision on the way leads there, and 0 otherwise."""
    if op.attribute("aggregate_function", 1) != 1 or op.attribute("post_transform", 0) != 0:
        raise NotRewritten("sums of leaves as they are", "another aggregation or transform")
    nodes = {
        name: op.attribute(f"nodes_{name}")
        for name in ("featureids", "modes", "splits", "truenodeids", "trueleafs", "falsenodeids", "falseleafs")
    }
    members = _members(op.attribute("nodes_modes"), op.attribute("membership_values"))
    missing = op.attribute("nodes_missing_value_tracks_true") or [0] * len(nodes["modes"])
    targets, weights = op.attribute("leaf_targetids"), op.attribute("leaf_weights")
    x, count = op.x, op.attribute("n_targets", 1)
    sums: list[Any] = [None] * count

    def visit(number: int, is_leaf: bool, reached: OnnxTensor | None) -> None:
        if is_leaf:
            value = op.graph.value(weights[number], x)
            value = value.expand(x.sizes[0]) if reached is None else reached.where(value, 0)
            place = int(targets[number])
            sums[place] = value if sums[place] is None else sums[place] + value
            return
        feature = x.gather(int(nodes["featureids"][number]), 1)
        yes = _decision(op, feature, int(nodes["modes"][number]), nodes["splits"][number], members[number])
        yes = yes | op.graph.op("IsNaN", feature) if missing[number] else yes
        for side, way in (("true", yes), ("false", ~yes)):
            there = way if reached is None else reached & way
            visit(int(nodes[f"{side}nodeids"][number]), bool(nodes[f"{side}leafs"][number]), there)

    for root in op.attribute("tree_roots"):
        visit(int(root), False, None)
    zero = x.gather(0, 1) * 0.0
    return op.graph.concat([(zero if each is None else each).unsqueeze(1) for each in sums], 1)


def _members(modes: Any, values: Any) -> list[list[float]]:
    """For each node, the values of the set that it asks for; sets end with a NaN each."""
    sets: list[list[float]] = [[]]
    listed: list[Any] = [] if values is None else list(values)
    for each in listed:
        if each != each:
            sets.append([])
        else:
            sets[-1].append(float(each))
    left = iter(sets)
    return [next(left) if int(mode) == 6 else [] for mode in modes]


def _decision(op: OnnxNode, feature: OnnxTensor, mode: int, split: Any, members: Sequence[float]) -> OnnxTensor:
    match mode:
        case 0:
            return feature <= split
        case 1:
            return feature < split
        case 2:
            return feature >= split
        case 3:
            return feature > split
        case 4:
            return feature.equals(split)
        case 5:
            return ~feature.equals(split)
        case _:
            found = feature.equals(members[0])
            for each in members[1:]:
                found = found | feature.equals(each)
            return found


REWRITES: Rewrites = {
    "ai.onnx.ml.ArrayFeatureExtractor": _features,
    "ai.onnx.ml.Binarizer": _binarize,
    "ai.onnx.ml.LabelEncoder": _encode,
    "ai.onnx.ml.TreeEnsemble": _trees,
    "ai.onnx.preview.training.Adagrad": _adagrad,
    "ai.onnx.preview.training.Adam": _adam,
    "ai.onnx.preview.training.Momentum": _momentum,
}
