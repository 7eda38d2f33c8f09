"""Ops of which a condition, the first operand, says which of the other operands count: selections, and branches to two blocks."""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.ir.walking import segment_sizes

CHOOSING = ("arith.select", "cf.cond_br")


def counts_if_true(op: ir.Operation, operand: int) -> bool:
    """Whether an operand of an op that chooses counts if the condition is true; if it is false else."""
    return operand <= (1 if op.name == "arith.select" else segment_sizes(op)[1])
