"""All passes on buffers that need no choice of anybody's, in the order that is best: memrefs in, freed and shared memrefs out.

    hotdesk-opt program.mlir --hotdesk-buffer-pipeline

is `--hotdesk-buffer-hoisting --hotdesk-buffer-deallocation --hotdesk-buffer-loop-hoisting --hotdesk-copy-removal
--hotdesk-displace-buffers --hotdesk-share-buffers`. Copies go first of those that look for memory, since what is computed in its
destination needs none; a result takes over what its own operand had before buffers of others are looked at. Each is legal for
itself, so all are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.explain import Decision
from hotdesk.passes.base import Pass
from hotdesk.passes.buffers.copy_removal import CopyRemoval
from hotdesk.passes.buffers.deallocate import DeallocateAfterLastUse
from hotdesk.passes.buffers.displace import DisplaceBuffers
from hotdesk.passes.buffers.hoist import BufferHoisting
from hotdesk.passes.buffers.loop_hoist import BufferLoopHoisting
from hotdesk.passes.buffers.share import ShareBuffers


@dataclass(frozen=True, slots=True)
class BufferPipeline(Pass):
    """Hoists, frees, removes copies, displaces and shares: the passes on buffers, each as it is by itself, in one.

    Options:
        arguments_overlap: as for copy removal.
    """

    name: ClassVar[str] = "hotdesk-buffer-pipeline"
    arguments_overlap: bool = True

    def passes(self) -> Sequence[Pass]:
        """What is run, in order."""
        return (
            BufferHoisting(),
            DeallocateAfterLastUse(),
            BufferLoopHoisting(),
            CopyRemoval(self.arguments_overlap),
            DisplaceBuffers(),
            ShareBuffers(),
        )

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        return tuple(decision for each in self.passes() for decision in each.run(module))
