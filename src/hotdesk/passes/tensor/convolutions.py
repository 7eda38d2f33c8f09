"""Rules 2 to 4 of `named_ops`: named convolutions and poolings become `hotdesk.conv` and `hotdesk.pool`."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from hotdesk._bindings import ir
from hotdesk.elements import neutral
from hotdesk.explain import Decision
from hotdesk.ir.building import (
    collapsed,
    create,
    empty_like,
    expand_dim,
    expanded,
    integers,
    mixed_sizes,
    replace,
)
from hotdesk.ir.types import element_of, shape_of
from hotdesk.ir.walking import defining_op, groups_of, int_array
from hotdesk.models.linalg import extends_unsigned, fill_value
from hotdesk.models.tensor import EXPAND
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
        weight = expand_dim(weight, 0, [groups, 1], op)
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
    split = expanded(conv.results[0], _merging(len(full), 1), mixed_sizes(op.operands[2], op), op)
    op.results[0].replace_all_uses_with(split)
    op.erase()
    return decisions


def _conv(
    op: ir.Operation, window: WindowRead, weight: ir.Value, init: ir.Value, groups: int, accumulate: bool
) -> ir.Operation:
    """A `hotdesk.conv` before the convolution `op`, with its strides and dilations and what `window` folded of its padding."""
    attributes = {
        "strides": _steps(op, "strides", window),
        "dilations": _steps(op, "dilations", window),
        "pad_low": integers(window.low),
        "pad_high": integers(window.high),
        "input_dilations": integers(window.input_dilations),
        "groups": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), groups),
        "accumulate": ir.BoolAttr.get(accumulate),
    }
    return create("hotdesk.conv", [window.source, weight, init], [init.type], attributes, before=op)


def _steps(op: ir.Operation, name: str, window: WindowRead) -> ir.Attribute:
    """The strides or dilations of a named op: 1 in each dimension where it says nothing."""
    return integers(int_array(op.attributes[name]) if name in op.attributes else (1,) * len(window.low))


def _merging(rank: int, position: int) -> list[int]:
    """How many dims become one each where `position` and `position + 1` do."""
    return [2 if at == position else 1 for at in range(rank - 1)]


def _merged(value: ir.Value, position: int, before: ir.Operation) -> ir.Value:
    """Collapses dims `position` and `position + 1`; looks through the expansion that made them, and through padding."""
    producer = defining_op(value)
    sizes = shape_of(value.type)
    lengths = _merging(len(sizes), position)
    if (
        producer is not None
        and producer.name == EXPAND
        and len(sizes) == len(shape_of(producer.operands[0].type)) + 1
        and list(map(len, groups_of(producer))) == lengths
    ):
        return producer.operands[0]
    return collapsed(value, lengths, before)


def pool(kind: str) -> Callable[[ir.Operation], list[Decision]]:
    def rewrite(op: ir.Operation) -> list[Decision]:
        value, shape_operand, _ = op.operands
        sizes = shape_of(shape_operand.type)
        if None in sizes:
            return []
        nothing = float(neutral(element_of(value.type), kind))
        window = find_window(value, nothing)
        if any(d != 1 for d in window.input_dilations):
            window = WindowRead(value, (0,) * len(sizes), (0,) * len(sizes), (1,) * len(sizes))
        decisions = folded_decisions(value, window)
        accumulate, init = initial(op, nothing)
        attributes = {
            "kind": ir.StringAttr.get(kind),
            "window": integers([cast(int, size) for size in sizes]),
            "strides": _steps(op, "strides", window),
            "dilations": _steps(op, "dilations", window),
            "pad_low": integers(window.low),
            "pad_high": integers(window.high),
            "accumulate": ir.BoolAttr.get(accumulate),
        }
        replace(op, create("hotdesk.pool", [window.source, init], [op.results[0].type], attributes, before=op))
        return decisions

    return rewrite
