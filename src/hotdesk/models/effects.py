"""What an operation on memrefs does to memory, for operations whose dialect does not tell MLIR."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MemoryEffects:
    """What an op does to the memory behind its memrefs, as far as it does so by itself; its regions are asked on their own.

    Attributes:
        reads, writes, frees: numbers of operands.
        allocates: numbers of results that are new memory.
        freed_by: the name of the op that frees it; the memref is its only operand.
    """

    reads: frozenset[int] = frozenset()
    writes: frozenset[int] = frozenset()
    frees: frozenset[int] = frozenset()
    allocates: frozenset[int] = frozenset()
    freed_by: str = "memref.dealloc"
