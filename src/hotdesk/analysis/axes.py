"""Along which dimensions an operation can be done part by part, and which parts of its operands each part needs.

A dimension of a result can be cut if a loop runs over it, and

1. the loop is parallel: each of its iterations makes elements of its own, in every result;
2. no dimension of an operand is indexed by the loop together with anything else, or by it twice;
3. the payload does not ask for the number of the iteration.

An operand that the loop runs over is needed in the same part, along that dimension; any other one as a whole. Batches of a
convolution and batches and channels of a pooling are such loops, and of a contraction the letters of the result. A view hands
the cut on where the elements of a part stay together; its parts may be several elements wide.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from hotdesk._bindings import indexing_maps, ir
from hotdesk.ir.types import kept_dims, shape_of
from hotdesk.ir.walking import int_array, nested_ops

_DIM = re.compile(r"\bd(\d+)\b")
_FREE = -1


@dataclass(frozen=True, slots=True)
class Axis:
    """A dimension, cut in parts of a multiple of `unit` elements."""

    dim: int
    unit: int


@dataclass(frozen=True, slots=True)
class Loops:
    """Which loop runs over each dimension of each operand, -1 for none alone; `free` are those that can be cut.

    `inits` are the operands that the results, in order, are tied to.
    """

    operands: tuple[tuple[int, ...], ...]
    inits: tuple[int, ...]
    free: frozenset[int]


def cut_dims(value: ir.Value) -> list[int]:
    """The dimensions that a value can be cut along at best, outermost first: a part should be one stretch of memory."""
    shape = shape_of(value.type)
    return [dim for dim, size in enumerate(shape) if size is not None and size > 1]


def read_loops(op: ir.Operation) -> Loops | None:
    """The loops of an operation in destination-passing style; None for any other."""
    if not len(op.results):
        return None
    match op.name:
        case "hotdesk.contract":
            inputs, result = cast(Any, op.attributes["equation"]).value.split("->")
            letters = {letter: i for i, letter in enumerate(dict.fromkeys(inputs.replace(",", "") + result))}
            terms = [tuple(letters[letter] for letter in term) for term in (*inputs.split(","), result)]
            twice = {loop for term in terms for loop in term if term.count(loop) > 1}
            return Loops(tuple(terms), (2,), frozenset(terms[2]) - twice)
        case "hotdesk.conv":
            ranks = [len(shape_of(value.type)) for value in op.operands]
            rows = ((0, *[_FREE] * (ranks[0] - 1)), (_FREE,) * ranks[1], (0, *[_FREE] * (ranks[2] - 1)))
            return Loops(rows, (2,), frozenset({0})) if len(op.operands) == 3 else None
        case "hotdesk.pool":
            row = (0, 1, *[_FREE] * (len(shape_of(op.operands[0].type)) - 2))
            return Loops((row, row), (1,), frozenset({0, 1}))
        case _:
            return _structured(op) if op.name.startswith("linalg.") else None


def _structured(op: ir.Operation) -> Loops | None:
    maps = indexing_maps(op)
    if maps is None or len(maps) != len(op.operands):
        return None
    count = len(op.results)
    rows: list[tuple[int, ...]] = []
    tangled: set[int] = set()
    for each in maps:
        row = tuple(
            cast(Any, expression).position if isinstance(expression, ir.AffineDimExpr) else _FREE
            for expression in each.results
        )
        for expression, loop in zip(each.results, row, strict=True):
            if loop == _FREE:
                tangled.update(int(number) for number in _DIM.findall(str(expression)))
        tangled.update(loop for loop in row if row.count(loop) > 1)
        rows.append(row)
    for nested in nested_ops(op):
        if nested.name == "linalg.index":
            tangled.add(int(cast(Any, nested.attributes["dim"]).value))
    outputs = rows[len(rows) - count :]
    free = set(outputs[0]).intersection(*outputs) - tangled - {_FREE}
    if "iterator_types" in op.attributes:
        kinds = ["parallel" in str(kind) for kind in cast(Any, op.attributes["iterator_types"])]
        free = {loop for loop in free if kinds[loop]}
    return Loops(tuple(rows), tuple(range(len(rows) - count, len(rows))), frozenset(free))


VIEWS = frozenset({"tensor.collapse_shape", "tensor.expand_shape", "tensor.extract_slice"})


def below_view(op: ir.Operation, axis: Axis) -> Axis | None:
    """The axis of a view's result if its operand is cut along an axis; None where parts would not be parts of the result."""
    source, result = shape_of(op.operands[0].type), shape_of(op.results[0].type)
    if op.name == "tensor.extract_slice":
        return _below_slice(op, axis, source, result)
    for number, group in _groups(op):
        if op.name == "tensor.collapse_shape" and axis.dim in group:
            inner = _row(source, group, axis.dim)
            return None if inner is None else Axis(number, axis.unit * inner)
        if op.name == "tensor.expand_shape" and number == axis.dim:
            return _split(result, group, axis.unit)
    return None


def above_view(op: ir.Operation, axis: Axis) -> Axis | None:
    """The axis of a view's operand if its result is cut along an axis."""
    source, result = shape_of(op.operands[0].type), shape_of(op.results[0].type)
    if op.name == "tensor.extract_slice":
        for dim in range(len(source)):
            if _below_slice(op, Axis(dim, axis.unit), source, result) == axis:
                return Axis(dim, axis.unit)
        return None
    for number, group in _groups(op):
        if op.name == "tensor.expand_shape" and axis.dim in group:
            inner = _row(result, group, axis.dim)
            return None if inner is None else Axis(number, axis.unit * inner)
        if op.name == "tensor.collapse_shape" and number == axis.dim:
            return _split(source, group, axis.unit)
    return None


def _groups(op: ir.Operation) -> list[tuple[int, tuple[int, ...]]]:
    return [(number, int_array(group)) for number, group in enumerate(cast(Any, op.attributes["reassociation"]))]


def _row(shape: Sequence[int | None], group: Sequence[int], dim: int) -> int | None:
    """How many elements of the merged dimension one of `dim` is; None unless those before it have size 1."""
    if any(shape[other] != 1 for other in group if other < dim):
        return None
    return _product([shape[other] for other in group if other > dim])


def _split(shape: Sequence[int | None], group: Sequence[int], unit: int) -> Axis | None:
    """The first of the merged dimensions with a size other than 1, if parts are whole elements of it."""
    dim = next((other for other in group if shape[other] != 1), group[0])
    inner = _product([shape[other] for other in group if other > dim])
    return None if inner is None or unit % inner else Axis(dim, unit // inner)


def _product(sizes: Sequence[int | None]) -> int | None:
    total = 1
    for size in sizes:
        if size is None or size == 0:
            return None
        total *= size
    return total


def _below_slice(
    op: ir.Operation, axis: Axis, source: Sequence[int | None], result: Sequence[int | None]
) -> Axis | None:
    """A slice that has all of the dimension keeps it."""
    offsets, sizes, strides = (
        int_array(op.attributes[name]) for name in ("static_offsets", "static_sizes", "static_strides")
    )
    kept = kept_dims(sizes, result)
    whole = (offsets[axis.dim], sizes[axis.dim], strides[axis.dim]) == (0, source[axis.dim], 1)
    return Axis(kept.index(axis.dim), axis.unit) if whole and axis.dim in kept else None
