"""Rules 2 to 4 and 8 of `named_ops`: named convolutions and poolings become `hotdesk.conv` and `hotdesk.pool`."""

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
    structured,
)
from hotdesk.ir.types import element_of, shape_of
from hotdesk.ir.walking import defining_op, groups_of, int_array, made_by, users
from hotdesk.models.generics import read_generic
from hotdesk.models.linalg import BROADCAST, extends_unsigned, fill_value
from hotdesk.models.tensor import EXPAND
from hotdesk.passes.tensor.fills import initial
from hotdesk.passes.tensor.windows import WindowRead, find_window, folded_decisions

_ADDED_AS_SUMMED = frozenset(("f32", "f64"))
"""Types in which sums are no less exact where the bias comes last; a sum of 16-bit floats would be rounded twice."""


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
    bias = _bias_for_reader(op)
    if bias is None:
        replace(op, _conv(op, window, weight, init, groups, accumulate))
        return decisions
    conv = _conv(op, window, weight, empty_like(init, op), groups, False)
    replace(op, _plus(conv.results[0], bias, empty_like(init, op), op))
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


def _bias_for_reader(op: ir.Operation) -> ir.Operation | None:
    """The broadcast that a convolution adds to, if the one op that reads the result can add it instead (rule 8)."""
    broadcast = made_by(op.operands[2], BROADCAST)
    kinds = {element_of(value.type) for value in op.operands}
    readers = users(op.results[0])
    reader = read_generic(readers[0]) if len(readers) == 1 else None
    if broadcast is None or reader is None or len(kinds) > 1 or not kinds <= _ADDED_AS_SUMMED:
        return None
    computes = len(list(reader.op.regions[0].blocks[0].operations)) > 1
    read = [i for i, value in enumerate(reader.op.operands) if value == op.results[0]]
    if not computes or reader.op.block != op.block or not all(reader.parallel):
        return None
    return broadcast if all(i < reader.inputs and reader.maps[i].is_permutation for i in read) else None


def _plus(sums: ir.Value, broadcast: ir.Operation, out: ir.Value, before: ir.Operation) -> ir.Operation:
    """Adds what is broadcast to each element."""
    rank, added = len(shape_of(sums.type)), int_array(broadcast.attributes["dimensions"])
    places = ir.AffineMap.get(rank, 0, [ir.AffineExpr.get_dim(i) for i in range(rank) if i not in added])
    identity = ir.AffineMap.get_identity(rank)
    maps = [identity, places, identity]
    op, end = structured([sums, broadcast.operands[0]], [out], before, maps)
    left, right, _ = op.regions[0].blocks[0].arguments
    end.operands[0] = create("arith.addf", [left, right], [left.type], before=end).results[0]
    return op


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
