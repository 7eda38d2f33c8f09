"""Runs the passes on buffers that need no choice of anybody's, in the order that is best.

    %a = memref.alloc(); linalg.tanh ins(%x) outs(%a)            %a = memref.alloc(); linalg.tanh ins(%x) outs(%a)
    %b = memref.alloc(); linalg.add ins(%a, %y) outs(%b)   ->    linalg.add ins(%a, %y) outs(%a)
    %c = memref.alloc(); linalg.tanh ins(%b) outs(%c)            linalg.tanh ins(%a) outs(%o)
    memref.copy %c, %o                                           memref.dealloc %a

It is `hotdesk-buffer-hoisting`, `hotdesk-buffer-deallocation`, `hotdesk-buffer-loop-hoisting`, `hotdesk-copy-removal`,
`hotdesk-displace-buffers` and `hotdesk-share-buffers`, one after the other; legal iff

1. each of them is legal, by the conditions of its own page.

Copies go first of those that look for memory, since what is computed in its destination needs none; a result takes over what its
own operand had before the memory of others is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.explain import Decision, Reason
from hotdesk.passes.base import Pass
from hotdesk.passes.buffers.copy_removal import CopyRemoval
from hotdesk.passes.buffers.deallocate import DeallocateAfterLastUse
from hotdesk.passes.buffers.displace import DisplaceBuffers
from hotdesk.passes.buffers.hoist import BufferHoisting
from hotdesk.passes.buffers.loop_hoist import BufferLoopHoisting
from hotdesk.passes.buffers.share import ShareBuffers
from hotdesk.passes.properties import ALL_FREED, VIEWS_FIT, Property

_PARTS = (BufferHoisting, DeallocateAfterLastUse, BufferLoopHoisting, CopyRemoval, DisplaceBuffers, ShareBuffers)


@dataclass(frozen=True, slots=True)
class BufferPipeline(Pass):
    """Hoists, frees, removes copies, displaces and shares: the passes on buffers, each as it is by itself, in one.

    Options:
        arguments_overlap: as for copy removal.
    """

    name: ClassVar[str] = "hotdesk-buffer-pipeline"
    reasons: ClassVar[tuple[Reason, ...]] = tuple(dict.fromkeys(reason for each in _PARTS for reason in each.reasons))
    arguments_overlap: bool = True

    def ensures(self) -> tuple[Property, ...]:
        return (ALL_FREED, VIEWS_FIT)

    def expanded(self) -> tuple[Pass, ...]:
        return tuple(CopyRemoval(self.arguments_overlap) if each is CopyRemoval else each() for each in _PARTS)

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        return tuple(decision for each in self.expanded() for decision in each.run(module))
