"""From a memref back through views to the memref that it shows."""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.ir.walking import defining_op

SAME_BUFFER = ("memref.expand_shape", "memref.collapse_shape", "memref.cast", "memref.reshape")
"""Ops whose result is all of their operand's memory."""
_VIEWS = (*SAME_BUFFER, "memref.subview", "memref.reinterpret_cast")


def all_of(memref: ir.Value) -> ir.Value:
    """The memref that one is all of, by another type or shape."""
    while (op := defining_op(memref)) is not None and op.name in SAME_BUFFER:
        memref = op.operands[0]
    return memref


def viewed(memref: ir.Value) -> ir.Value:
    """The memref that one is a view of."""
    op = defining_op(memref)
    while op is not None and op.name in _VIEWS:
        memref = op.operands[0]
        op = defining_op(memref)
    return memref
