"""Gives an allocation the memory of one that is dead by then.

    %a = memref.alloc() : memref<100x100xf32>                        %a = memref.alloc() : memref<100x100xf32>
    …  memref.dealloc %a                                             …
    %b = memref.alloc() : memref<100x100xf32>              ->        …  // %a for %b
    …  memref.dealloc %b                                             memref.dealloc %a

Legal iff rules 1 to 6 of `analysis.allocations.sharing` hold. The forms are, for all that share one piece of memory:

1. one type, sizes proven equal: the first allocation itself serves all;
2. static sizes, one element type: the others are a `memref.reinterpret_cast` of the first;
3. other element types, or symbolic sizes that are only proven to be enough: the first becomes an allocation of bytes, and each is
   a `memref.view` of it.

The memory is freed once, where the last one was freed, or where the blocks meet that they were freed in. Its alignment is the
strictest that any of them asks for. Deallocations may be there or not; run it in front of a deallocation pass or behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from hotdesk._bindings import ir
from hotdesk.analysis.allocations.freeing_calls import FreeingCalls
from hotdesk.analysis.allocations.memory_slots import MemorySlot
from hotdesk.analysis.allocations.sharing import KEPT_APART, Sharing
from hotdesk.analysis.allocations.types import alignment_of
from hotdesk.analysis.allocations.uses import Allocations, bytes_of_element
from hotdesk.explain import Decision, Reason
from hotdesk.ir.building import create, index_constant, reshaped
from hotdesk.ir.types import DYNAMIC, shape_of
from hotdesk.ir.walking import all_functions
from hotdesk.models.new_memory import ALIGNMENT, ALLOC, dynamic_sizes, freeing_op
from hotdesk.passes.base import Pass
from hotdesk.passes.properties import VIEWS_FIT, Property
from hotdesk.sizes.expressions import product


@dataclass(frozen=True, slots=True)
class ShareBuffers(Pass):
    """Shares dead buffers (rules in `analysis.allocations.sharing`)."""

    name: ClassVar[str] = "hotdesk-share-buffers"
    reasons: ClassVar[tuple[Reason, ...]] = (
        Reason.LIVE_RANGE_ENDED,
        Reason.NOTHING_TO_SHARE,
        Reason.LIVE_AT_THE_SAME_TIME,
        Reason.TOO_SMALL,
        Reason.SIZE_NOT_PROVEN,
        Reason.USED_ACROSS_BLOCKS,
        Reason.RAISES_PEAK,
        *KEPT_APART,
    )

    def ensures(self) -> tuple[Property, ...]:
        return (VIEWS_FIT,)

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        decisions: list[Decision] = []
        freeing = FreeingCalls()
        for function in all_functions(module):
            sharing = Sharing(function, freeing)
            plans = [SlotPlan(sharing.allocations, slot) for slot in sharing.slots if len(slot.users) > 1]
            for plan in plans:
                plan.apply()
            decisions.extend(sharing.decisions)
        return tuple(decisions)


class SlotPlan:
    """What becomes of the allocations at one slot; all that is asked of the IR is read before it changes."""

    def __init__(self, allocations: Allocations, slot: MemorySlot) -> None:
        ops = allocations.program.ops
        self._owners = [ops[user.op].operation for user in slot.users]
        self._frees = [ops[free].operation for user in slot.users for free in user.frees]
        self._first = ops[slot.first].operation
        self._last = ops[slot.last].operation if slot.last >= 0 else None
        blocks = allocations.program.blocks
        self._end = ops[blocks[ops[slot.last].block].last].operation if slot.opens else None
        values = [allocations.value(user) for user in slot.users]
        self._types = [value.type for value in values]
        shapes = [allocations.sizes.shape(value) for value in values]
        self._is_one_type = len(set(self._types)) == 1 and len(set(shapes)) == 1
        elements = {str(cast(Any, kind).element_type) for kind in self._types}
        self._is_cast = len(elements) == 1 and all(None not in shape_of(kind) for kind in self._types)
        self._alignment = max(alignment_of(allocations, user) for user in slot.users)
        self._is_asked = self._owners[0].name == ALLOC and any(ALIGNMENT in owner.attributes for owner in self._owners)
        self._free = freeing_op(self._owners[0])

    def apply(self) -> None:
        """Rewrites the allocations."""
        owner, others = self._owners[0], self._owners[1:]
        bytewise = not (self._is_one_type or self._is_cast)
        if bytewise:
            memory = allocate_bytes(owner, self._first, self._alignment)
            others = self._owners
        else:
            if self._first != owner:
                owner.move_before(self._first)
            if self._is_asked:
                owner.attributes[ALIGNMENT] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), self._alignment)
            memory = owner.results[0]
        if self._end is not None:
            create(self._free, [memory], [], before=next(iter(self._end.block.operations)).operation)
        elif self._last is not None:
            create(self._free, [memory], [], before=self._last).move_after(self._last)
        for free in self._frees:
            free.erase()
        for other in others:
            value = (
                memory
                if self._is_one_type
                else byte_view(memory, other, index_constant(0, other))
                if bytewise
                else reshaped(memory, other.results[0].type, other)
            )
            other.results[0].replace_all_uses_with(value)
            other.erase()


def allocate_bytes(owner: ir.Operation, before: ir.Operation, alignment: int) -> ir.Value:
    """As many bytes as another allocation has, allocated in front of an op."""
    kind = cast(Any, owner.results[0].type)
    sizes = shape_of(kind)
    static = cast(int, product([bytes_of_element(kind), *(size for size in sizes if size is not None)]))
    dynamic: list[ir.Value] = []
    if None in sizes:
        total = index_constant(static, before)
        for size in owner.operands:
            total = create("arith.muli", [total, size], [size.type], before=before).results[0]
        dynamic = [total]
    count = DYNAMIC if dynamic else static
    return new_bytes(count, dynamic, alignment, before, kind.memory_space)


def new_bytes(
    count: int, dynamic: Sequence[ir.Value], alignment: int, before: ir.Operation, space: Any = None
) -> ir.Value:
    """An allocation of so many bytes."""
    memref = ir.MemRefType.get([count], ir.IntegerType.get_signless(8), memory_space=space)
    attributes: dict[str, ir.Attribute] = {
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(dynamic), 0]),
        ALIGNMENT: ir.IntegerAttr.get(ir.IntegerType.get_signless(64), alignment),
    }
    return create(ALLOC, dynamic, [memref], attributes, before=before).results[0]


def byte_view(memory: ir.Value, owner: ir.Operation, offset: ir.Value) -> ir.Value:
    """Bytes from an offset on in the type and sizes of an allocation, in front of it."""
    sizes = dynamic_sizes(owner.results[0]) or []
    return create("memref.view", [memory, offset, *sizes], [owner.results[0].type], before=owner).results[0]
