"""The interface of an op model, and what bufferization offers to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from hotdesk._bindings import ir
from hotdesk.ir.symbols import Symbols
from hotdesk.models.facts import Facts, Flow, MemoryEffects


class Buffers(Protocol):
    """The state of a running bufferization, as a model sees it."""

    @property
    def facts(self) -> Facts:
        """The facts of the op that is rewritten, as its model stated them."""
        ...

    @property
    def symbols(self) -> Symbols:
        """Names for symbols that a model makes, as of globals."""
        ...

    @property
    def captures(self) -> bool:
        """Whether the regions of the op that is rewritten may use tensors from outside."""
        ...

    def buffer(self, value: ir.Value) -> ir.Value:
        """The memref that holds a tensor value."""
        ...

    def destination(self, op: ir.Operation, operand: int) -> ir.Value:
        """The memref that a tied operand's result is to be written into: the operand's own buffer, or a new one that was
        filled with its contents where the op needs them."""
        ...

    def result(self, op: ir.Operation, number: int, sizes: Sequence[ir.Value]) -> ir.Value:
        """A new memref, its dynamic sizes given, for a result that the op writes and that is tied to no operand."""
        ...

    def lies_there(self, op: ir.Operation) -> bool:
        """Whether what an insertion writes is, in the same memory, what it reads."""
        ...

    def copy_into(self, memref: ir.Value, op: ir.Operation, operand: int, before: ir.Operation | None = None) -> None:
        """Copies a tensor operand into memory that the op fills with it, in front of `before` or else of the op."""
        ...

    def entering(self, op: ir.Operation, operand: int) -> ir.Value:
        """The memref that an op hands to its regions for an operand, copied in front of it where it must be."""
        ...

    def leaving(self, op: ir.Operation, operand: int) -> ir.Value:
        """The memref that a terminator passes on for an operand, copied to where it belongs where it must be."""
        ...

    def passed_type(self, value: ir.Value) -> ir.Type:
        """The memref type of a value that control flow passes on: one for whatever it may come from."""
        ...

    def seen_as(self, memref: ir.Value, kind: ir.Type, op: ir.Operation) -> ir.Value:
        """The same memory with another memref type, cast in front of `op`."""
        ...

    def plain_type(self, value: ir.Value) -> ir.MemRefType:
        """The memref type of a tensor that is alone in its memory: in row-major order without gaps, and in its memory space."""
        ...

    def signature_type(self, tensor: ir.Type) -> ir.MemRefType:
        """The memref type that a tensor type becomes in signatures."""
        ...

    def rebuild_arguments(self, block: ir.Block) -> None:
        """Gives a block memrefs for its tensor arguments; the old arguments go when all is rewritten."""
        ...

    def contents(self, op: ir.Operation, operand: int) -> ir.Value | None:
        """The memref with what a tied operand held before a parallel loop; None if nobody in it wants that but in the result."""
        ...

    def inserted_into(self, op: ir.Operation) -> ir.Value:
        """The memref of the result that an insertion without results, in a parallel loop, writes a part of."""
        ...

    def drop_arguments(self, block: ir.Block, first: int) -> None:
        """Has the arguments of a block from number `first` on go when all is rewritten."""
        ...

    def replaced_by(self, new: ir.Operation) -> None:
        """Says which op on buffers stands for the one that is rewritten, if it has regions or branches to blocks."""
        ...

    def assign(self, value: ir.Value, memref: ir.Value) -> None:
        """Says which memref holds a result."""
        ...

    def contiguous(self, memref: ir.Value, op: ir.Operation, operand: int, kind: ir.Type | None = None) -> ir.Value:
        """A new memref with the contents of an operand's, contiguous in row-major order, or of a type that says otherwise."""
        ...


@dataclass(frozen=True, slots=True)
class OpModel:
    """What Hotdesk knows about an operation.

    Attributes:
        facts: reads, writes and aliases of one operation of the kind.
        bufferize: makes the operation's form on memrefs in front of it and assigns its results' buffers; the operation itself
            is erased afterwards; what is returned does not count. None for operations that need no rewriting.
        flow: how values pass through the operation's regions, each of whose operations is then analysed by its own model; None
            for operations whose regions are payload.
        branches: of a terminator that goes to other blocks, (operand, successor, argument of that block).
        expand: makes, in front of the operation, operations on tensors that have models, and returns what the results become;
            they take its place before the analysis. It returns None to leave the operation as it is.
        takes_scalars: whether it uses scalars as they were computed before it; any other op may compute them again while it
            runs, from the tensors that they were extracted from (`reload-scalars`).
        effects: what the operation does to memrefs, where MLIR's own interfaces do not say it: ops of unregistered dialects.
        runs_on: whether it may use memory when control has left it; None if its types and names tell (`models.asynchronous`).
    """

    facts: Callable[[ir.Operation], Facts]
    bufferize: Callable[[ir.Operation, Buffers], object] | None = None
    flow: Callable[[ir.Operation], Flow] | None = None
    branches: Callable[[ir.Operation], tuple[tuple[int, int, int], ...]] | None = None
    effects: Callable[[ir.Operation], MemoryEffects] | None = None
    expand: Callable[[ir.Operation], Sequence[ir.Value] | None] | None = None
    takes_scalars: bool = False
    runs_on: Callable[[ir.Operation], bool] | None = None
