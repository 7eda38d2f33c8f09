"""The interface of an op model, and what bufferization offers to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from hotdesk._bindings import ir
from hotdesk.models.facts import Facts


class Buffers(Protocol):
    """The state of a running bufferization, as a model sees it."""

    def buffer(self, value: ir.Value) -> ir.Value:
        """The memref that holds a tensor value."""
        ...

    def destination(self, op: ir.Operation, operand: int) -> ir.Value:
        """The memref that a tied operand's result is to be written into: the operand's own buffer, or a new one that was
        filled with its contents where the op needs them."""
        ...

    def assign(self, value: ir.Value, memref: ir.Value) -> None:
        """Says which memref holds a result."""
        ...

    def contiguous(self, memref: ir.Value, op: ir.Operation, operand: int) -> ir.Value:
        """The memref itself if it is contiguous in row-major order, else a new one with its contents."""
        ...


@dataclass(frozen=True, slots=True)
class OpModel:
    """What Hotdesk knows about an operation.

    Attributes:
        facts: reads, writes and aliases of one operation of the kind.
        bufferize: makes the operation's form on memrefs in front of it and assigns its results' buffers; the operation itself
            is erased afterwards. None for operations that need no rewriting.
    """

    facts: Callable[[ir.Operation], Facts]
    bufferize: Callable[[ir.Operation, Buffers], None] | None = None
