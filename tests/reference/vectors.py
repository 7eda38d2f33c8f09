"""`vector`: transfers from and to tensors, gathers and scatters, and masks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.reference.interpreter import Interpreter, Meaning
from tests.reference.values import Array, Operation, Values, place, points


def _transfer_read(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    source, *rest = operands
    result = np.full(list(op.results[0].type.shape), rest[source.ndim], source.dtype)
    for point, where in _transferred(op, source, rest[: source.ndim], result.shape, rest[source.ndim + 1 :]):
        result[point] = source[where]
    return [result]


def _transfer_write(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    vector, into, *rest = operands
    result = into.copy()
    for point, where in _transferred(op, into, rest[: into.ndim], vector.shape, rest[into.ndim :]):
        result[where] = vector[point]
    return [result]


def _transferred(
    op: Operation, tensor: Any, start: Sequence[Any], shape: Sequence[int], masks: Sequence[Any]
) -> list[tuple[Any, Any]]:
    """The elements of a vector that are not masked and lie inside the tensor, and where; its dims are the tensor's last."""
    count = len(shape)
    dims = [f"d{i}" for i in range(tensor.ndim)]
    minor = f"affine_map<({', '.join(dims)}) -> ({', '.join(dims[len(dims) - count :])})>"
    assert str(op.attributes["permutation_map"]) == minor, f"{op.name} that permutes has no meaning here"
    bounded = [False] * (tensor.ndim - count) + [bool(b.value) for b in op.attributes["in_bounds"]]
    found: list[tuple[Any, Any]] = []
    for point in points(shape):
        if not all(mask[point] for mask in masks):
            continue
        steps = (0,) * (tensor.ndim - count) + point
        where = tuple(int(a) + p for a, p in zip(start, steps, strict=True))
        inside = [0 <= i < size for i, size in zip(where, tensor.shape, strict=True)]
        assert all(i or not b for i, b in zip(inside, bounded, strict=True)), f"{op.name} is not in bounds"
        if all(inside):
            found.append((point, where))
    return found


def _broadcast(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    return [np.broadcast_to(operands[0], list(op.results[0].type.shape))]


def _create_mask(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    """True in front of an end in every dimension."""
    mask = np.zeros(list(op.results[0].type.shape), np.bool_)
    mask[tuple(slice(0, int(end)) for end in operands)] = True
    return [mask]


def _mask(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    """Its op, a transfer, with a mask."""
    inner, end = (view.operation for view in op.regions[0].blocks[0].operations)
    given = [machine.read(values[v]) for v in inner.operands]
    results = _TRANSFERS[inner.name](machine, inner, [*given, operands[0]], values)
    local = dict(zip(inner.results, results, strict=True))
    return [local[v] for v in end.operands]


def _gather(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    result = operands[-1].copy()
    for point, where in _indexed(operands, operands[0]):
        result[point] = operands[0][where]
    return [result]


def _scatter(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    result = operands[0].copy()
    for point, where in _indexed(operands, result):
        result[where] = operands[-1][point]
    return [result]


def _indexed(operands: list[Any], tensor: Array) -> list[tuple[Any, Any]]:
    """The elements of a vector of indices that are not masked, and where each lies: the last offset is moved by it."""
    _, *offsets, indices, mask, _ = operands
    found: list[tuple[Any, Any]] = []
    for point in points(indices.shape):
        if mask[point]:
            found.append((point, place(tensor, [*offsets[:-1], offsets[-1] + indices[point]])))
    return found


_TRANSFERS: dict[str, Meaning] = {"vector.transfer_read": _transfer_read, "vector.transfer_write": _transfer_write}
MEANINGS: dict[str, Meaning] = {
    **_TRANSFERS,
    "vector.broadcast": _broadcast,
    "vector.create_mask": _create_mask,
    "vector.mask": _mask,
    "vector.gather": _gather,
    "vector.scatter": _scatter,
}
