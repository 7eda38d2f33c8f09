"""Bytes of a tensor or memref while the IR changes, when answers about values must not be remembered."""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.ir.sizes import Size, product
from hotdesk.ir.symbolic import SymbolicSizes
from hotdesk.ir.types import element_bytes, element_of


def byte_size(value: ir.Value, function: ir.Operation) -> Size:
    """The bytes of a tensor or memref of a function; an expression where its size is dynamic."""
    return product([*SymbolicSizes(function).shape(value), element_bytes(element_of(value.type))])
