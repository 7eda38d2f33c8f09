"""Loops over memory become one where the second reads what the first has just written.

    linalg.exp ins(%x) outs(%a)
    linalg.add ins(%a, %y) outs(%r)     ->     linalg.generic ins(%x, %y) outs(%a, %r) { e = exp(x); e, add(e, y) }

Legal iff rules 1 to 8 of `analysis.fusion.buffer_fusion` hold, which ask `analysis.memrefs.aliasing` what two views have in
common. An allocation that nothing touches any more goes, with its views and deallocations. What is not fused is reported with the
reason; where two views forbid it, both are named.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from hotdesk._bindings import ir
from hotdesk.analysis.fusion.buffer_fusion import BufferFusions, views_in
from hotdesk.analysis.fusion.fusion_blocks import FusionBlock, is_on_memory
from hotdesk.explain import Decision, Reason
from hotdesk.ir.walking import defining_op, nested_ops, users
from hotdesk.models.new_memory import DEALLOC
from hotdesk.passes.base import FunctionPass
from hotdesk.passes.fusing import fuse


@dataclass(frozen=True, slots=True)
class FuseBuffers(FunctionPass):
    """Fuses linalg ops on memrefs, generic and named ones (rules in `analysis.fusion.buffer_fusion`).

    Options:
        arguments_overlap: memrefs that are arguments may overlap one another; if not, that is a promise of whoever calls.
    """

    name: ClassVar[str] = "hotdesk-fuse-buffers"
    reasons: ClassVar[tuple[Reason, ...]] = (
        Reason.READ_AS_WRITTEN,
        Reason.SINGLE_READER,
        Reason.ACCUMULATED_INTO,
        Reason.LOOP_SIZE_LOST,
        Reason.MAY_OVERLAP,
        Reason.NOT_A_PERMUTATION,
        Reason.NOT_ELEMENTWISE,
        Reason.PRODUCER_REDUCES,
        Reason.TOUCHED_BETWEEN,
    )
    arguments_overlap: bool = True

    def run_on(self, function: ir.Operation) -> Iterator[Decision]:
        fusions = BufferFusions(function, self.arguments_overlap)
        unused: list[ir.Value] = []
        for block in _blocks(function):
            yield from _fuse_all(fusions, FusionBlock(block, fusions.aliases), unused)
        for base in dict.fromkeys(unused):
            _erase_unused(base)


def _blocks(function: ir.Operation) -> list[ir.Block]:
    """The blocks with ops that may be fused, in the order of the first of those."""
    return list(dict.fromkeys(op.block for op in nested_ops(function) if is_on_memory(op)))


def _fuse_all(fusions: BufferFusions, block: FusionBlock, unused: list[ir.Value]) -> list[Decision]:
    """Fuses the ops of a block, each with the nearest producers first; `unused` gets what nothing touches any more."""
    decisions: list[Decision] = []
    for consumer in block.places():
        while isinstance(found := fusions.nearest(block, consumer), tuple):
            producer, fusion = found
            decisions.append(fusion.decision)
            block.forget(producer)
            block.forget(consumer)
            new = fuse(fusion.consumer, fusion.producer, dict(fusion.uses), fusion.loops, fusion.keep)
            block.became(producer, consumer, new)
            unused.extend(fusion.unused)
        decisions.extend(found)
    return decisions


def _erase_unused(value: ir.Value) -> None:
    """Erases a memref that nothing but views and deallocations use."""
    for use in list(value.uses):
        user = cast(Any, use.owner).operation
        for result in views_in(user, cast(Any, use).operand_number):
            _erase_unused(result)
    left = users(value)
    owner = defining_op(value)
    if owner is None or any(user.name != DEALLOC for user in left):
        return
    for user in left:
        user.erase()
    owner.erase()
