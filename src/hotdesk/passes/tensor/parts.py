"""Does operations in parts as `analysis.order.splitting` and `spans` there say: slices of operands, insertions of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.analysis.order.axes import Axis, read_loops
from hotdesk.analysis.order.spans import Span, SplitPart
from hotdesk.analysis.order.splitting import Split, SplitOp
from hotdesk.ir.building import create, dynamic_dims, integers
from hotdesk.ir.types import shape_of, static_entries, tensor_with
from hotdesk.ir.walking import defining_op, int_array

_PADDINGS = {"tensor.pad": ("static_low", "static_high")}


def do_in_parts(split: Split, parts: Sequence[SplitPart], over: Mapping[ir.Value, ir.Value] | None = None) -> None:
    """Does each part in front of the last of the operations, and erases them.

    `over` says of results which operand they are put over: each part takes its slice of what the one before has left, writes over
    it, and puts it back.
    """
    last, over = split.ops[-1].operation, over or {}
    whole: dict[ir.Value, ir.Value] = {
        value: over[value]
        if value in over
        else create("tensor.empty", _known_dims(value, last), [value.type], before=last).results[0]
        for value in split.outputs
    }
    axes: dict[ir.Value, Axis] = {}
    for op in split.ops:
        axes.update(zip(op.operation.results, op.results, strict=True))
    for part in parts:
        making = _Making(part, last, {value: (over[value], whole[value]) for value in over})
        for op in split.ops:
            making.make(op)
        for value in split.outputs:
            whole[value] = _insert(making.made[value], whole[value], axes[value], part.made[value], last)
    for value, together in whole.items():
        value.replace_all_uses_with(together)
    for op in reversed(split.ops):
        op.operation.erase()


def _known_dims(value: ir.Value, before: ir.Operation) -> list[ir.Value]:
    """The dynamic sizes of a result, of its destination rather than of itself: it will not be there."""
    op = defining_op(value)
    while op is not None and op.name != "tensor.empty" and (loops := read_loops(op)) is not None and loops.inits:
        value = op.operands[loops.inits[list(op.results).index(cast(Any, value))]]
        op = defining_op(value)
    return list(op.operands) if op is not None and op.name == "tensor.empty" else dynamic_dims(value, before)


@dataclass(slots=True)
class _Making:
    """One part being made, in front of `before`.

    `over` are, for results that are put over an operand, the operand and what the parts before have made of it.
    """

    part: SplitPart
    before: ir.Operation
    over: Mapping[ir.Value, tuple[ir.Value, ir.Value]]
    made: dict[ir.Value, ir.Value] = field(default_factory=dict[ir.Value, ir.Value])
    _slices: dict[tuple[ir.Value, int, Span], ir.Value] = field(
        default_factory=dict[tuple[ir.Value, int, Span], ir.Value]
    )

    def make(self, op: SplitOp) -> None:
        """Does an operation for this part."""
        over = self._over(op)
        operands = [
            over[i] if i in over else value if axis is None else self._operand(value, axis.dim, self.part.read(op, i))
            for i, (value, axis) in enumerate(zip(op.operation.operands, op.operands, strict=True))
        ]
        made = zip(op.operation.results, op.results, strict=True)
        kinds = [_part_type(result, axis.dim, self.part.made[result]) for result, axis in made]
        attributes = {name: op.operation.attributes[name] for name in op.operation.attributes}
        attributes.update(self._changed(op))
        with ir.InsertionPoint(self.before), op.operation.location:
            new = ir.Operation.create(
                op.operation.name,
                results=kinds,
                operands=operands,
                attributes=attributes,
                regions=len(op.operation.regions),
            ).operation
        if len(op.operation.regions):
            twin = op.operation.clone(ir.InsertionPoint(self.before))
            for old, region in zip(twin.regions, new.regions, strict=True):
                for block in list(old.blocks):
                    block.append_to(region)
            twin.erase()
        self.made.update(zip(op.operation.results, new.results, strict=True))

    def _over(self, op: SplitOp) -> dict[int, ir.Value]:
        """By operand: what a result is put over as it is now, where the operation reads it, and as destination."""
        found: dict[int, ir.Value] = {}
        loops = read_loops(op.operation)
        for number, (result, axis) in enumerate(zip(op.operation.results, op.results, strict=True)):
            if result not in self.over or loops is None:
                continue
            over, now = self.over[result]
            span = self.part.made[result]
            piece = _slice(now, _part_type(result, axis.dim, span), axis.dim, span[0], self.before)
            places = (
                i for i, operand in enumerate(op.operation.operands) if operand == over or i == loops.inits[number]
            )
            found.update(dict.fromkeys(places, piece))
        return found

    def _operand(self, value: ir.Value, dim: int, span: Span) -> ir.Value:
        """Some elements of an operand, of this part of it if there is one."""
        here = self.part.made.get(value)
        if here == span:
            return self.made[value]
        key = value, dim, span
        if key not in self._slices:
            kind = _part_type(value, dim, span)
            if here is None:
                self._slices[key] = _slice(value, kind, dim, span[0], self.before)
            else:
                self._slices[key] = _slice(self.made[value], kind, dim, span[0] - here[0], self.before)
        return self._slices[key]

    def _changed(self, op: SplitOp) -> dict[str, ir.Attribute]:
        """The attributes that say sizes or paddings."""
        old, result = op.operation, op.results[0]
        first, end = self.part.loop(op)
        if old.name == "tensor.expand_shape":
            return {"static_output_shape": _with(old, "static_output_shape", result.dim, (end - first) * result.unit)}
        if old.name in ("tensor.extract_slice", "tensor.insert_slice"):
            axis = op.operands[0] or result
            return {"static_sizes": _with(old, "static_sizes", axis.dim, (end - first) * axis.unit)}
        for axis, reach in zip(op.operands, op.reaches, strict=True):
            if axis is not None and reach is not None and not old.name.startswith("linalg."):
                names = _PADDINGS.get(old.name, ("pad_low", "pad_high"))
                dim = axis.dim if old.name in _PADDINGS else axis.dim - 2
                paddings = zip(names, reach.padding(first, end), strict=True)
                return {name: _with(old, name, dim, padding) for name, padding in paddings}
        return {}


def _with(op: ir.Operation, name: str, dim: int, number: int) -> ir.Attribute:
    numbers = list(int_array(op.attributes[name]))
    numbers[dim] = number
    return integers(numbers)


def _part_type(value: ir.Value, dim: int, span: Span) -> ir.RankedTensorType:
    sizes = list(shape_of(value.type))
    sizes[dim] = span[1] - span[0]
    return tensor_with(sizes, value.type)


def _slice(value: ir.Value, kind: ir.RankedTensorType, dim: int, first: int, before: ir.Operation) -> ir.Value:
    maker = defining_op(value)
    if maker is not None and maker.name == "tensor.empty":
        return create("tensor.empty", list(maker.operands), [kind], before=before).results[0]
    dynamic = dynamic_dims(value, before)
    attributes = _window(shape_of(kind), dim, first, [1, 0, len(dynamic), 0])
    return create("tensor.extract_slice", [value, *dynamic], [kind], attributes, before=before).results[0]


def _insert(part: ir.Value, whole: ir.Value, axis: Axis, span: Span, before: ir.Operation) -> ir.Value:
    dynamic = dynamic_dims(part, before)
    attributes = _window(shape_of(part.type), axis.dim, span[0], [1, 1, 0, len(dynamic), 0])
    return create("tensor.insert_slice", [part, whole, *dynamic], [whole.type], attributes, before=before).results[0]


def _window(sizes: Sequence[int | None], dim: int, first: int, segments: Sequence[int]) -> dict[str, ir.Attribute]:
    return {
        "static_offsets": integers([first if each == dim else 0 for each in range(len(sizes))]),
        "static_sizes": integers(static_entries(sizes)),
        "static_strides": integers([1] * len(sizes)),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get(list(segments)),
    }
