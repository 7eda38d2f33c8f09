"""Concatenation, padding and tensors of given scalars as what they do to memory: fills and inserted slices.

    tensor.concat dim(1) %a, %b   ->   %0 = insert_slice %a into (tensor.empty)[0, 0]; insert_slice %b into %0[0, n]
    tensor.concat dim(1) %c, %d   ->   insert_slice %d into %1[0, m], if %1 has %c already (`analysis.insertion.growing`)
    tensor.pad %a low[l] {v}      ->   insert_slice %a into (fill v)[l]
    tensor.from_elements %s       ->   fill %s; of several, a fill of one element inserted for each

Always legal: the same elements are put where they were. A padding value that depends on the position fills the tensor by a
payload that computes it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from hotdesk._bindings import ir
from hotdesk.analysis.insertion.concatenation import axis_of
from hotdesk.analysis.insertion.growing import find_growths
from hotdesk.analysis.insertion.raised_peak import RaisedPeak
from hotdesk.explain import Decision
from hotdesk.ir.building import create, extract_along, fill, index_constant
from hotdesk.ir.types import shape_of
from hotdesk.ir.walking import top_level_ops
from hotdesk.models.tensor_parts import expand_concat, expand_pad, insert_at
from hotdesk.passes.base import FunctionPass
from hotdesk.passes.properties import NO_CONCATENATIONS, Property


@dataclass(frozen=True, slots=True)
class DecomposeConcatAndPad(FunctionPass):
    """Rewrites `tensor.concat` and `tensor.pad` into insertions.

    Options:
        concat: whether concatenations are rewritten too, which `hotdesk-sink-concat` may do without.
    """

    name: ClassVar[str] = "hotdesk-decompose-concat-and-pad"

    concat: bool = True

    def ensures(self) -> tuple[Property, ...]:
        return (NO_CONCATENATIONS,) if self.concat else ()

    def run_on(self, function: ir.Operation) -> Iterable[Decision]:
        if self.concat:
            _grow(function)
        for op in top_level_ops(function):
            if op.name == "tensor.concat" and self.concat:
                _replace(op, expand_concat(op))
            elif op.name == "tensor.pad":
                _replace(op, expand_pad(op))
            elif op.name == "tensor.from_elements":
                _replace(op, _from_elements(op))
        return ()


def _grow(function: ir.Operation) -> None:
    """Puts concatenations that lie in one another together in one tensor."""
    concats = [op for op in top_level_ops(function) if op.name == "tensor.concat"]
    for growth in find_growths(concats, RaisedPeak(function)) if len(concats) > 1 else ():
        first, last = growth[0][0], growth[-1][0]
        kind, axis = last.results[0].type, axis_of(last)
        into = create("tensor.empty", [], [kind], before=first).results[0]
        low = high = 0  # what is in it already
        for op, begin in growth:
            end = begin
            for operand in op.operands:
                at, end = end, end + cast(int, shape_of(operand.type)[axis])
                if not low <= at < high:
                    offsets = [index_constant(at if i == axis else 0, op) for i in range(len(shape_of(kind)))]
                    into = insert_at(operand, into, offsets, op)
            low, high = begin, end
            _replace(
                op, [into if op.results[0].type == kind else extract_along(into, op.results[0].type, axis, begin, op)]
            )


def _replace(op: ir.Operation, values: list[ir.Value] | None) -> None:
    if values is not None:
        op.results[0].replace_all_uses_with(values[0])
        op.erase()


def _from_elements(op: ir.Operation) -> list[ir.Value] | None:
    result = op.results[0]
    rank, element = len(shape_of(result.type)), cast(Any, result.type).element_type
    into = create("tensor.empty", [], [result.type], before=op).results[0]
    if len(op.operands) == 1:
        into = fill(op.operands[0], into, op)
    elif rank == 1:
        one = ir.RankedTensorType.get([1], element)
        for i, scalar in enumerate(op.operands):
            single = create("tensor.empty", [], [one], before=op).results[0]
            into = insert_at(fill(scalar, single, op), into, [index_constant(i, op)], op)
    else:
        return None
    return [into]
