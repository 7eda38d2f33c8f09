"""Concatenation, padding and tensors of given scalars as what they do to memory: fills and inserted slices.

    tensor.concat dim(1) %a, %b   ->   %0 = insert_slice %a into (tensor.empty)[0, 0]; insert_slice %b into %0[0, n]
    tensor.pad %a low[l] {v}      ->   insert_slice %a into (fill v)[l]
    tensor.from_elements %s       ->   fill %s; of several, a fill of one element inserted for each

A `tensor.pad` whose padding value is computed in its region is left alone: it may depend on the position.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, cast

from hotdesk._bindings import ir
from hotdesk.explain import Decision
from hotdesk.ir.building import create, dim, fill, index_constant, integers
from hotdesk.ir.types import shape_of
from hotdesk.ir.walking import constant_of, defined_functions, defining_op, int_array, segment_sizes, top_level_ops
from hotdesk.passes.base import Pass

_DYNAMIC = -(2**63)


@dataclass(frozen=True, slots=True)
class DecomposeConcatAndPad(Pass):
    """Rewrites `tensor.concat` and `tensor.pad` with one padding value into insertions."""

    name: ClassVar[str] = "hotdesk-decompose-concat-and-pad"

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        for function in defined_functions(module):
            for op in top_level_ops(function):
                if op.name == "tensor.concat":
                    _concat(op)
                elif op.name == "tensor.pad":
                    _pad(op)
                elif op.name == "tensor.from_elements":
                    _from_elements(op)
        return ()


def _add(a: ir.Value, b: ir.Value, before: ir.Operation) -> ir.Value:
    x, y = constant_of(a), constant_of(b)
    if x is not None and y is not None:
        with ir.InsertionPoint(before), before.location:
            attribute = ir.IntegerAttr.get(ir.IndexType.get(), int(x + y))
            return ir.Operation.create("arith.constant", results=[a.type], attributes={"value": attribute}).results[0]
    return create("arith.addi", [a, b], [a.type], before=before).results[0]


def _insert(source: ir.Value, into: ir.Value, offsets: list[ir.Value], before: ir.Operation) -> ir.Value:
    """`tensor.insert_slice` of a whole tensor at offsets, unit strides; constants become static.

    Where a type says that there is nothing to insert, the result is `into`: the offset may be its end, which MLIR refuses.
    """
    if 0 in shape_of(source.type) or 0 in shape_of(into.type):
        return into
    static: list[int] = []
    dynamic: list[ir.Value] = []
    for offset in offsets:
        number = constant_of(offset)
        static.append(_DYNAMIC if number is None else int(number))
        dynamic.extend([offset] if number is None else [])
    sizes: list[int] = []
    dynamic_sizes: list[ir.Value] = []
    for i, size in enumerate(shape_of(source.type)):
        sizes.append(_DYNAMIC if size is None else size)
        dynamic_sizes.extend([dim(source, i, before)] if size is None else [])
    attributes = {
        "static_offsets": integers(static),
        "static_sizes": integers(sizes),
        "static_strides": integers([1] * len(static)),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1, len(dynamic), len(dynamic_sizes), 0]),
    }
    operands = [source, into, *dynamic, *dynamic_sizes]
    return create("tensor.insert_slice", operands, [into.type], attributes, before=before).results[0]


def _concat(op: ir.Operation) -> None:
    axis = int(cast(Any, op.attributes["dim"]).value)
    result = op.results[0]
    index = ir.IndexType.get()
    zero = create("arith.constant", [], [index], {"value": ir.IntegerAttr.get(index, 0)}, before=op).results[0]
    offset = zero
    offsets: list[ir.Value] = []
    for operand in op.operands:
        offsets.append(offset)
        offset = _add(offset, dim(operand, axis, op), op)
    first = op.operands[0]
    dynamic = [
        offset if i == axis else dim(first, i, op) for i, size in enumerate(shape_of(result.type)) if size is None
    ]
    into = create("tensor.empty", dynamic, [result.type], before=op).results[0]
    rank = len(shape_of(result.type))
    for operand, start in zip(op.operands, offsets, strict=True):
        into = _insert(operand, into, [start if i == axis else zero for i in range(rank)], op)
    result.replace_all_uses_with(into)
    op.erase()


def _from_elements(op: ir.Operation) -> None:
    result = op.results[0]
    rank, element = len(shape_of(result.type)), cast(Any, result.type).element_type
    into = create("tensor.empty", [], [result.type], before=op).results[0]
    if len(op.operands) == 1:
        into = fill(op.operands[0], into, op)
    elif rank == 1:
        one = ir.RankedTensorType.get([1], element)
        for i, scalar in enumerate(op.operands):
            single = create("tensor.empty", [], [one], before=op).results[0]
            into = _insert(fill(scalar, single, op), into, [index_constant(i, op)], op)
    else:
        return
    result.replace_all_uses_with(into)
    op.erase()


def _pad(op: ir.Operation) -> None:
    scalar = list(op.regions[0].blocks[0].operations)[-1].operation.operands[0]
    producer = defining_op(scalar)
    block = op.regions[0].blocks[0]
    inside = scalar.owner == block if producer is None else producer.block == block
    if inside and constant_of(scalar) is None:
        return
    counts = segment_sizes(op)
    source, result = op.operands[0], op.results[0]
    lows = _mixed(int_array(op.attributes["static_low"]), list(op.operands)[1 : 1 + counts[1]], op)
    highs = _mixed(int_array(op.attributes["static_high"]), list(op.operands)[1 + counts[1] :], op)
    dynamic = [
        _add(_add(lows[i], dim(source, i, op), op), highs[i], op)
        for i, size in enumerate(shape_of(result.type))
        if size is None
    ]
    empty = create("tensor.empty", dynamic, [result.type], before=op).results[0]
    if constant_of(scalar) is not None:
        scalar = create("arith.constant", [], [scalar.type], {"value": constant_scalar(scalar)}, before=op).results[0]
    padded = _insert(source, fill(scalar, empty, op), lows, op)
    result.replace_all_uses_with(padded)
    op.erase()


def constant_scalar(value: ir.Value) -> ir.Attribute:
    """The attribute of an `arith.constant`."""
    return cast(Any, value.owner).operation.attributes["value"]


def _mixed(static: tuple[int, ...], dynamic: list[ir.Value], before: ir.Operation) -> list[ir.Value]:
    rest = iter(dynamic)
    index = ir.IndexType.get()
    return [
        next(rest)
        if entry == _DYNAMIC
        else create("arith.constant", [], [index], {"value": ir.IntegerAttr.get(index, entry)}, before=before).results[
            0
        ]
        for entry in static
    ]
