"""What an op model states about one operation: the facts every analysis rests on."""

from __future__ import annotations

from dataclasses import dataclass


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
    """

    reads: frozenset[int] = frozenset()
    ties: tuple[tuple[int, int], ...] = ()
    overwrites: frozenset[int] = frozenset()
    views: tuple[tuple[int, int], ...] = ()
    whole_views: frozenset[tuple[int, int]] = frozenset()
    elementwise: frozenset[int] = frozenset()
    undefined: frozenset[int] = frozenset()
    constants: frozenset[int] = frozenset()
