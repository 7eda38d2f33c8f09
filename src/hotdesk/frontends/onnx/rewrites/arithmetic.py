"""Elementwise ops, norms and running sums written with plainer ones."""

from __future__ import annotations

import re
from functools import reduce
from math import prod
from operator import mul
from typing import Any

import numpy as np

from hotdesk.frontends.onnx.elements import BOOL, F32, HALVES, I8, I16, I32, I64, U8, U16, U32, U64
from hotdesk.frontends.onnx.rewrites.nodes import NotRewritten, OnnxNode, OnnxTensor, Rewrites
from hotdesk.frontends.onnx.rewrites.reductions import by_axis

_BITS = {I8: 8, I16: 16, I32: 32, I64: 64}


def _bit_shift(op: OnnxNode) -> Any:
    """Bits shifted past the sign are lost; a shift by less than 0 or all bits leaves what the sign fills in."""
    x, shift = op.x, op.tensor(1)
    bits = _BITS.get(x.element)
    if bits is None:
        return NotImplemented
    graph = op.graph
    powers: Any = np.array([1 << each for each in range(bits - 1)] + [-(1 << (bits - 1))], np.int64)
    inside = (shift >= 0) & (shift < bits)
    power = graph.value(powers, x).gather(shift.clip(0, bits - 1).cast(I64))
    if op.attribute("direction") == "LEFT":
        return inside.where(x * power, 0)
    negative = x < 0
    whole = (inside & (shift < bits - 1)).where(negative.where(-1 - x, x) / (shift < bits - 1).where(power, 1), 0)
    return negative.where(-1 - whole, whole)


def _negative(op: OnnxNode) -> Any:
    """Integers are taken from zero; torch-mlir's are floats on the way, and lose the digits of those beyond 2^24."""
    return 0 - op.x if op.x.element in _BITS else NotImplemented


def _elu(op: OnnxNode) -> Any:
    alpha = op.attribute("alpha", 1.0)
    return _exponential_unit(op.x, 1.0, alpha, 1.0)


def _selu(op: OnnxNode) -> Any:
    alpha = op.attribute("alpha", 1.67326319217681884765625)
    gamma = op.attribute("gamma", 1.05070102214813232421875)
    return _exponential_unit(op.x, gamma, gamma * alpha, 1.0)


def _celu(op: OnnxNode) -> Any:
    alpha = op.attribute("alpha", 1.0)
    return _exponential_unit(op.x, 1.0, alpha, 1.0 / alpha)


def _exponential_unit(x: OnnxTensor, positive: float, negative: float, rate: float) -> OnnxTensor:
    """`positive * x` above zero, `negative * (exp(rate * x) - 1)` below, where the difference would have no digits near zero.

    It is made as a product: exp(y) - 1 = tanh(y / 2) * (exp(y) + 1)
    """
    wide = x.cast(F32) if x.element in HALVES else x
    scaled = wide * rate
    below = x.graph.op("Tanh", scaled * 0.5) * (x.graph.op("Exp", scaled) + 1.0)
    return (wide > 0.0).where(wide * positive, below * negative).cast(x.element)


def _lp_normalization(op: OnnxNode) -> Any:
    x, axis, p = op.x, op.attribute("axis", -1), op.attribute("p", 2)
    norm = x.reduce("L1" if p == 1 else "L2", [axis], keepdims=True)
    return norm.equals(0.0).where(0.0, x / norm)


def _mean_variance(op: OnnxNode) -> Any:
    x, axes = op.x, op.attribute("axes", [0, 2, 3])
    mean, square = (each.reduce("Mean", axes, keepdims=True) for each in (x, x * x))
    return (x - mean) / (op.graph.op("Sqrt", square - mean * mean) + 1e-9)


