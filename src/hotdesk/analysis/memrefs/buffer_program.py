"""A function on memrefs: the record of its program, with what each memref is and who uses it.

A linalg op is one op: what its payload uses, it uses.

What a memref is:
1. new memory: the result of an op that allocates, by `models.new_memory`; of `memref.realloc`, or its operand's;
2. memory of somebody else: an argument, a global, the stack;
3. a *view*: the memory of its operand, seen differently;
4. a *choice* of two operands, by `arith.select`;
5. *passed*: a block argument or a result of an op with regions, of which the flow is known;
6. *unknown*: a call's result, or what any other op makes. It may be memory of the op's operands.

`analysis.memrefs.buffer_reading` reads it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from hotdesk.program.records import FUNCTION, UNTRACKED, FunctionIR, Op, Value

__all__ = ["FUNCTION", "NOT_A_BUFFER", "BufferOp", "BufferProgram", "BufferValue", "Kind"]

NOT_A_BUFFER = UNTRACKED
BufferOp: TypeAlias = Op


class Kind(Enum):
    """What a memref is (module docstring)."""

    ALLOCATION = "allocation"
    ARGUMENT = "argument"
    GLOBAL = "global"
    STACK = "stack"
    VIEW = "view"
    CHOICE = "choice"
    PASSED = "passed"
    UNKNOWN = "unknown"

    @property
    def is_derived(self) -> bool:
        """Whether such a memref shows the memory of others, which are known."""
        return self in (Kind.VIEW, Kind.CHOICE, Kind.PASSED)


@dataclass(frozen=True, slots=True)
class BufferValue(Value):
    """A memref; `sources` are the memrefs that a view or a choice shows."""

    kind: Kind
    sources: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class BufferProgram(FunctionIR[Op, BufferValue]):
    """A function. `users` has for each memref the numbers of the ops that have it as an operand, in order; `asynchronous` are
    the ops that run on beside the program (`analysis.memrefs.asynchronous`); `passed_on` are terminators that pass on
    what is not followed, each with a memref whose memory that leads to (`analysis.memrefs.buffer_reading`); `stored` are ops with
    a memref that they put into other memory, from where it may be read."""

    users: tuple[tuple[int, ...], ...]
    asynchronous: frozenset[int] = frozenset()
    passed_on: tuple[tuple[int, int], ...] = ()
    stored: tuple[tuple[int, int], ...] = ()

    @property
    def buffers(self) -> tuple[BufferValue, ...]:
        """The memrefs."""
        return self.values

    def root(self, buffer: int) -> int:
        """What a view is a view of, by the ops alone."""
        while (record := self.values[buffer]).kind is Kind.VIEW:
            buffer = record.sources[0]
        return buffer
