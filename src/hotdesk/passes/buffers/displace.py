"""Writes results over operands that die there: memory displacement, as on tensors, without a copy.

    %a = memref.alloc(); linalg.tanh ins(%x) outs(%a)            %a = memref.alloc(); linalg.tanh ins(%x) outs(%a)
    %b = memref.alloc(); linalg.add ins(%a, %y) outs(%b)   ->    linalg.add ins(%a, %y) outs(%a)
    memref.dealloc %a                                            …  // %a for %b
    …  memref.dealloc %b                                         memref.dealloc %a

Legal iff rules 1 to 5 of `analysis.copying.displacement` hold. The peak does not rise: where the operand is read and the result
is written, both are there, and afterwards one of them was. Deallocations may be there or not. Copies are left to copy removal,
which goes in front of this pass: what is computed in its destination needs no buffer.

Reason codes: `dies-here` where a result takes over; else that of the operand that came closest: `no-dead-operand-of-same-size`,
`different-element-type`, `different-layout`, `other-memory-space`, `read-by-same-op`, `not-writable-input`,
`not-writable-constant`, `partial-view`, `read-later`, `different-block`, `destination-later`, `leaves-scope`, `freed-elsewhere`,
`freed-by-another-op`, `other-type`, `alignment-assumed`, and why other memory does not do for the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.analysis.allocations.given_freed import GivenFreed
from hotdesk.analysis.copying.displacement import Displacements
from hotdesk.explain import Decision
from hotdesk.ir.walking import all_functions
from hotdesk.passes.base import Pass


@dataclass(frozen=True, slots=True)
class DisplaceBuffers(Pass):
    """Writes the result of an op over an operand that dies there, in the place of an allocation of its own.

        linalg.add ins(%a, %y) outs(%b); memref.dealloc %a    ->    linalg.add ins(%a, %y) outs(%a)  // %a for %b

    Legal iff rules 1 to 5 of `analysis.copying.displacement` hold: the operand is read where it is written, has the result's
    type, dies there and is the block's to give, its deallocation is clear, and other memory does for the result. There are no
    options. Reason codes are in the module docstring.
    """

    name: ClassVar[str] = "hotdesk-displace-buffers"

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        decisions: list[Decision] = []
        given = GivenFreed()
        for function in all_functions(module):
            displacements = Displacements(function, given)
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
