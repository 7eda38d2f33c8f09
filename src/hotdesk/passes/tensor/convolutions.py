"""Rules 2 to 4 of `named_ops`: named convolutions and poolings become `hotdesk.conv` and `hotdesk.pool`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import cast

from hotdesk._bindings import ir
from hotdesk.explain import Decision
from hotdesk.ir.building import create, dim, empty_like, integers, replace
from hotdesk.ir.types import element_of, shape_of, static_entries, tensor_with
from hotdesk.ir.walking import defining_op, groups_of, int_array
from hotdesk.models.linalg import extends_unsigned, fill_value
from hotdesk.passes.tensor.fills import initial
from hotdesk.passes.tensor.windows import WindowRead, find_window, folded_decisions


def convolution(op: ir.Operation) -> list[Decision]:
    if extends_unsigned(op):
        return []
    value, weight, _ = op.operands
    window = find_window(value, 0.0)
    decisions = folded_decisions(value, window)
    groups = 1
    if op.name.startswith("linalg.depthwise"):
        groups = shape_of(weight.type)[0]
        if groups is None:
            return []
        weight = _reshaped(weight, _split_leading(shape_of(weight.type)), op, "tensor.expand_shape")
    accumulate, init = initial(op, 0.0)
    replace(op, _conv(op, window, weight, init, groups, accumulate))
    return decisions


def grouped_convolution(op: ir.Operation) -> list[Decision]:
    """`[N, G, C, …] * [G, F, C, …]` with the group dims merged into their neighbours."""
    value, weight, init = op.operands
    groups = shape_of(weight.type)[0]
    if groups is None or extends_unsigned(op):
        return []
    value, weight, init = (
        _merged(value, 1, op),
        _merged(weight, 0, op),
        _merged(init, 1, op),
    )
    window = find_window(value, 0.0)
    decisions = folded_decisions(value, window)
    fill = fill_value(op.operands[2])
    if fill == 0.0:
        init = empty_like(init, op)
    conv = _conv(op, window, weight, init, groups, fill != 0.0)
    full = shape_of(op.results[0].type)
    split = _reshape_to(conv.results[0], full, _groups_merging(len(full), 1), op.operands[2], op)
    op.results[0].replace_all_uses_with(split)
    op.erase()
    return decisions


def _conv(
    op: ir.Operation, window: WindowRead, weight: ir.Value, init: ir.Value, groups: int, accumulate: bool
) -> ir.Operation:
    """A `hotdesk.conv` before the convolution `op`, with its strides and dilations and what `window` folded of its padding."""
    attributes = {
        "strides": integers(int_array(op.attributes["strides"])),
        "dilations": integers(int_array(op.attributes["dilations"])),
        "pad_low": integers(window.low),
        "pad_high": integers(window.high),
        "input_dilations": integers(window.input_dilations),
        "groups": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), groups),
        "accumulate": ir.BoolAttr.get(accumulate),
    }
    return create("hotdesk.conv", [window.source, weight, init], [init.type], attributes, before=op)


def _groups_merging(rank: int, position: int) -> list[list[int]]:
    groups: list[list[int]] = []
    for i in range(rank):
        if i == position + 1:
            groups[-1].append(i)
        else:
            groups.append([i])
    return groups


def _merged(value: ir.Value, position: int, before: ir.Operation) -> ir.Value:
    """Collapses dims `position` and `position + 1`; looks through the expansion that made them, and through padding."""
    producer = defining_op(value)
    sizes = shape_of(value.type)
    groups = _groups_merging(len(sizes), position)
    if (
        producer is not None
        and producer.name == "tensor.expand_shape"
        and len(sizes) == len(shape_of(producer.operands[0].type)) + 1
    ):
        reassociation = [list(g) for g in groups_of(producer)]
        if reassociation == groups:
            return producer.operands[0]
    merged = tuple(
        None if any(sizes[i] is None for i in group) else math.prod(cast(int, sizes[i]) for i in group)
        for group in groups
    )
    return _reshaped(value, (merged, groups), before, "tensor.collapse_shape")


def _split_leading(sizes: tuple[int | None, ...]) -> tuple[tuple[int | None, ...], list[list[int]]]:
    return (sizes[0], 1, *sizes[1:]), [[0, 1], *([i + 2] for i in range(len(sizes) - 1))]


def _reassociation(groups: list[list[int]]) -> ir.Attribute:
    i64 = ir.IntegerType.get_signless(64)
    return ir.ArrayAttr.get([ir.ArrayAttr.get([ir.IntegerAttr.get(i64, i) for i in group]) for group in groups])


def _reshaped(
    value: ir.Value, target: tuple[tuple[int | None, ...], list[list[int]]], before: ir.Operation, name: str
) -> ir.Value:
    sizes, groups = target
    attributes: dict[str, ir.Attribute] = {"reassociation": _reassociation(groups)}
    if name == "tensor.expand_shape":
        attributes["static_output_shape"] = integers([cast(int, size) for size in sizes])
    return create(name, [value], [tensor_with(sizes, value.type)], attributes, before=before).results[0]


def _reshape_to(
    value: ir.Value, sizes: tuple[int | None, ...], groups: list[list[int]], like: ir.Value, before: ir.Operation
) -> ir.Value:
    operands = [value, *(dim(like, i, before) for i, size in enumerate(sizes) if size is None)]
    attributes = {
        "reassociation": _reassociation(groups),
        "static_output_shape": integers(static_entries(sizes)),
    }
    return create("tensor.expand_shape", operands, [tensor_with(sizes, value.type)], attributes, before=before).results[
        0
    ]


def _neutral(kind: str, element: str) -> float:
    if kind == "sum":
        return 0.0
    sign = -1.0 if kind == "max" else 1.0
    if element.startswith(("f", "bf")):
        return sign * math.inf
    bits = int(element[1:])
    return float(-(2 ** (bits - 1)) if kind == "max" else 2 ** (bits - 1) - 1)


def pool(kind: str) -> Callable[[ir.Operation], list[Decision]]:
    def rewrite(op: ir.Operation) -> list[Decision]:
        value, shape_operand, _ = op.operands
        sizes = shape_of(shape_operand.type)
        if None in sizes:
            return []
        neutral = _neutral(kind, element_of(value.type))
        window = find_window(value, neutral)
        if any(d != 1 for d in window.input_dilations):
            window = WindowRead(value, (0,) * len(sizes), (0,) * len(sizes), (1,) * len(sizes))
        decisions = folded_decisions(value, window)
        accumulate, init = initial(op, neutral)
        attributes = {
            "kind": ir.StringAttr.get(kind),
            "window": integers([cast(int, size) for size in sizes]),
            "strides": integers(int_array(op.attributes["strides"])),
            "dilations": integers(int_array(op.attributes["dilations"])),
            "pad_low": integers(window.low),
            "pad_high": integers(window.high),
            "accumulate": ir.BoolAttr.get(accumulate),
        }
        replace(op, create("hotdesk.pool", [window.source, init], [op.results[0].type], attributes, before=op))
        return decisions

    return rewrite
