"""Elementwise ops become one with the op that reads them; what lay between is never in memory.

    %a = linalg.exp ins(%x) outs(%e)
    %r = linalg.add ins(%a, %y) outs(%d)     ->     %r = linalg.generic ins(%x, %y) outs(%d) { add(exp(x), y) }

Legal iff rules 1 to 10 of `analysis.fusion.elementwise` hold. A producer that is free to compute again goes into each of its
readers; every other one has a single reader. A value that stays in memory is reported with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.analysis.fusion.elementwise import Fusion, find_fusion
from hotdesk.analysis.memrefs.tensors_of_memory import MemoryWrites
from hotdesk.explain import Decision, Reason
from hotdesk.ir.walking import made_by, nested_ops
from hotdesk.models.generics import is_linalg, read_generic
from hotdesk.models.tensor import EMPTY
from hotdesk.passes.base import FunctionPass
from hotdesk.passes.fusing import fuse
from hotdesk.program.symbolic import SymbolicSizes


@dataclass(frozen=True, slots=True)
class FuseElementwise(FunctionPass):
    """Fuses elementwise producers into their readers, generic and named linalg ops (rules in `analysis.fusion.elementwise`)."""

    name: ClassVar[str] = "hotdesk-fuse-elementwise"
    reasons: ClassVar[tuple[Reason, ...]] = (
        Reason.SINGLE_READER,
        Reason.CHEAP_TO_RECOMPUTE,
        Reason.ACCUMULATED_INTO,
        Reason.DIFFERENT_BLOCK,
        Reason.LOOP_SIZE_LOST,
        Reason.MULTIPLE_READERS,
        Reason.NOT_A_PERMUTATION,
        Reason.NOT_ELEMENTWISE,
        Reason.NOT_PURE_TENSORS,
        Reason.PRODUCER_REDUCES,
        Reason.TOUCHED_BETWEEN,
        Reason.UNRANKED_TENSOR,
    )

    def run_on(self, function: ir.Operation) -> Iterator[Decision]:
        writes = MemoryWrites(function)
        for op in [op for op in nested_ops(function) if is_linalg(op)]:
            yield from _fuse_producers(op, function, writes)


def _fuse_producers(consumer: ir.Operation, function: ir.Operation, writes: MemoryWrites) -> list[Decision]:
    """Fuses producers into a consumer until none is left that may be; their producers come in turn."""
    decisions: list[Decision] = []
    while True:
        sizes = SymbolicSizes(function)  # made afresh: what it remembers of erased ops is not to be asked again
        found = _findings(consumer, sizes, writes)
        fusion = next((each for each in found if isinstance(each, Fusion)), None)
        if fusion is None:
            return [*decisions, *dict.fromkeys(each for each in found if isinstance(each, Decision))]
        decisions.append(fusion.decision)
        consumer = _fuse(fusion)


def _findings(consumer: ir.Operation, sizes: SymbolicSizes, writes: MemoryWrites) -> list[Fusion | Decision]:
    generic = read_generic(consumer)
    if generic is None:
        return []
    found = [find_fusion(generic, operand, sizes, writes) for operand in range(len(generic.maps))]
    return [each for each in found if each is not None]


def _fuse(fusion: Fusion) -> ir.Operation:
    producer = fusion.producer
    inits = list(producer.operands)
    taken = producer.clone(ir.InsertionPoint(fusion.consumer)) if fusion.shared else producer
    new = fuse(fusion.consumer, taken, dict(fusion.uses), fusion.loops)
    if fusion.shared and all(next(iter(result.uses), None) is None for result in producer.results):
        producer.erase()
    for init in dict.fromkeys(inits):
        empty = made_by(init, EMPTY)
        if empty is not None and next(iter(init.uses), None) is None:
            empty.erase()
    return new
