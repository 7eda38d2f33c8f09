"""On which way an operand of a choice counts.

A condition, the first operand, says which of the others count: of selections, and of branches to several blocks.
"""

from __future__ import annotations

from typing import cast

from hotdesk._bindings import ir
from hotdesk.models.control_flow import branched

CHOOSING = ("arith.select", "cf.cond_br", "cf.switch")
INDEX_BITS = 64


def has_ways(op: ir.Operation) -> bool:
    """Whether something can be done on one way alone that an op may take: a wider flag than an index is not compared."""
    if op.name != "cf.switch":
        return op.name in CHOOSING
    return cast(ir.IntegerType, op.operands[0].type).width <= INDEX_BITS


def way_of(op: ir.Operation, operand: int) -> int:
    """The number of the way on which an operand of an op that chooses counts.

    0 if the condition is true and 1 if it is false; of a switch 0 is the default, and the cases follow.
    """
    if op.name == "arith.select":
        return operand - 1
    ways = {passed: successor for passed, successor, _ in branched(op) or ()}
    return ways[operand]
