"""`tensor`, `bufferization` on tensors, shapes, and scatters and sorts of `tm_tensor`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.reference.interpreter import Interpreter, Meaning
from tests.reference.values import (
    Operation,
    Undefined,
    Values,
    checked,
    dropped,
    dtype_of,
    inserted,
    integers,
    mixed,
    place,
    points,
    result_shape,
    segments,
    slices,
)


def _empty(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    return [Undefined(result_shape(op, operands), dtype_of(op.results[0].type))]


def _alloc_tensor(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    dynamic, copy, _ = segments(op)
    return [checked(op, operands[dynamic])] if copy else _empty(machine, op, operands, values)


def _materialize(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    source, destination = operands
    assert source.shape == destination.shape, "materialized in a destination of another shape"
    if not len(op.results):  # a memref
        destination[...] = machine.read(source)
        return []
    return [checked(op, source)]


def _dim(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    return [np.int64(operands[0].shape[int(operands[1])])]


def _rank(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    return [np.int64(len(operands[0].shape))]


def _shape_of(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    return [np.array(operands[0].shape, np.int64)]


def _poison(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    return [Undefined(result_shape(op, []), dtype_of(op.results[0].type))]


def _cast(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    return [checked(op, operands[0])]


def _bitcast(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    return [operands[0].view(dtype_of(op.results[0].type))]


def _extract(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    array, *position = operands
    return [array[place(array, position)]]


def _insert(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    scalar, into, *position = operands
    result = into.copy()
    result[place(into, position)] = scalar
    return [result]


def _extract_slice(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    part = np.asarray(operands[0][slices(op, operands, 1, operands[0].shape)])
    return [checked(op, dropped(op.results[0].type, part))]


def _insert_slice(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    return [inserted(operands[0], operands[1], slices(op, operands, 2, operands[1].shape))]


def _expand(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    return _reshaped(op, operands[0], mixed(op.attributes["static_output_shape"], operands[1:]))


def _collapse(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    groups = [integers(group) for group in op.attributes["reassociation"]]
    return _reshaped(op, operands[0], [math.prod(operands[0].shape[i] for i in group) for group in groups])


def _reshape(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    return _reshaped(op, operands[0], [int(size) for size in machine.read(operands[1])])


def _reshaped(op: Operation, tensor: Any, sizes: Sequence[int]) -> Sequence[Any]:
    if isinstance(tensor, Undefined):
        assert math.prod(tensor.shape) == math.prod(sizes), "a reshape to another size"
        return [checked(op, Undefined(tuple(sizes), tensor.dtype))]
    return [checked(op, tensor.reshape(sizes))]


def _from_elements(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    result = op.results[0].type
    elements: Any = np.array(operands, dtype_of(result))
    return [elements.reshape(result.shape)]


def _splat(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    return [np.full(result_shape(op, operands[1:]), operands[0], dtype_of(op.results[0].type))]


def _generate(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    result: Any = np.empty(result_shape(op, operands), dtype_of(op.results[0].type))
    for point in points(result.shape):
        result[point] = machine.yielded(op.regions[0], [np.int64(p) for p in point], values)[0]
    return [result]


def _concat(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    return [checked(op, np.concatenate(operands, axis=int(op.attributes["dim"].value)))]


def _pad(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    counts = segments(op)
    source = operands[0]
    low = mixed(op.attributes["static_low"], operands[1 : 1 + counts[1]])
    high = mixed(op.attributes["static_high"], operands[1 + counts[1] :])
    result: Any = np.empty([a + s + b for a, s, b in zip(low, source.shape, high, strict=True)], source.dtype)
    for point in points(result.shape):
        inside = tuple(p - a for p, a in zip(point, low, strict=True))
        if all(0 <= i < s for i, s in zip(inside, source.shape, strict=True)):
            result[point] = source[inside]
        else:
            result[point] = machine.yielded(op.regions[0], [np.int64(p) for p in point], values)[0]
    return [checked(op, result)]


def _gather(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    source, indices = operands
    windows = [source[w] for w in _windows(source.shape, indices, integers(op.attributes["gather_dims"]))]
    empty = np.empty((0, *source.shape), source.dtype)
    gathered: Any = np.asarray(windows if windows else empty, source.dtype)
    return [gathered.reshape(op.results[0].type.shape)]


def _scatter(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    source, into, indices = operands
    result = into.copy()
    windows = _windows(into.shape, indices, integers(op.attributes["scatter_dims"]))
    for window, part in zip(windows, source.reshape(len(windows), -1), strict=True):
        result[window] = part.reshape(result[window].shape)
    return [result]


def _scatter_rows(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    """`tm_tensor.scatter`: each row of updates, element by element, into where its row of indices says, by the op's region."""
    updates, indices, into = operands
    result = into.copy()
    dims = integers(op.attributes["dimension_map"])
    for window, part in zip(_windows(into.shape, indices, dims), updates, strict=True):
        old: Any = result[window]
        pairs = zip(part.reshape(-1), old.reshape(-1), strict=True)
        new: Any = np.array([machine.yielded(op.regions[0], pair, values)[0] for pair in pairs], old.dtype)
        result[window] = new.reshape(old.shape)
    return [result]


