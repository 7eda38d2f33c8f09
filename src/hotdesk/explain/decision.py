"""Decisions as values: what was done with a buffer, for which reason, because of which operations.

Every stage that decides about memory returns `Decision` records; nothing prints a reason as it goes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum

from hotdesk.explain.reason import Reason
from hotdesk.explain.source import Source
from hotdesk.sizes.size import Size, evaluate, is_opaque, represented, spelled


class Outcome(str, Enum):
    """What became of a tensor or buffer."""

    IN_PLACE = "in place"  # the result overwrites an operand
    COPIED = "copied"  # the operand was copied so that it could be overwritten, or to give it another layout
    ALLOCATED = "allocated"  # the result has a buffer of its own
    SHARED = "shared"  # the buffer has the bytes of one that died before
    LENT = "lent"  # the caller's memory is used as it is: a result slot or an argument
    PREPARED = "prepared"  # computed once, before the first call
    NOT_PREPARED = "not prepared"  # computed in each call, although weights alone decide it
    FUSED = "fused"  # the tensor is never in memory: its elements are made where they are read
    NOT_FUSED = "not fused"  # the tensor or buffer is in memory: the loops that make it and that read it stay apart
    FOLDED = "folded"  # the tensor became an index map or a view of another
    FREED = "freed"  # the buffer's bytes may be used again from here on
    MOVED = "moved"  # the allocation stands where all that use it come by
    ON_STACK = "on the stack"  # the buffer lies on the stack, and is gone when its scope ends
    REORDERED = "reordered"  # the operations run in an order that needs less memory
    ORDER_KEPT = "order kept"  # the operations run in the order they came in
    SPLIT = "split"  # the value is made and read part by part, and never there as a whole
    RECOMPUTED = "recomputed"  # the value is made again where it is read later, and not kept until then
    REMOVED = "removed"  # the copy is gone: both buffers are one, or nobody reads what it wrote
    IN_PARALLEL = "in parallel"  # threads share the iterations of the loop
    IN_SEQUENCE = "in sequence"  # the iterations of the parallel loop run one after the other
    CALLED = "called"  # another library's kernel computes the value

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision about one tensor or buffer. `bytes` is its size, a number or an expression over symbolic sizes.

    `because` begins with the operation the decision is about. What forbids reuse is a conflict: `read` still wants the value
    of `definition` that `write` would overwrite, and `path` leads from the value read to the buffer written, alias by alias.
    `hint` says what would make a copy or an allocation unnecessary.
    """

    subject: str
    outcome: Outcome
    reason: Reason
    because: tuple[Source, ...] = ()
    bytes: Size = 0
    read: Source | None = None
    write: Source | None = None
    definition: Source | None = None
    path: tuple[Source, ...] = ()
    hint: str = ""

    def __repr__(self) -> str:
        return represented(self, bytes=self.size)

    @property
    def size(self) -> str:
        """Its bytes as users read them: `400*batch`."""
        return spelled(self.bytes)

    def at(self, symbols: Mapping[str, int]) -> Decision:
        """This decision with its bytes as a number, for the given values of the symbols; 0 if they are known only when it runs.

        Raises KeyError if a symbol of `bytes` has no value.
        """
        if not isinstance(self.bytes, int) and is_opaque(self.bytes):
            return replace(self, bytes=0)
        return replace(self, bytes=evaluate(self.bytes, symbols))
