"""Does operations in parts as `analysis.order.splitting` and `halos` there say: slices of operands, insertions of results.

Equal parts one behind the other may become a loop over them, which carries what they make.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.analysis.order.axes import Axis, read_loops
from hotdesk.analysis.order.halos import EqualParts, Span, SplitPart, equal_parts
from hotdesk.analysis.order.splitting import Split, SplitOp
from hotdesk.ir.building import (
    create,
    dynamic_dims,
    extract_along,
    index_constant,
    insert_along,
    integers,
    loop,
    remade,
)
from hotdesk.ir.types import shape_of, tensor_with
from hotdesk.ir.walking import attributes_of, defining_op, int_array
from hotdesk.models.tensor import EMPTY, EXPAND
from hotdesk.models.tensor_slices import EXTRACT_SLICE, INSERT_SLICE

_PADDINGS = {"tensor.pad": ("static_low", "static_high")}


def do_in_parts(
    split: Split, parts: Sequence[SplitPart], over: Mapping[ir.Value, ir.Value] | None = None, unrolled: int = 0
) -> None:
    """Does each part in front of the last of the operations, and erases them.

    `over` says of results which operand they are put over: each part takes its slice of what the one before has left, writes over
    it, and puts it back. More than `unrolled` equal parts one behind the other become a loop; 0 for never.
    """
    last, over = split.ops[-1].operation, over or {}
    whole: dict[ir.Value, ir.Value] = {
        value: over[value]
        if value in over
        else create("tensor.empty", _known_dims(value, last), [value.type], before=last).results[0]
        for value in split.outputs
    }
    for equal in equal_parts(split, parts):
        if unrolled and len(equal.parts) > unrolled:
            whole = _in_loop(split, equal, whole, over, last)
        else:
            for part in equal.parts:
                whole = _Making(split, EqualParts((part,)), last, over, whole).inserted()
    for value, together in whole.items():
        value.replace_all_uses_with(together)
    for op in reversed(split.ops):
        op.operation.erase()


def _in_loop(
    split: Split,
    equal: EqualParts,
    whole: Mapping[ir.Value, ir.Value],
    over: Mapping[ir.Value, ir.Value],
    before: ir.Operation,
) -> dict[ir.Value, ir.Value]:
    """Equal parts as a loop that carries the results they are put together in."""
    bounds = [index_constant(each, before) for each in (0, len(equal.parts), 1)]
    made, turn, carried, end = loop(bounds, list(whole.values()), before)
    making = _Making(split, equal, end, over, dict(zip(whole, carried, strict=True)), turn)
    for number, value in enumerate(making.inserted().values()):
        end.operands[number] = value
    return dict(zip(whole, made.results, strict=True))


def _known_dims(value: ir.Value, before: ir.Operation) -> list[ir.Value]:
    """The dynamic sizes of a result, of its destination rather than of itself: it will not be there."""
    op = defining_op(value)
    while op is not None and op.name != EMPTY and (loops := read_loops(op)) is not None and loops.inits:
        value = op.operands[loops.inits[list(op.results).index(cast(Any, value))]]
        op = defining_op(value)
    return list(op.operands) if op is not None and op.name == EMPTY else dynamic_dims(value, before)


@dataclass(slots=True)
class _Making:
    """One part being made, in front of `before`, or one of equal parts: that of iteration `turn` of a loop.

    `over` are, for results that are put over an operand, that operand; `whole` is what the parts before have made of results.
    """

    split: Split
    equal: EqualParts
    before: ir.Operation
    over: Mapping[ir.Value, ir.Value]
    whole: Mapping[ir.Value, ir.Value]
    turn: ir.Value | None = None
    made: dict[ir.Value, ir.Value] = field(default_factory=dict[ir.Value, ir.Value])
    _slices: dict[tuple[ir.Value, int, Span, int], ir.Value] = field(
        default_factory=dict[tuple[ir.Value, int, Span, int], ir.Value]
    )
    _places: dict[tuple[int, int], ir.Value] = field(default_factory=dict[tuple[int, int], ir.Value])

    @property
    def part(self) -> SplitPart:
        return self.equal.first

    def inserted(self) -> dict[ir.Value, ir.Value]:
        """Does all operations for this part, and inserts what it makes of results into what there is of them."""
        axes: dict[ir.Value, Axis] = {}
        for op in self.split.ops:
            self.make(op)
            axes.update(zip(op.operation.results, op.results, strict=True))
        return {
            value: insert_along(self.made[value], whole, axes[value].dim, self._made_at(value), self.before)
            for value, whole in self.whole.items()
        }

    def make(self, op: SplitOp) -> None:
        """Does an operation for this part."""
        over = self._over(op)
        operands = [
            over[i] if i in over else value if axis is None else self._operand(op, i, axis.dim)
            for i, (value, axis) in enumerate(zip(op.operation.operands, op.operands, strict=True))
        ]
        made = zip(op.operation.results, op.results, strict=True)
        kinds = [_part_type(result, axis.dim, self.part.made[result]) for result, axis in made]
        twin = op.operation.clone(ir.InsertionPoint(self.before)).operation
        new = remade(twin, operands, kinds, {**attributes_of(twin), **self._changed(op)})
        twin.erase()
        self.made.update(zip(op.operation.results, new.results, strict=True))

    def _over(self, op: SplitOp) -> dict[int, ir.Value]:
        """By operand: what a result is put over as it is now, where the operation reads it, and as destination."""
        found: dict[int, ir.Value] = {}
        loops = read_loops(op.operation)
        for number, (result, axis) in enumerate(zip(op.operation.results, op.results, strict=True)):
            if result not in self.over or loops is None:
                continue
            over, now = self.over[result], self.whole[result]
            kind = _part_type(result, axis.dim, self.part.made[result])
            piece = extract_along(now, kind, axis.dim, self._made_at(result), self.before)
            places = (
                i for i, operand in enumerate(op.operation.operands) if operand == over or i == loops.inits[number]
            )
            found.update(dict.fromkeys(places, piece))
        return found

    def _operand(self, op: SplitOp, operand: int, dim: int) -> ir.Value:
        """What an operation needs of an operand, from this part of it if there is one."""
        value, span, step = (
            op.operation.operands[operand],
            self.part.read(op, operand),
            self.equal.read_step(op, operand),
        )
        here = self.part.made.get(value)
        if here == span:
            return self.made[value]
        key = value, dim, span, step
        if key not in self._slices:
            kind, maker = _part_type(value, dim, span), defining_op(value)
            if maker is not None and maker.name == EMPTY:
                self._slices[key] = create("tensor.empty", list(maker.operands), [kind], before=self.before).results[0]
            elif here is None:
                self._slices[key] = extract_along(value, kind, dim, self._at(span[0], step), self.before)
            else:
                self._slices[key] = extract_along(self.made[value], kind, dim, span[0] - here[0], self.before)
        return self._slices[key]

    def _made_at(self, value: ir.Value) -> int | ir.Value:
        """Where what this part makes of a result begins."""
        return self._at(self.part.made[value][0], self.equal.made_step(value))

    def _at(self, first: int, step: int) -> int | ir.Value:
        """The place of this part where that of the first is `first` and the next lies `step` behind it."""
        if self.turn is None or not step:
            return first
        if (first, step) not in self._places:
            name, value, by = ("arith.addi", self._at(0, step), first) if first else ("arith.muli", self.turn, step)
            operands = [cast(ir.Value, value), index_constant(by, self.before)]
            self._places[first, step] = create(name, operands, [ir.IndexType.get()], before=self.before).results[0]
        return self._places[first, step]

    def _changed(self, op: SplitOp) -> dict[str, ir.Attribute]:
        """The attributes that say sizes or paddings."""
        old, result = op.operation, op.results[0]
        first, end = self.part.loop(op)
        if old.name == EXPAND:
            return {"static_output_shape": _with(old, "static_output_shape", result.dim, (end - first) * result.unit)}
        if old.name in (EXTRACT_SLICE, INSERT_SLICE):
            axis = op.operands[0] or result
            return {"static_sizes": _with(old, "static_sizes", axis.dim, (end - first) * axis.unit)}
        for axis, window in zip(op.operands, op.windows, strict=True):
            if axis is not None and window is not None and not old.name.startswith("linalg."):
                names = _PADDINGS.get(old.name, ("pad_low", "pad_high"))
                dim = axis.dim if old.name in _PADDINGS else axis.dim - 2
                paddings = zip(names, window.padding(first, end), strict=True)
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