def _sort(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    """`tm_tensor.sort`: lines along its dimension, by insertion, in front of elements that the op's region does not hold with."""
    along = op.attributes["dimension"].value
    results = [x.copy() for x in operands]
    for line in np.ndindex(*(size for dim, size in enumerate(operands[0].shape) if dim != along)):
        at = (*line[:along], slice(None), *line[along:])
        rows: list[tuple[Any, ...]] = []
        for row in zip(*(x[at] for x in operands), strict=True):
            place = len(rows)
            while place and not machine.yielded(op.regions[0], _by_turns(rows[place - 1], row), values)[0]:
                place -= 1
            rows.insert(place, row)
        for result, column in zip(results, zip(*rows, strict=True), strict=True):
            result[at] = column
    return results


def _by_turns(one: Sequence[Any], other: Sequence[Any]) -> list[Any]:
    return [each for pair in zip(one, other, strict=True) for each in pair]


def _windows(shape: Sequence[int], indices: Any, dims: Sequence[int]) -> list[tuple[slice, ...]]:
    """The part of a tensor that each row of indices names: one element of the dims, all of the others."""
    rows = indices.reshape(-1, len(dims))
    assert all(0 <= i < shape[d] for row in rows for d, i in zip(dims, row, strict=True)), "an index out of bounds"
    return [
        tuple(
            slice(int(row[dims.index(d)]), int(row[dims.index(d)]) + 1) if d in dims else slice(None)
            for d in range(len(shape))
        )
        for row in rows
    ]


MEANINGS: dict[str, Meaning] = {
    "tensor.empty": _empty,
    "tensor.dim": _dim,
    "tensor.rank": _rank,
    "tensor.cast": _cast,
    "tensor.bitcast": _bitcast,
    "tensor.extract": _extract,
    "tensor.insert": _insert,
    "tensor.extract_slice": _extract_slice,
    "tensor.insert_slice": _insert_slice,
    "tensor.expand_shape": _expand,
    "tensor.collapse_shape": _collapse,
    "tensor.reshape": _reshape,
    "tensor.from_elements": _from_elements,
    "tensor.splat": _splat,
    "tensor.generate": _generate,
    "tensor.concat": _concat,
    "tensor.pad": _pad,
    "tensor.gather": _gather,
    "tensor.scatter": _scatter,
    "tm_tensor.scatter": _scatter_rows,
    "tm_tensor.sort": _sort,
    "shape.shape_of": _shape_of,
    "ub.poison": _poison,
    "bufferization.alloc_tensor": _alloc_tensor,
    "bufferization.materialize_in_destination": _materialize,
}
PASSING = frozenset(
    {
        "shape.shape_of",
        "tensor.dim", "tensor.rank", "tensor.cast", "tensor.expand_shape", "tensor.collapse_shape", "tensor.reshape",
        "bufferization.alloc_tensor", "bufferization.materialize_in_destination",
    }
)  # fmt: skip
"""Ops that do not read their tensors."""
