"""Writes results over operands that die there: memory displacement, as on tensors, without a copy.

    %a = memref.alloc(); linalg.tanh ins(%x) outs(%a)            %a = memref.alloc(); linalg.tanh ins(%x) outs(%a)
    %b = memref.alloc(); linalg.add ins(%a, %y) outs(%b)   ->    linalg.add ins(%a, %y) outs(%a)
    memref.dealloc %a                                            …  // %a for %b
    …  memref.dealloc %b                                         memref.dealloc %a

Legal iff rules 1 to 5 of `analysis.copying.displacement` hold. The peak does not rise: where the operand is read and the result
is written, both are there, and afterwards one of them was. Deallocations may be there or not. Copies are left to copy removal,
which goes in front of this pass: what is computed in its destination needs no buffer.

A result that has memory of its own says why by the operand that came closest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.analysis.allocations.freeing_calls import FreeingCalls
from hotdesk.analysis.copying.displacement import Displacements
from hotdesk.explain import Decision, Reason
from hotdesk.ir.walking import all_functions
from hotdesk.passes.base import Pass


@dataclass(frozen=True, slots=True)
class DisplaceBuffers(Pass):
    """Writes results over operands that die there (rules in `analysis.copying.displacement`)."""

    name: ClassVar[str] = "hotdesk-displace-buffers"
    reasons: ClassVar[tuple[Reason, ...]] = (
        Reason.DIES_HERE,
        Reason.NO_DEAD_OPERAND_OF_SAME_SIZE,
        Reason.DIFFERENT_ELEMENT_TYPE,
        Reason.DIFFERENT_LAYOUT,
        Reason.OTHER_MEMORY_SPACE,
        Reason.READ_BY_SAME_OP,
        Reason.NOT_WRITABLE_INPUT,
        Reason.NOT_WRITABLE_CONSTANT,
        Reason.PARTIAL_VIEW,
        Reason.READ_LATER,
        Reason.DIFFERENT_BLOCK,
        Reason.DESTINATION_LATER,
        Reason.LEAVES_SCOPE,
        Reason.FREED_ELSEWHERE,
        Reason.FREED_BY_ANOTHER_OP,
        Reason.OTHER_TYPE,
        Reason.ALIGNMENT_ASSUMED,
        Reason.ASYNCHRONOUS,
        Reason.DOES_MORE_THAN_ALLOCATE,
        Reason.NOT_ORDINARY_MEMORY,
    )

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        decisions: list[Decision] = []
        freeing = FreeingCalls()
        for function in all_functions(module):
            displacements = Displacements(function, freeing)
            for each in displacements.found:
                for free in each.erased:
                    free.erase()
            memrefs: dict[ir.Value, ir.Value] = {}
            for each in displacements.found:
                result = each.result.results[0]
                memrefs[result] = memrefs.get(each.memref, each.memref)
                result.replace_all_uses_with(memrefs[result])
            for each in displacements.found:
                each.result.erase()
            decisions.extend(displacements.decisions)
        return tuple(decisions)
