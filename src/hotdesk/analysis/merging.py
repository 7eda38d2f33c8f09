"""Which allocations of a function go into one arena, and where in it.

An allocation goes there iff

1. its size is static, and it is a contiguous `memref.alloc` in the default memory space, with elements of a known size;
2. its live range is known (`analysis.allocation_ranges`): what leaves the function, is handed from one iteration of a loop to the
   next, or is kept by an op stays where it is;
3. it is in no region whose iterations run at the same time, and in none of which nothing is known;
4. whatever frees it is a `memref.dealloc` of itself.

Ranges of op numbers that do not meet may have the same bytes, so branches have, and each iteration of a loop has those of the one
before. Offsets are those of `planning.plan`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.analysis.allocation_ranges import LiveRange, Unbounded, live_range
from hotdesk.analysis.allocation_types import alignment_of, is_contiguous
from hotdesk.analysis.allocation_uses import Allocation, Allocations, bytes_of_element
from hotdesk.analysis.buffer_program import FUNCTION
from hotdesk.analysis.hoisting import runs_in_parallel
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.types import shape_of
from hotdesk.planning import Buffer, Plan, Problem, plan

_NO_TOUCH = 1


@dataclass(frozen=True, slots=True)
class Merged:
    """An allocation with its offset in the arena, in bytes, and the deallocations that go."""

    op: ir.Operation
    offset: int
    frees: tuple[ir.Operation, ...]


@dataclass(frozen=True, slots=True)
class Arena:
    """One arena for the allocations of a function.

    Attributes:
        merged: what goes there.
        bytes: its size.
        alignment: of its first byte, in bytes.
        plan: how it was planned.
        decisions: one for each allocation.
    """

    merged: tuple[Merged, ...]
    bytes: int
    alignment: int
    plan: Plan
    decisions: tuple[Decision, ...]


def plan_arena(function: ir.Operation, alignment: int, strategy: str) -> Arena:
    """The arena of a function, each allocation at a multiple of `alignment` bytes, or of its own if that is more.

    Raises:
        ValueError: there is no such planning strategy.
    """
    allocations = Allocations(function)
    plain = [each for each in allocations.all if allocations.is_plain(each)]
    found = [(each, _range(allocations, each)) for each in plain]
    buffers: list[Buffer] = []
    for each, live in found:
        size = allocations.bytes(each)
        if isinstance(live, LiveRange) and isinstance(size, int):
            strictest = max(alignment, alignment_of(allocations, each))
            buffers.append(Buffer(each.op, live.lower, max(live.upper, live.lower + _NO_TOUCH), size, strictest))
    planned = plan(Problem(tuple(buffers)), strategy=strategy)
    offsets = {placement.buffer_id: placement.offset for placement in planned.placements}
    merged: list[Merged] = []
    decisions: list[Decision] = []
    for each, live in found:
        source, size = allocations.source(each.op), allocations.bytes(each)
        if isinstance(live, Unbounded):
            because = (source,) if live.op == each.op else (source, allocations.source(live.op))
            decisions.append(Decision("allocation", Outcome.ALLOCATED, live.reason, because, size))
            continue
        ops = allocations.program.ops
        frees = tuple(ops[free].operation for free in each.frees)
        merged.append(Merged(ops[each.op].operation, offsets[each.op], frees))
        decisions.append(Decision("allocation", Outcome.SHARED, Reason.PLACED_IN_ARENA, (source,), size))
    strictest = max((buffer.alignment for buffer in buffers), default=alignment)
    return Arena(tuple(merged), planned.arena, strictest, planned, tuple(decisions))


def _range(allocations: Allocations, allocation: Allocation) -> LiveRange | Unbounded:
    """Rules 1 to 4."""
    kind = allocations.value(allocation).type
    if None in shape_of(kind):
        return Unbounded(Reason.SIZE_NOT_STATIC, allocation.op)
    if not bytes_of_element(kind):
        return Unbounded(Reason.UNSIZED_ELEMENT, allocation.op)
    if not is_contiguous(kind):
        return Unbounded(Reason.DIFFERENT_LAYOUT, allocation.op)
    if cast(Any, kind).memory_space is not None:
        return Unbounded(Reason.OTHER_MEMORY_SPACE, allocation.op)
    if allocation.frees and not allocation.is_freed_simply:
        return Unbounded(Reason.FREED_ELSEWHERE, allocation.frees[0])
    program = allocations.program
    block = program.ops[allocation.op].block
    while (parent := program.blocks[block].parent) != FUNCTION:
        op = program.ops[parent]
        if runs_in_parallel(op):
            return Unbounded(Reason.PARALLEL_ITERATIONS, parent)
        if not op.control:
            return Unbounded(Reason.UNKNOWN_REGION, parent)
        block = op.block
    return live_range(allocations, allocation)
