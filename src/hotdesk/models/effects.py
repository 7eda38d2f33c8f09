"""What an operation on memrefs does to memory, for operations whose dialect does not tell MLIR."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NewMemory:
    """What holds of the memory that an op makes, and of the op as an allocation.

    Attributes:
        sizes: numbers of the operands that are the dynamic sizes of the memref, one for each `?` in its type.
        alignment: bytes that the memory is aligned to, a power of two; 0 for what its elements need.
        movable: all that the op does is to allocate, and nothing but its sizes says when or how often it may run: in another
            block, before a branch, once instead of in each iteration. The same holds for the op that frees.
        ordinary: other memory with as many bytes, in the same memory space and as well aligned, does as well: of the stack, of an
            arena, or another buffer. Then the op need not run, and neither does the one that frees.
    """

    sizes: tuple[int, ...] = ()
    alignment: int = 0
    movable: bool = False
    ordinary: bool = False


@dataclass(frozen=True, slots=True)
class MemoryEffects:
    """What an op does to the memory behind its memrefs, as far as it does so by itself; its regions are asked on their own.

    Attributes:
        reads, writes, frees: numbers of operands.
        allocates: numbers of results that are new memory.
        freed_by: the name of the op that frees it; the memref is its only operand.
        memory: what holds of that memory; None if nothing is said of it.
    """

    reads: frozenset[int] = frozenset()
    writes: frozenset[int] = frozenset()
    frees: frozenset[int] = frozenset()
    allocates: frozenset[int] = frozenset()
    freed_by: str = "memref.dealloc"
    memory: NewMemory | None = None
