"""What an op model states about one operation: the facts every analysis rests on."""

from __future__ import annotations

from dataclasses import dataclass

from hotdesk._bindings import ir


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
