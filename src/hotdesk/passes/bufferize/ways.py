"""Copies on one of two ways that an op may take."""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.ir.building import create
from hotdesk.ir.ways import CHOOSING, counts_if_true


def on_way(op: ir.Operation, operand: int) -> ir.Operation:
    """The op in front of which something happens only if `op` passes on that operand: `op`, or the end of a branch before it."""
    if op.name not in CHOOSING:
        return op
    branch = create("scf.if", [op.operands[0]], [], regions=2, before=op)
    ends: list[ir.Operation] = []
    for region in branch.regions[: 1 if counts_if_true(op, operand) else 2]:
        block = region.blocks.append()
        with ir.InsertionPoint(block), op.location:
            ends.append(ir.Operation.create("scf.yield"))
    return ends[-1]
