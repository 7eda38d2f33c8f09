"""What rewrites of StableHLO's ops share: functions as text, constants, and integers with the bits of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from hotdesk._bindings import ir
from hotdesk.ir.building import clone_with, create
from hotdesk.ir.types import element_of, is_tensor, shape_of


def written(text: str, operands: Sequence[ir.Value], before: ir.Operation) -> ir.Value:
    """The result of the function that a text has, its body in front of an op."""
    module = ir.Module.parse(text, before.context)
    block = module.body.operations[0].operation.regions[0].blocks[0]
    known: dict[ir.Value, ir.Value] = dict(zip(block.arguments, operands, strict=True))
    *body, end = (each.operation for each in block.operations)
    for op in body:
        clone_with(op, known, ir.InsertionPoint(before)).location = before.location
    return known[end.operands[0]]


def take_away(op: ir.Operation, values: Sequence[ir.Value]) -> None:
    """Erases an op whose results become other values."""
    for result, value in zip(op.results, values, strict=True):
        result.replace_all_uses_with(value)
    op.erase()


def is_known(value: ir.Value) -> bool:
    """Whether a value is a tensor of known sizes."""
    return is_tensor(value.type) and None not in shape_of(value.type)


def spread(scalar: ir.Value, kind: ir.Type, before: ir.Operation) -> ir.Value:
    """A tensor whose elements are all that of one without dims."""
    dims = {"broadcast_dimensions": ir.DenseI64ArrayAttr.get([])}
    return create("stablehlo.broadcast_in_dim", [scalar], [kind], dims, before=before).results[0]


def with_element(kind: ir.Type, element: str) -> ir.Type:
    """A tensor of these sizes with other elements."""
    return ir.RankedTensorType.get(list(cast("Sequence[int]", shape_of(kind))), ir.Type.parse(element))


def splat(number: float, kind: ir.Type, before: ir.Operation) -> ir.Value:
    """A constant of one number."""
    value = ir.Attribute.parse(f"dense<{number}> : {kind}")
    return create("stablehlo.constant", [], [kind], {"value": value}, before=before).results[0]


def signless(value: ir.Value, before: ir.Operation) -> ir.Value:
    """The same bits as integers without a sign of their own, where they have one."""
    element = element_of(value.type)
    return bits(value, element[1:], before) if element.startswith("ui") else value


def bits(value: ir.Value, element: str, before: ir.Operation) -> ir.Value:
    """The same bits as elements of another type."""
    kind = with_element(value.type, element)
    return create("stablehlo.bitcast_convert", [value], [kind], before=before).results[0]
