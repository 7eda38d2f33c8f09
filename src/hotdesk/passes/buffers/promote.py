"""Puts small buffers on the stack.

    %a = memref.alloc() : memref<2xf32>   …   memref.dealloc %a     ->     %a = memref.alloca() : memref<2xf32>   …

Legal iff rules 1 to 5 of `analysis.allocations.promotion` hold. Memory space and layout stay as they are, and so does the
alignment, be it asked for, counted on by an op, or needed by the elements of a view. Every allocation that stays on the heap is
reported with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.analysis.allocations.freeing_calls import FreeingCalls
from hotdesk.analysis.allocations.promotion import Promotion, Promotions
from hotdesk.analysis.allocations.types import natural_alignment
from hotdesk.errors import OptionError
from hotdesk.explain import Decision, Reason
from hotdesk.ir.building import create, replace
from hotdesk.ir.walking import all_functions, attributes_of
from hotdesk.models.new_memory import ALIGNMENT, ALLOC, ALLOCA, dynamic_sizes, new_memory
from hotdesk.passes.base import Pass
from hotdesk.passes.properties import NOTHING_FREED_ON_STACK, Property


@dataclass(frozen=True, slots=True)
class PromoteBuffersToStack(Pass):
    """Turns allocations into `memref.alloca` (rules in `analysis.allocations.promotion`).

    Options:
        max_alloc_size_in_bytes: the limit for static sizes, of each buffer; nothing limits how many go to the stack.
        max_rank_of_allocated_memref: the limit for the rank where all dynamic sizes are ranks of memrefs.
    """

    name: ClassVar[str] = "hotdesk-promote-buffers-to-stack"
    reasons: ClassVar[tuple[Reason, ...]] = (
        Reason.SMALL_AND_LOCAL,
        Reason.FREED_ELSEWHERE,
        Reason.KEPT_BY_UNKNOWN,
        Reason.LEAVES_SCOPE,
        Reason.MADE_REPEATEDLY,
        Reason.SIZE_NOT_STATIC,
        Reason.TOO_LARGE,
        Reason.UNKNOWN_REGION,
        Reason.ASYNCHRONOUS,
        Reason.DOES_MORE_THAN_ALLOCATE,
        Reason.NOT_ORDINARY_MEMORY,
    )
    max_alloc_size_in_bytes: int = 1024
    max_rank_of_allocated_memref: int = 1

    def ensures(self) -> tuple[Property, ...]:
        return (NOTHING_FREED_ON_STACK,)

    def __post_init__(self) -> None:
        for option, value in (
            ("max-alloc-size-in-bytes", self.max_alloc_size_in_bytes),
            ("max-rank-of-allocated-memref", self.max_rank_of_allocated_memref),
        ):
            if value < 0:
                raise OptionError(f"option '{option}' of '{self.name}'", expected="0 or more", got=str(value))

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        decisions: list[Decision] = []
        freeing = FreeingCalls()
        for function in all_functions(module):
            promotions = Promotions(function, self.max_alloc_size_in_bytes, self.max_rank_of_allocated_memref, freeing)
            for each in [promotions.find(each) for each in promotions.allocations.on_heap]:
                if isinstance(each, Promotion):
                    _promote(each)
                decisions.append(each.decision if isinstance(each, Promotion) else each)
        return tuple(decisions)


def _promote(promotion: Promotion) -> None:
    old = promotion.op
    for free in promotion.frees:
        free.erase()
    operands = list(old.operands)
    attributes: dict[str, ir.Attribute] = attributes_of(old)
    asked = ALIGNMENT in attributes
    if old.name != ALLOC:
        operands, known = dynamic_sizes(old.results[0]) or [], new_memory(old)
        attributes = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(operands), 0])}
        asked = known is not None and bool(known.alignment)
    if asked or promotion.alignment > natural_alignment(old.results[0].type):
        attributes[ALIGNMENT] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), promotion.alignment)
    types = [result.type for result in old.results]
    replace(old, create(ALLOCA, operands, types, attributes, before=old))