def _running(op: OnnxNode) -> Any:
    """Running sums and products in log₂ n steps: each adds what lies a power of two before (Hillis and Steele, 1986)."""
    x, axis = op.x, op.tensor(1)
    kind, first = ("Add", 0) if op.node.op_type == "CumSum" else ("Mul", 1)
    exclusive, reverse = bool(op.attribute("exclusive", 0)), bool(op.attribute("reverse", 0))

    def along(axis: int) -> OnnxTensor:
        y = reversed_along(x, axis) if reverse else x
        y = _behind(y, axis, 1, first) if exclusive else y
        step = 1
        while step < x.sizes[axis]:
            y = op.graph.op(kind, y, _behind(y, axis, step, first))
            step *= 2
        return reversed_along(y, axis) if reverse else y

    return by_axis(axis, x.rank, along)


def reversed_along(x: OnnxTensor, axis: int) -> OnnxTensor:
    """Elements along an axis in reverse order."""
    size = x.shape[axis]
    if size is None:
        raise NotRewritten("a number of elements that is known", f"an open one for '{x.name}'")
    return x.gather(list(range(size))[::-1], axis) if size < 1 << 14 else x.slice(axis, -1, step=-1)


def _behind(x: OnnxTensor, axis: int, step: int, first: int) -> OnnxTensor:
    """Elements moved towards the end, and a number in front of them."""
    sizes = list(x.sizes)
    sizes[axis] = min(step, sizes[axis])
    front = x.graph.value(first, x).expand(*sizes)
    return x.graph.concat([front, x.slice(axis, 0, max(0, x.sizes[axis] - step))], axis)


def _product(op: OnnxNode) -> Any:
    """A vector is a matrix of one row, or of one column, and the dimension goes again."""
    a, b = op.x, op.tensor(1)
    if a.rank == b.rank or 1 not in (a.rank, b.rank) or max(a.rank, b.rank) < 3:
        return NotImplemented
    return (a.unsqueeze(0) @ b).squeeze(-2) if a.rank == 1 else (a @ b.unsqueeze(1)).squeeze(-1)


def _einsum(op: OnnxNode) -> Any:
    """Of scalars alone it is their product; of three tensors or more, that of two and the others.

    torch-mlir sums over a label with the first two that have it, though another one has it too.
    """
    factors = [op.tensor(number) for number in range(len(op.inputs))]
    if not any(each.rank for each in factors):
        return reduce(mul, factors[1:], op.graph.op("Identity", factors[0]))
    if len(factors) < 3:
        return NotImplemented
    given, _, result = str(op.attribute("equation")).replace(" ", "").partition("->")
    labels = [re.findall(r"\.\.\.|\w", each) for each in given.split(",")]
    if "->" in str(op.attribute("equation")):
        wanted = re.findall(r"\.\.\.|\w", result)
    else:
        every = [label for each in labels for label in each]
        wanted = ["..."] * ("..." in every) + sorted(each for each in set(every) if every.count(each) == 1)
    while len(factors) > 1:
        read = {label for each in labels[2:] for label in each} | set(wanted)
        kept = list(dict.fromkeys(label for each in labels[:2] for label in each if label in read))
        kept = wanted if len(factors) == 2 else ["..."] * ("..." in kept) + [each for each in kept if each != "..."]
        equation = f"{''.join(labels[0])},{''.join(labels[1])}->{''.join(kept)}"
        factors[:2], labels[:2] = [op.graph.op("Einsum", *factors[:2], equation=equation)], [kept]
    return factors[0]


def _hardmax(op: OnnxNode) -> Any:
    """Before opset 13 of matrices: the dimensions from the axis on are one."""
    x = op.x
    axis: int = op.attribute("axis", 1) % x.rank
    if op.graph.first_opset >= 13 or axis == x.rank - 1:
        return NotImplemented
    rows = x.reshape(prod(x.sizes[:axis]), prod(x.sizes[axis:]))
    return op.graph.op("Hardmax", rows, axis=1).reshape(*x.sizes)


