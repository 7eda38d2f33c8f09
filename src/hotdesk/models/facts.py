"""What an op model states of one operation: facts on its tensors, effects on memory, the flow of values through its regions."""

from __future__ import annotations

from dataclasses import dataclass

from hotdesk._bindings import ir
from hotdesk.ir.types import is_tensor


@dataclass(frozen=True, slots=True)
class Slice:
    """The part of a tensor that a slice op is about.

    Attributes:
        container: the operand that the part is of.
        offsets, sizes, strides: for each dim of the container, a number or an index value.
        kept: the dims of the container that the part has; the others have size 1 and are dropped.
        source: the operand that is written there, of an insertion; None for an extraction.
    """

    container: int
    offsets: tuple[int | ir.Value, ...]
    sizes: tuple[int | ir.Value, ...]
    strides: tuple[int | ir.Value, ...]
    kept: tuple[int, ...]
    source: int | None = None


@dataclass(frozen=True, slots=True)
class Spaces:
    """What an op says of memory spaces.

    Attributes:
        results: (result, space) where the op says in which space a result is; None is the default space.
        operands: (operand, space) where it needs an operand in a space.
        alike: (operand, result) pairs in one space although they share no memory.
        edge: its tensors cross the edge of a function, where types say in which space they are.
    """

    results: tuple[tuple[int, ir.Attribute | None], ...] = ()
    operands: tuple[tuple[int, ir.Attribute | None], ...] = ()
    alike: tuple[tuple[int, int], ...] = ()
    edge: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """How an operation treats the memory behind its tensor operands and results. Numbers are operand and result numbers.

    Attributes:
        reads: operands whose contents the op reads.
        ties: (operand, result) pairs in destination-passing style: the op writes the result into that operand's buffer.
        overwrites: tied operands every element of which is written, so that unread contents are free.
        views: (operand, result) pairs where the result is the operand's memory seen differently; nothing is accessed.
        whole_views: those views that cover the operand entirely (reshapes and casts, not slices).
        elementwise: operands of which the op reads, before it writes an element of a tied operand, that element only.
        undefined: results without contents.
        constants: results that are read-only memory.
        brought: results in new memory that the op makes and passes on, such as what a callee returns.
        lent: results in memory that the function neither makes nor passes on, though it may write there.
        choices: (operand, result) pairs where the result is one of several operands' memory, which one is seen at run time.
        part: the slice that an extraction sees or an insertion writes.
        clobbers: operands whose memory the op overwrites without a result that lies there.
        contiguous: tied or clobbered operands that it overwrites only if they are whole buffers, not parts.
        spaces: in which memory spaces it needs operands and puts results.
    """

    reads: frozenset[int] = frozenset()
    ties: tuple[tuple[int, int], ...] = ()
    overwrites: frozenset[int] = frozenset()
    views: tuple[tuple[int, int], ...] = ()
    whole_views: frozenset[tuple[int, int]] = frozenset()
    elementwise: frozenset[int] = frozenset()
    undefined: frozenset[int] = frozenset()
    constants: frozenset[int] = frozenset()
    brought: frozenset[int] = frozenset()
    lent: frozenset[int] = frozenset()
    choices: tuple[tuple[int, int], ...] = ()
    part: Slice | None = None
    clobbers: frozenset[int] = frozenset()
    contiguous: frozenset[int] = frozenset()
    spaces: Spaces = Spaces()

    def needs(self, operand: int) -> bool:
        """Whether the op wants what a tied operand holds: it reads that, or leaves some of it as it is."""
        return operand in self.reads or operand not in self.overwrites

    def tied_to(self, result: int) -> int | None:
        """The operand that a result may be written over, or None."""
        return next((operand for operand, tied in self.ties if tied == result), None)


def no_facts(op: ir.Operation) -> Facts:
    """Those of an op that touches no tensor's memory."""
    return Facts()


def reads_tensors(op: ir.Operation) -> Facts:
    """Those of an op that reads its tensors and makes new ones."""
    return Facts(reads=frozenset(i for i, value in enumerate(op.operands) if is_tensor(value.type)))


RESULTS = -1
"""In the place of a region's number: the results of the operation."""


@dataclass(frozen=True, slots=True)
class Flow:
    """How an operation hands its operands to its regions, and what they yield to each other and to its results.

    Attributes:
        entries: (operand, region, argument): what a region gets when the operation begins.
        exits: (region, operand of its terminator, target region or `RESULTS`, argument or result there).
        skips: (operand, result): what a result is when no region runs.
        runs: a region certainly runs, even if nothing is said of what a result would be otherwise.
        follows: (region, region): the second may run after the first, in one execution of the operation; (r, r) is a loop.
        shows: (operand, region, argument): what shows a region, all the time, what a tied operand held before the operation.
        parallel: the executions of its regions may run at one time; what they write is memory of their own, or parts of a
            result that do not meet.
    """

    entries: tuple[tuple[int, int, int], ...] = ()
    exits: tuple[tuple[int, int, int, int], ...] = ()
    skips: tuple[tuple[int, int], ...] = ()
    runs: bool = False
    follows: frozenset[tuple[int, int]] = frozenset()
    shows: tuple[tuple[int, int, int], ...] = ()
    parallel: bool = False

    @property
    def carried(self) -> tuple[tuple[int, int], ...]:
        """(operand, result): what enters a loop as an argument and comes out of it as a result."""
        out = {(region, operand): result for region, operand, target, result in self.exits if target == RESULTS}
        back = {
            (target, argument): out[region, operand]
            for region, operand, target, argument in self.exits
            if (region, target) in self.follows and (region, operand) in out
        }
        return tuple((o, back[region, argument]) for o, region, argument in self.entries if (region, argument) in back)


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
