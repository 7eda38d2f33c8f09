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

from hotdesk._bindings import ir
from hotdesk.analysis.allocations.given_freed import GivenFreed
from hotdesk.analysis.allocations.hoisting import Hoisting
from hotdesk.explain import Decision, Reason
from hotdesk.ir.walking import all_functions
from hotdesk.passes.base import Pass
from hotdesk.passes.buffers.hoist import move_all


@dataclass(frozen=True, slots=True)
class BufferLoopHoisting(Pass):
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

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        decisions: list[Decision] = []
        given = GivenFreed()
        for function in all_functions(module):
            hoisting = Hoisting(function, given)
            decisions.extend(move_all([hoisting.before_loops(each) for each in hoisting.allocations.all]))
        return tuple(decisions)
