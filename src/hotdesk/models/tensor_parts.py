"""Concatenation and padding of tensors: what they do to memory is fills and insertions of parts.

    tensor.concat dim(1) %a, %b   ->   %0 = insert_slice %a into (tensor.empty)[0, 0]; insert_slice %b into %0[0, n]
    tensor.pad %a low[l] {v}      ->   insert_slice %a into (fill v)[l]

What is padded by nothing on all sides stays as it is. A padding value that depends on the position fills the result by a payload
that computes it everywhere; where that could fail or has effects, the payload computes it outside of the source only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.building import (
    branch,
    cast_to,
    compared,
    constant,
    create,
    dim,
    fill,
    index_constant,
    mixed_sizes,
    sliced,
)
from hotdesk.ir.types import DYNAMIC, shape_of
from hotdesk.ir.walking import (
    constant_of,
    defining_op,
    dialect_of,
    int_array,
    integer_of,
    made_by,
    nested_ops,
    segment_sizes,
)
from hotdesk.models.dialects import SCALAR_DIALECTS
from hotdesk.models.facts import reads_tensors
from hotdesk.models.model import OpModel
from hotdesk.models.payloads import computed, computed_in_loops, inlined, makes_tensors


def _add(a: ir.Value, b: ir.Value, before: ir.Operation) -> ir.Value:
    x, y = constant_of(a), constant_of(b)
    if x is not None and y is not None:
        return index_constant(int(x + y), before)
    return create("arith.addi", [a, b], [a.type], before=before).results[0]


def insert_at(source: ir.Value, into: ir.Value, offsets: list[ir.Value], before: ir.Operation) -> ir.Value:
    """`tensor.insert_slice` of a whole tensor at offsets, unit strides; constants become static.

    Where a type says that there is nothing to insert, the result is `into`: the offset may be its end, which MLIR refuses.
    """
    if 0 in shape_of(source.type) or 0 in shape_of(into.type):
        return into
    begin = [offset if (number := constant_of(offset)) is None else int(number) for offset in offsets]
    return sliced("tensor.insert_slice", [source, into], into.type, begin, mixed_sizes(source, before), before)


def expand_concat(op: ir.Operation) -> list[ir.Value]:
    """The operands, one after the other, inserted into an empty tensor."""
    axis = integer_of(op, "dim")
    kind = op.results[0].type
    zero = offset = index_constant(0, op)
    offsets: list[ir.Value] = []
    parts = [_without_cast(operand) for operand in op.operands]
    for operand in parts:
        offsets.append(offset)
        offset = _add(offset, dim(operand, axis, op), op)
    first = op.operands[0]
    dynamic = [offset if i == axis else dim(first, i, op) for i, size in enumerate(shape_of(kind)) if size is None]
    into = create("tensor.empty", dynamic, [kind], before=op).results[0]
    for number in _slices_first(parts, kind, axis):
        start = [offsets[number] if i == axis else zero for i in range(len(shape_of(kind)))]
        into = insert_at(parts[number], into, start, op)
    return [into]


def _without_cast(value: ir.Value) -> ir.Value:
    """What a value was before a cast, which says more of its sizes."""
    cast = made_by(value, "tensor.cast")
    return value if cast is None or None in shape_of(cast.operands[0].type) else cast.operands[0]


def _slices_first(parts: Sequence[ir.Value], kind: ir.Type, axis: int) -> list[int]:
    """The parts by number, but slices of tensors of the result's type in front of all others, the largest first.

    Where the result takes the place of such a tensor, the first moves in it, what it overwrites of other slices is kept
    aside, and the others are put over what was moved away.
    """

    def rank(number: int) -> tuple[bool, bool, int]:
        taken = made_by(parts[number], "tensor.extract_slice")
        if taken is None or taken.operands[0].type != kind:
            return True, True, 0
        size = shape_of(parts[number].type)[axis]
        return False, size is not None, -(size or 0)

    return sorted(range(len(parts)), key=rank)


def expand_pad(op: ir.Operation) -> list[ir.Value] | None:
    """The source, inserted into a tensor that the padding value fills. A negative padding is left to the verifier."""
    counts = segment_sizes(op)
    low, high = int_array(op.attributes["static_low"]), int_array(op.attributes["static_high"])
    if any(DYNAMIC < entry < 0 for entry in (*low, *high)):
        return None
    source, kind = op.operands[0], op.results[0].type
    widths = [entry for entry in (*low, *high) if entry != DYNAMIC] + [constant_of(v) for v in list(op.operands)[1:]]
    if all(width == 0 for width in widths):
        return [cast_to(source, kind, op)]
    lows = _mixed(low, list(op.operands)[1 : 1 + counts[1]], op)
    highs = _mixed(high, list(op.operands)[1 + counts[1] :], op)
    dynamic = [
        _add(_add(lows[i], dim(source, i, op), op), highs[i], op)
        for i, size in enumerate(shape_of(kind))
        if size is None
    ]
    scalar = padding_value(op)
    if scalar is not None:
        empty = create("tensor.empty", dynamic, [kind], before=op).results[0]
        return [insert_at(source, fill(scalar, empty, op), lows, op)]
    block = op.regions[0].blocks[0]
    if not makes_tensors(op) and _may_run_anywhere(op):
        padding = computed(kind, dynamic, lambda positions, end: inlined(block, positions, end)[0], op)
        return [insert_at(source, padding, lows, op)]

    def element(positions: list[ir.Value], end: ir.Operation) -> ir.Value:
        return _inside_or(source, lows, positions, block, end)

    make = computed_in_loops if makes_tensors(op) else computed
    return [make(kind, dynamic, element, op)]


def padding_value(op: ir.Operation) -> ir.Value | None:
    """The one padding value of a `tensor.pad`, in front of it; None if it is computed for each position."""
    block = op.regions[0].blocks[0]
    scalar = list(block.operations)[-1].operation.operands[0]
    producer = defining_op(scalar)
    if producer is None:
        return None if scalar.owner == block else scalar
    if producer.block != block:
        return scalar
    if constant_of(scalar) is None:
        return None
    return create("arith.constant", [], [scalar.type], {"value": producer.attributes["value"]}, before=op).results[0]


def _may_run_anywhere(op: ir.Operation) -> bool:
    """Whether a payload may be computed for positions that it was not asked for: scalar arithmetic that cannot fail."""
    names = [inner.name for inner in nested_ops(op) if inner.name != "tensor.yield"]
    return all(
        (
            dialect_of(name) in SCALAR_DIALECTS
            and not name.split(".")[1].startswith(("div", "rem", "floordiv", "ceildiv", "ipowi"))
        )
        or name in ("arith.divf", "arith.remf")
        for name in names
    )


def _inside_or(
    source: ir.Value, lows: list[ir.Value], positions: list[ir.Value], block: ir.Block, before: ir.Operation
) -> ir.Value:
    """The element of the source at a position of the padded tensor, or else what a payload computes there."""
    index, truth = ir.IndexType.get(), ir.IntegerType.get_signless(1)
    inside = constant(1, truth, before)
    there: list[ir.Value] = []
    for i, (position, low) in enumerate(zip(positions, lows, strict=True)):
        there.append(create("arith.subi", [position, low], [index], before=before).results[0])
        within = compared("ult", there[i], dim(source, i, before), before)  # unsigned: what is negative is large
        inside = create("arith.andi", [inside, within], [truth], before=before).results[0]
    element = cast(Any, source.type).element_type
    made, found, outside = branch(inside, [element], [inside], before)
    found.operands[0] = create("tensor.extract", [source, *there], [element], before=found).results[0]
    outside.operands[0] = inlined(block, positions, outside)[0]
    return made.results[0]


def _mixed(static: tuple[int, ...], dynamic: list[ir.Value], before: ir.Operation) -> list[ir.Value]:
    rest = iter(dynamic)
    return [next(rest) if entry == DYNAMIC else index_constant(entry, before) for entry in static]


MODELS = {
    "tensor.concat": OpModel(reads_tensors, expand=expand_concat),
    "tensor.pad": OpModel(reads_tensors, expand=expand_pad),
}
