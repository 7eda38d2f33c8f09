"""Makes a large value in rows where it is combined with another that dies, and puts each row over the other's.

    %v = wide(%m)              %m0 = extract_slice %m[0] [2]           %m1 = extract_slice %m[2] [2]
    %r = add(%v, %x)     ->    %v0 = wide(%m0)                         %v1 = wide(%m1)
                               %x0 = extract_slice %x[0] [2]           %x1 = extract_slice %s0[2] [2]
                               %r0 = add(%v0, %x0) outs(%x0)           %r1 = add(%v1, %x1) outs(%x1)
                               %s0 = insert_slice %r0 into %x[0]       %r = insert_slice %r1 into %s0[2]

`%v` and `%x` are never there as a whole at once, as they are where a block of layers adds what it began with. Nor is the result
of a convolution in f32 of which the next operation makes 16-bit floats. Nothing is computed twice.

Legal iff rules 1 to 3 of `analysis.order.combining` hold; done where the peak is lower for it, by rule 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.memref_views import row_major
from hotdesk.analysis.order.combining import Combination, find_combinations
from hotdesk.analysis.order.straight_line import StraightLine
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.locations import source_of
from hotdesk.ir.types import element_of, shape_of
from hotdesk.models.hotdesk import CONV
from hotdesk.passes.base import StraightPass
from hotdesk.passes.lower.named import scratch_wanted
from hotdesk.passes.lower.views import ResolvedMemref
from hotdesk.passes.tensor.parts import do_in_parts


@dataclass(frozen=True, slots=True)
class CombineInRows(StraightPass):
    """Makes values in rows that are put over what they are combined with (rules in `analysis.order.combining`).

    Options:
        least_bytes: values of fewer bytes are left as they are.
        least_part: bytes that a part has at least, about.
    """

    name: ClassVar[str] = "hotdesk-combine-in-rows"
    reasons: ClassVar[tuple[Reason, ...]] = (Reason.PART_BY_PART,)

    least_bytes: int = 1 << 20
    least_part: int = 1 << 18

    def run_on(self, function: ir.Operation) -> list[Decision]:
        combinations = find_combinations(StraightLine(function), self.least_bytes, self.least_part, self._scratch)
        decisions = [_decision(found) for found in combinations]
        for found in reversed(combinations):  # what one of them makes may be what a later one is put over
            do_in_parts(found.split, found.parts, {} if found.over is None else {found.result: found.over})
        return decisions

    def _scratch(self, op: ir.Operation) -> int:
        """The bytes of scratch memory that an operation will have, if its operands lie row by row."""
        if op.name != CONV:
            return 0
        found = scratch_wanted(op, [_row_by_row(value) for value in op.operands])
        return 0 if found is None else found[1]


def _row_by_row(value: ir.Value) -> ResolvedMemref:
    """The memory of a tensor of known sizes, as it will most likely be."""
    sizes = tuple(size for size in shape_of(value.type) if size is not None)
    return ResolvedMemref(value, 0, sizes, row_major(sizes), element_of(value.type))


def _decision(found: Combination) -> Decision:
    ops = [each.operation for each in found.split.ops]
    sources = tuple(source_of(each) for each in ops)
    how = f"for {ops[-1].name}" if found.over is None else f"over an operand of {ops[-1].name}"
    subject = f"result of {ops[0].name}, {found.bytes} bytes, in {len(found.parts)} parts {how}"
    return Decision(subject, Outcome.SPLIT, Reason.PART_BY_PART, sources, found.bytes - found.part)
