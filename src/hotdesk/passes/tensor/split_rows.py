"""Does operations around a large value part by part, so that only a part of the value is there at a time.

    %h = wide(%x)            %x0 = extract_slice %x[0] [2]        %x1 = extract_slice %x[2] [2]
    %r = narrow(%h)    ->    %h0 = wide(%x0)                      %h1 = wide(%x1)
                             %r0 = narrow(%h0)                    %r1 = narrow(%h1)
                             %s0 = insert_slice %r0 into %e[0]    %r = insert_slice %r1 into %s0[2]

Legal iff `analysis.splitting` finds what can be done in parts, by its rules 1 to 5. No element is computed twice: each operation
does the same work in several goes. `hotdesk-eliminate-empty-tensors` goes behind it, so that parts of results are computed where
they belong; parts of what is read are views.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, cast

from hotdesk._bindings import ir
from hotdesk.analysis.axes import Axis, cut_dims, read_loops
from hotdesk.analysis.splitting import Split, SplitOp, StraightLine, find_split
from hotdesk.errors import OptionError
from hotdesk.explain import Decision, Outcome, Reason, Source
from hotdesk.ir.building import create, dynamic_dims, integers
from hotdesk.ir.locations import python_line
from hotdesk.ir.types import is_tensor, shape_of, static_entries, tensor_with
from hotdesk.ir.walking import defining_op, int_array, straight_functions
from hotdesk.passes.base import Pass

_SIZES = {"tensor.expand_shape": "static_output_shape", "tensor.extract_slice": "static_sizes"}


@dataclass(frozen=True, slots=True)
class SplitRows(Pass):
    """Splits operations around large values (rules in `analysis.splitting`).

    Attributes:
        parts: how many there are at most.
        least_bytes: values of fewer bytes are left as they are.
        only: the number of one operation of each function, counted from 0: only its result is split. -1 stands for all.
        dim: the dimension of the result to split. -1 stands for the first that can be.
        assumed_size: what a size that is not known counts as, in elements; only dimensions of known size are split.
        large: bytes from which on values beside are split as well. -1 stands for a quarter of the value.
    """

    name: ClassVar[str] = "hotdesk-split-rows"

    parts: int = 2
    least_bytes: int = 1 << 20
    only: int = -1
    dim: int = -1
    large: int = -1
    assumed_size: int = 256

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        if self.parts < 2:
            raise OptionError(f"option 'parts' of pass '{self.name}'", expected="2 or more", got=str(self.parts))
        decisions: list[Decision] = []
        for function in straight_functions(module):
            decisions.extend(self._function(function))
        return tuple(decisions)

    def _function(self, function: ir.Operation) -> list[Decision]:
        line = StraightLine(function, self.assumed_size)
        decisions: list[Decision] = []
        for number, op in enumerate(line.ops):
            if number in line.gone or (self.only >= 0 and number != self.only) or op.name.startswith("tensor."):
                continue
            for value in op.results:
                size = line.bytes(value) if is_tensor(value.type) else 0
                split = self._find(line, value, size) if size >= max(1, self.least_bytes) else None
                if split is not None:
                    decisions.append(self._decision(op, size, split))
                    line.gone.update(each.number for each in split.ops)
                    apply_split(split, self.parts)
                    break
        for number, op in enumerate(line.ops):
            if number not in line.gone and op.name == "tensor.empty" and next(iter(op.results[0].uses), None) is None:
                op.erase()
        return decisions

    def _find(self, line: StraightLine, value: ir.Value, size: int) -> Split | None:
        dims = cut_dims(value) if self.dim < 0 else [self.dim] if self.dim < len(shape_of(value.type)) else []
        large = size // 4 if self.large < 0 else self.large
        found = (find_split(line, value, dim, max(1, large)) for dim in dims)
        return next((split for split in found if split is not None), None)

    def _decision(self, op: ir.Operation, size: int, split: Split) -> Decision:
        parts = min(self.parts, split.units)
        ops = [each.operation for each in split.ops if not each.operation.name.startswith("tensor.")]
        sources = tuple(Source(each.name, python_line(each.location)) for each in ops)
        subject = f"result of {op.name}, {size} bytes, in {parts} parts"
        part = size * -(-split.units // parts) // split.units
        return Decision(subject, Outcome.SPLIT, Reason.PART_BY_PART, sources, size - part)


def apply_split(split: Split, parts: int) -> None:
    """Does what was found in at most so many parts, in front of the last operation of them, and erases the operations."""
    last = split.ops[-1].operation
    bounds = (
        [number * split.units // parts for number in range(parts + 1)]
        if parts < split.units
        else range(split.units + 1)
    )
    axes: dict[ir.Value, Axis] = {}
    for op in split.ops:
        axes.update(zip(op.operation.results, op.results, strict=True))
    whole: dict[ir.Value, ir.Value] = {
        value: create("tensor.empty", _known_dims(value, last), [value.type], before=last).results[0]
        for value in split.outputs
    }
    for first, end in pairwise(bounds):
        made: dict[ir.Value, ir.Value] = {}
        slices: dict[tuple[ir.Value, Axis], ir.Value] = {}
        for op in split.ops:
            _part(op, first, end, made, slices, last)
        for value in split.outputs:
            whole[value] = _insert(made[value], whole[value], axes[value], first, last)
    for value, together in whole.items():
        value.replace_all_uses_with(together)
    for op in reversed(split.ops):
        op.operation.erase()


def _known_dims(value: ir.Value, before: ir.Operation) -> list[ir.Value]:
    """The dynamic sizes of a result, of its destination rather than of itself: it will not be there."""
    op = defining_op(value)
    while op is not None and op.name != "tensor.empty" and (loops := read_loops(op)) is not None:
        value = op.operands[loops.inits[list(op.results).index(cast(Any, value))]]
        op = defining_op(value)
    return list(op.operands) if op is not None and op.name == "tensor.empty" else dynamic_dims(value, before)


def _part(
    op: SplitOp,
    first: int,
    end: int,
    made: dict[ir.Value, ir.Value],
    slices: dict[tuple[ir.Value, Axis], ir.Value],
    before: ir.Operation,
) -> None:
    """Does one operation for the units `first` to `end`."""
    operands: list[ir.Value] = []
    for value, axis in zip(op.operation.operands, op.operands, strict=True):
        if axis is None:
            operands.append(value)
        elif value in made:
            operands.append(made[value])
        else:
            if (value, axis) not in slices:
                slices[value, axis] = _slice(value, axis, first, end, before)
            operands.append(slices[value, axis])
    kinds = [_part_type(r, axis, first, end) for r, axis in zip(op.operation.results, op.results, strict=True)]
    attributes = {name: op.operation.attributes[name] for name in op.operation.attributes}
    sizes = _SIZES.get(op.operation.name)
    if sizes is not None:
        given, axis = list(int_array(attributes[sizes])), op.operands[0]
        dim = op.results[0].dim if op.operation.name == "tensor.expand_shape" or axis is None else axis.dim
        unit = op.results[0].unit
        given[dim] = (end - first) * unit
        attributes[sizes] = integers(given)
    with ir.InsertionPoint(before), op.operation.location:
        new = ir.Operation.create(
            op.operation.name,
            results=kinds,
            operands=operands,
            attributes=attributes,
            regions=len(op.operation.regions),
        ).operation
    if len(op.operation.regions):
        twin = op.operation.clone(ir.InsertionPoint(before))
        for old, region in zip(twin.regions, new.regions, strict=True):
            for block in list(old.blocks):
                block.append_to(region)
        twin.erase()
    made.update(zip(op.operation.results, new.results, strict=True))


def _part_type(value: ir.Value, axis: Axis, first: int, end: int) -> ir.RankedTensorType:
    sizes = list(shape_of(value.type))
    sizes[axis.dim] = (end - first) * axis.unit
    return tensor_with(sizes, value.type)


def _slice(value: ir.Value, axis: Axis, first: int, end: int, before: ir.Operation) -> ir.Value:
    kind = _part_type(value, axis, first, end)
    maker = defining_op(value)
    if maker is not None and maker.name == "tensor.empty":
        return create("tensor.empty", list(maker.operands), [kind], before=before).results[0]
    dynamic = dynamic_dims(value, before)
    attributes = _window(shape_of(kind), axis, first, [1, 0, len(dynamic), 0])
    return create("tensor.extract_slice", [value, *dynamic], [kind], attributes, before=before).results[0]


def _insert(part: ir.Value, whole: ir.Value, axis: Axis, first: int, before: ir.Operation) -> ir.Value:
    dynamic = dynamic_dims(part, before)
    attributes = _window(shape_of(part.type), axis, first, [1, 1, 0, len(dynamic), 0])
    return create("tensor.insert_slice", [part, whole, *dynamic], [whole.type], attributes, before=before).results[0]


def _window(sizes: Sequence[int | None], axis: Axis, first: int, segments: Sequence[int]) -> dict[str, ir.Attribute]:
    return {
        "static_offsets": integers([first * axis.unit if dim == axis.dim else 0 for dim in range(len(sizes))]),
        "static_sizes": integers(static_entries(sizes)),
        "static_strides": integers([1] * len(sizes)),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get(list(segments)),
    }