def _instance_normalization(op: OnnxNode) -> Any:
    """Of images of open sizes: torch-mlir does not divide the variance by them."""
    x, scale, bias = op.x, op.tensor(1), op.tensor(2)
    if x.rank < 3 or None not in x.shape[2:]:
        return NotImplemented
    axes = range(2, x.rank)
    wide = x.cast(F32) if x.element in HALVES else x
    difference = wide - wide.reduce("Mean", axes, keepdims=True)
    variance = (difference * difference).reduce("Mean", axes, keepdims=True)
    normal = difference / op.graph.op("Sqrt", variance + op.attribute("epsilon", 1e-5))
    factor, term = (each.cast(wide.element).unsqueeze(*range(1, x.rank - 1)) for each in (scale, bias))
    return (normal * factor + term).cast(x.element)


def _bit_cast(op: OnnxNode) -> Any:
    """Integers of as many bits with a sign or without, which wrap around."""
    x, element = op.x, op.attribute("to")
    pairs = ({U8, I8}, {U16, I16}, {I32, U32}, {I64, U64}, {U8, BOOL})
    return x.cast(element) if {x.element, element} in pairs and element != BOOL else NotImplemented


def _determinant(op: OnnxNode) -> Any:
    x = op.x
    size = x.sizes[-1]
    if size > 4:
        raise NotRewritten("matrices of up to 4 rows", f"{size}")

    def minor(row: int, columns: tuple[int, ...]) -> OnnxTensor:
        """The determinant of some columns of the last rows, by the first of these."""
        entries = [x.gather(row, x.rank - 2).gather(column, x.rank - 2) for column in columns]
        if len(columns) == 1:
            return entries[0]
        terms = [entry * minor(row + 1, columns[:place] + columns[place + 1 :]) for place, entry in enumerate(entries)]
        total = terms[0]
        for place, term in enumerate(terms[1:], 1):
            total = total - term if place % 2 else total + term
        return total

    return minor(0, tuple(range(size)))


def _log_likelihood(op: OnnxNode) -> Any:
    """The negative logarithm of the probability of a class, weighted by class, none for one that is ignored."""
    x, labels, weights = op.x, op.tensor(1), op.optional(2)
    is_entropy = op.node.op_type == "SoftmaxCrossEntropyLoss"
    if is_entropy and op.graph.opset < 13 and x.rank > 2:
        return NotImplemented  # LogSoftmax was one of matrices then
    ignored, reduction = op.attribute("ignore_index"), op.attribute("reduction", "mean")
    logarithms = op.graph.op("LogSoftmax", x, axis=1) if is_entropy else x
    skipped = labels.equals(ignored) if ignored is not None else None
    classes = labels if skipped is None else skipped.where(0, labels)
    chosen = op.graph.op("GatherElements", logarithms, classes.unsqueeze(1), axis=1).squeeze(1)
    weight = weights.gather(classes) if weights is not None else op.graph.value(1, x).expand(*labels.sizes)
    weight = weight if skipped is None else skipped.where(0, weight)
    loss = -(chosen * weight)
    if reduction != "none":
        total = loss.reduce("Sum", range(loss.rank))
        loss = total if reduction == "sum" else total / weight.reduce("Sum", range(weight.rank))
    return [loss, logarithms][: len(op.node.output)]


def _slopes(op: OnnxNode) -> Any:
    """Before opset 7 a vector of slopes is one by channel; from then on it is broadcast from behind."""
    x, slope = op.x, op.tensor(1)
    if op.graph.first_opset >= 7 or slope.rank != 1 or slope.shape == (1,) or x.rank < 3:
        return NotImplemented
    return op.as_is(x, slope.reshape(*slope.sizes, *(1,) * (x.rank - 2)))


REWRITES: Rewrites = {
    "BitCast": _bit_cast,
    "BitShift": _bit_shift,
    "Celu": _celu,
    "CumProd": _running,
    "CumSum": _running,
    "Det": _determinant,
    "MatMul": _product,
    "Einsum": _einsum,
    "Hardmax": _hardmax,
    "InstanceNormalization": _instance_normalization,
    "Elu": _elu,
    "LpNormalization": _lp_normalization,
    "MeanVarianceNormalization": _mean_variance,
    "Neg": _negative,
    "NegativeLogLikelihoodLoss": _log_likelihood,
    "PRelu": _slopes,
    "Selu": _selu,
    "SoftmaxCrossEntropyLoss": _log_likelihood,
}
