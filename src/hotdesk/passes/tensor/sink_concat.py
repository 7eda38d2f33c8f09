"""Elementwise readers of a concatenation work on its operands one by one: what is concatenated is never put together.

    %c = tensor.concat dim(0) %a, %b                      %0 = linalg.generic ins(%a, %x[0 to n]) { add }
    %r = linalg.generic ins(%c, %x) outs(%e) { add }  ->  %1 = linalg.generic ins(%b, %x[n to m]) { add }
                                                          %r = tensor.concat dim(0) %0, %1

Legal iff rules 1 to 5 of `analysis.insertion.concatenation` hold. The concatenation moves below its readers until one needs the
whole; a slice within one operand becomes a slice of that operand. Afterwards `hotdesk-decompose-concat-and-pad` and
`hotdesk-eliminate-empty-tensors` let each operand be computed where it belongs in the whole, so nothing is copied.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.analysis.insertion.concatenation import Piece, PieceReader, axis_of, cut, find_split, pieces_of
from hotdesk.explain import Decision, Reason
from hotdesk.ir.building import begins, create, dynamic_dims, integers, remade, replace, sliced, with_values
from hotdesk.ir.op_maps import OpSet
from hotdesk.ir.types import shape_of, tensor_with
from hotdesk.ir.walking import int_array, made_by, nested_ops, users
from hotdesk.models.tensor import EMPTY
from hotdesk.models.tensor_slices import EXTRACT_SLICE
from hotdesk.passes.base import FunctionPass
from hotdesk.program.symbolic import byte_size


@dataclass(frozen=True, slots=True)
class SinkConcat(FunctionPass):
    """Moves `tensor.concat` below elementwise readers (rules in `analysis.insertion.concatenation`).

    Options:
        max_operands: a reader is made at most so often.
    """

    name: ClassVar[str] = "hotdesk-sink-concat"
    reasons: ClassVar[tuple[Reason, ...]] = (
        Reason.READ_IN_PARTS,
        Reason.DIFFERENT_BLOCK,
        Reason.NOT_A_PERMUTATION,
        Reason.NOT_ELEMENTWISE,
        Reason.NOT_PURE_TENSORS,
        Reason.POSITION_READ,
        Reason.SIZE_NOT_STATIC,
        Reason.TOO_MANY_OPERANDS,
    )

    max_operands: int = 4

    def run_on(self, function: ir.Operation) -> Iterator[Decision]:
        waiting = [op for op in nested_ops(function) if op.name == "tensor.concat"]
        for concat in waiting:  # grows: what moves below a reader is looked at again
            split = find_split(concat, self.max_operands)
            size = byte_size(concat.results[0], function)
            for op, piece in split.slices:
                _slice_of_piece(op, piece, axis_of(concat))
            for reader in split.readers:
                waiting.extend(_in_parts(reader))
            _erase_unread(concat)
            if split.decision:
                yield dataclasses.replace(split.decision, bytes=size)
        _flatten(function)


def _slice_of_piece(op: ir.Operation, piece: Piece, axis: int) -> None:
    """Lets a slice of the whole be one of the piece."""
    offsets = list(int_array(op.attributes["static_offsets"]))
    offsets[axis] += piece.offset - piece.start
    op.attributes["static_offsets"] = integers(offsets)
    op.operands[0] = piece.source


def _in_parts(reader: PieceReader) -> list[ir.Operation]:
    """Makes a reader once for each piece, and concatenates the results; returns what does that."""
    op = reader.generic.op
    parts = [_part(op, reader, first, last) for first, last in pairwise(reader.cuts)]
    joined: list[ir.Operation] = []
    for number, result in enumerate(op.results):
        axis = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), reader.axes[reader.generic.inputs + number])
        values = [part.results[number] for part in parts]
        joined.append(create("tensor.concat", values, [result.type], {"dim": axis}, before=op))
        result.replace_all_uses_with(joined[-1].results[0])
    op.erase()
    return joined


def _part(op: ir.Operation, reader: PieceReader, first: int, last: int) -> ir.Operation:
    """The reader on elements `first` to `last` of the loop."""
    values = [
        value if axis is None else _elements(value, axis, first, last, op)
        for value, axis in zip(op.operands, reader.axes, strict=True)
    ]
    kinds = [values[i].type for i in reader.generic.outputs]
    twin = op.clone(ir.InsertionPoint(op)).operation
    part = remade(twin, values, kinds)  # a named op keeps its name
    twin.erase()
    return part


def _elements(value: ir.Value, axis: int, first: int, last: int, before: ir.Operation) -> ir.Value:
    """Elements `first` to `last` of a value along an axis: of the piece that they are in, or of the value itself."""
    pieces = cut(pieces_of(value, axis), first, last)
    if len(pieces) == 1 and pieces[0].source != value:
        return _elements(pieces[0].source, axis, pieces[0].offset, pieces[0].offset + last - first, before)
    shape = shape_of(value.type)
    if (first, last) == (0, shape[axis]):
        return value
    sizes = [last - first if i == axis else size for i, size in enumerate(shape)]
    kind = tensor_with(sizes, value.type)
    dynamic = dynamic_dims(value, before)
    if made_by(value, EMPTY) is not None:
        return create("tensor.empty", dynamic, [kind], before=before).results[0]
    offsets, lengths = begins(len(shape), axis, first), with_values(sizes, dynamic)
    return sliced("tensor.extract_slice", [value], kind, offsets, lengths, before)


def _flatten(function: ir.Operation) -> None:
    """Makes one concatenation of those that are operands of another along the same axis."""
    for op in [op for op in nested_ops(function) if op.name == "tensor.concat"]:
        known = [(value, _joined(value, axis_of(op))) for value in op.operands]
        inner = OpSet(producer for _, producer in known if producer is not None)
        if inner:
            values = [v for value, producer in known for v in ([value] if producer is None else producer.operands)]
            made = create("tensor.concat", values, [op.results[0].type], {"dim": op.attributes["dim"]}, before=op)
            replace(op, made)
            for producer in inner:
                producer.erase()


def _joined(value: ir.Value, axis: int) -> ir.Operation | None:
    """The concatenation along an axis that makes a value for one reader."""
    op = made_by(value, "tensor.concat")
    alone = op is not None and axis_of(op) == axis and len(users(value)) == 1
    return op if alone else None


def _erase_unread(op: ir.Operation) -> None:
    """Erases an op that nobody reads but slices that nobody reads."""
    for user in users(op.results[0]):
        if user.name == EXTRACT_SLICE:
            _erase_unread(user)
    if next(iter(op.results[0].uses), None) is None:
        op.erase()
