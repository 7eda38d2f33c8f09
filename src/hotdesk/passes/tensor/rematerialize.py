"""Recomputes what is cheaper to make again than to keep or copy.

    %f = fill 0; use %f; use %f     ->     %f0 = fill 0; use %f0; %f1 = fill 0; use %f1

Cheap: `tensor.empty`, an elementwise op without tensor operands (a fill, an iota), and a reshape of either. Each user gets
its own, right in front of it, so no buffer is copied because two accumulators began from the same zeros, and none lives from
the start of the program.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, cast

from hotdesk._bindings import ir
from hotdesk.explain import Decision, Outcome, Reason, Source
from hotdesk.ir.locations import python_line
from hotdesk.ir.types import is_tensor
from hotdesk.ir.walking import captured_operands, defined_functions, defining_op, segment_sizes, top_level_ops
from hotdesk.passes.base import Pass

_RESHAPES = ("tensor.expand_shape", "tensor.collapse_shape", "tensor.cast")


@dataclass(frozen=True, slots=True)
class RematerializeCheapOps(Pass):
    """Gives every user of a cheap definition its own copy of it."""

    name: ClassVar[str] = "hotdesk-rematerialize-cheap-ops"

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        decisions: list[Decision] = []
        for function in defined_functions(module):
            for op in reversed(top_level_ops(function)):
                if is_cheap(op):
                    decisions.extend(_separate(op))
        return tuple(decisions)


def is_cheap(op: ir.Operation) -> bool:
    """Whether the op defines a tensor from no other tensor's contents."""
    if op.name == "tensor.empty":
        return True
    if op.name == "linalg.fill":
        return True
    if op.name in _RESHAPES:
        source = defining_op(op.operands[0])
        return source is not None and is_cheap(source)
    if op.name != "linalg.generic" or segment_sizes(op)[0] != 0 or len(op.results) != 1:
        return False
    arguments = op.regions[0].blocks[0].arguments
    reads = any(next(iter(argument.uses), None) is not None for argument in arguments)
    return not reads and not any(is_tensor(value.type) for _, _, value in captured_operands(op))


def _separate(op: ir.Operation) -> list[Decision]:
    result = op.results[0]
    uses = [(cast(Any, use.owner).operation, use.operand_number) for use in result.uses]
    decisions: list[Decision] = []
    for user, operand in uses[:-1] if len(uses) > 1 else []:
        top = user
        while top.block != op.block:
            top = top.parent.operation
        clone = op.clone(ir.InsertionPoint(top))
        user.operands[operand] = clone.results[0]
        if op.name != "tensor.empty":
            source = Source(op.name, python_line(op.location))
            decisions.append(Decision("fill", Outcome.FOLDED, Reason.CHEAP_TO_RECOMPUTE, (source,), 0))
    if uses:
        last = uses[-1][0]
        while last.block != op.block:
            last = last.parent.operation
        op.move_before(last)
    return decisions
