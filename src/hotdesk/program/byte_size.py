"""Bytes of a tensor or memref while the IR changes, when answers about values must not be remembered."""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.ir.sizes import Size, product
from hotdesk.ir.types import element_bytes, element_of, shape_of
from hotdesk.program.symbolic import SymbolicSizes


def byte_size(value: ir.Value, function: ir.Operation) -> Size:
    """The bytes of a tensor or memref of a function; an expression where its size is dynamic.

    The function is read for that, and only for that.
    """
    known = [size for size in shape_of(value.type) if size is not None]
    is_static = len(known) == len(shape_of(value.type))
    return product(
        [*(known if is_static else SymbolicSizes(function).shape(value)), element_bytes(element_of(value.type))]
    )
