"""Inits that need not be read because a fill put the neutral element of the sum or maximum there."""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.ir.building import empty_like
from hotdesk.models.linalg import fill_value


def initial(op: ir.Operation, neutral: float) -> tuple[bool, ir.Value]:
    """Whether the init must be read, and the init to use."""
    init = op.operands[len(op.operands) - 1]
    if fill_value(init) != neutral:
        return True, init
    return False, empty_like(init, op)
