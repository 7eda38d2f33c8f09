"""Moves allocations out of loops.

    scf.for %i = … {                                     %0 = memref.alloc() : memref<2xf32>
      %0 = memref.alloc() : memref<2xf32>                scf.for %i = … {
      …                                          ->        …
      memref.dealloc %0                                  }
    }                                                    memref.dealloc %0

Legal iff the rules for "in front of a loop" of `analysis.allocations.hoisting` hold; what a loop keeps is reported with the
reason. Buffers on the stack move as well. If the loop may run no time at all, a dynamic size is at least 0 (`arith.maxsi`), since
nothing else says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hotdesk.analysis.allocations.hoisting import Hoisting, Move
from hotdesk.explain import Decision, Reason
from hotdesk.passes.buffers.hoist import AllocationMoves


@dataclass(frozen=True, slots=True)
class BufferLoopHoisting(AllocationMoves):
    """Moves allocations in front of loops (rules in `analysis.allocations.hoisting`)."""

    name: ClassVar[str] = "hotdesk-buffer-loop-hoisting"
    reasons: ClassVar[tuple[Reason, ...]] = (
        Reason.SERVES_EVERY_ITERATION,
        Reason.FREED_ELSEWHERE,
        Reason.KEPT_BETWEEN_ITERATIONS,
        Reason.KEPT_BY_UNKNOWN,
        Reason.PARALLEL_ITERATIONS,
        Reason.SIZE_DEFINED_BELOW,
        Reason.ASYNCHRONOUS,
        Reason.DOES_MORE_THAN_ALLOCATE,
        Reason.NOT_KNOWN_TO_MOVE,
    )

    def moves(self, hoisting: Hoisting) -> list[Move | Decision | None]:
        return [hoisting.before_loops(each) for each in hoisting.allocations.all]
