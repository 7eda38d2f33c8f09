"""Which allocations of a function go into one arena, and where in it.

An allocation goes there iff

1. it is contiguous, in the default memory space, with elements of a known size, and other memory does as well, by
   `models.new_memory` (`different-layout`, `other-memory-space`, `unsized-element`, `not-ordinary-memory`,
   `does-more-than-allocate`, `asynchronous`, `not-known-to-move`);
2. its sizes are numbers, or known where the arena is made: `analysis.allocations.arena_sizes` says what that is
   (`size-defined-below`);
3. its live range is known (`analysis.allocations.ranges`): what leaves the function, is handed from one iteration of a loop to
   the next, or is kept by an op stays where it is (`leaves-scope`, `kept-between-iterations`, `kept-by-unknown`);
4. it is in no region whose iterations run at the same time, and in none of which nothing is known (`parallel-iterations`,
   `unknown-region`);
5. whatever frees it is the op that frees such memory, of all of it (`freed-elsewhere`);
6. if all took as many bytes as it does, aligned as asked, they would have 2^58 together at most (`too-large`).

Ranges of op numbers that do not meet may have the same bytes, so branches have, and each iteration of a loop has those of the
one before. Static sizes have the offsets of `planning.planner`. The others are stacked on them
(`planning.sizes.symbolic_offsets`), in the order of the offsets that `planning.planner` gives them if each symbol is a thousand
or so. So for all sizes the arena is no larger than the buffers side by side, up to the alignment lost in front of one that asks
for a stricter one than the static ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.analysis.allocations.arena_sizes import ArenaSizes, Measure
from hotdesk.analysis.allocations.freeing_calls import FreeingCalls
from hotdesk.analysis.allocations.hoisting import runs_in_parallel
from hotdesk.analysis.allocations.ranges import LiveRange, Unbounded, live_range
from hotdesk.analysis.allocations.types import alignment_of, is_contiguous
from hotdesk.analysis.allocations.uses import Allocation, Allocations, bytes_of_element
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.types import shape_of
from hotdesk.models.new_memory import why_not_replaced
from hotdesk.planning import NO_REUSE, Buffer, Problem, plan
from hotdesk.planning.sizes.symbolic_offsets import Extent, Stackable, stack

_NO_TOUCH = 1
_MOST = 1 << 58
"""Bytes that all allocations may have together."""


@dataclass(frozen=True, slots=True)
class Merged:
    """An allocation with its offset in the arena, in bytes, and the deallocations that go."""

    op: ir.Operation
    offset: Extent
    frees: tuple[ir.Operation, ...]


@dataclass(frozen=True, slots=True)
class ArenaPlan:
    """One arena for the allocations of a function.

    Attributes:
        merged: what goes there.
        bytes: its size.
        alignment: of its first byte, in bytes.
        measures: the quantities that sizes and offsets are made of, before those of `greatest`.
        greatest: as in `planning.sizes.symbolic_offsets.Stacked`.
        decisions: one for each allocation.
    """

    merged: tuple[Merged, ...]
    bytes: Extent
    alignment: int
    measures: tuple[Measure, ...]
    greatest: tuple[tuple[Extent, ...], ...]
    decisions: tuple[Decision, ...]


@dataclass(frozen=True, slots=True)
class _Placed:
    """An allocation that goes into the arena; `measure` is the number of its size, None if that is static."""

    allocation: Allocation
    lower: int
    upper: int
    bytes: int
    alignment: int
    measure: int | None


def plan_arena(
    function: ir.Operation, sizes: ArenaSizes, alignment: int, strategy: str, freeing: FreeingCalls
) -> ArenaPlan:
    """The arena of a function, each allocation at a multiple of `alignment` bytes, or of its own if that is more.

    Raises:
        ValueError: there is no such planning strategy.
        ImportError: the strategy needs a package that is not installed.
    """
    allocations = Allocations(function, freeing)
    most = _MOST // max(1, len(allocations.on_heap))
    aligned = {each: max(alignment, alignment_of(allocations, each)) for each in allocations.on_heap}
    found = [(each, _range(allocations, sizes, each, most, strictest)) for each, strictest in aligned.items()]
    placed: list[_Placed] = []
    decisions: list[Decision] = []
    for each, live in found:
        source, size = allocations.source(each.op), allocations.bytes(each)
        if isinstance(live, Unbounded):
            because = (source,) if live.op == each.op else (source, allocations.source(live.op))
            decisions.append(Decision("allocation", Outcome.ALLOCATED, live.reason, because, size))
            continue
        strictest = aligned[each]
        value = allocations.value(each)
        dynamic = None in shape_of(value.type)
        measure = sizes.measure(value, allocations.sizes.shape(value), strictest) if dynamic else None
        upper = max(live.upper, live.lower + _NO_TOUCH)
        placed.append(_Placed(each, live.lower, upper, sizes.estimate(size), strictest, measure))
        decisions.append(Decision("allocation", Outcome.SHARED, Reason.PLACED_IN_ARENA, (source,), size))
    offsets, total, greatest = _stacked(placed, sizes, strategy)
    ops = allocations.program.ops
    merged = [
        Merged(ops[each.allocation.op].operation, offset, tuple(ops[f].operation for f in each.allocation.frees))
        for each, offset in zip(placed, offsets, strict=True)
    ]
    strictest = max((each.alignment for each in placed), default=alignment)
    return ArenaPlan(tuple(merged), total, strictest, tuple(sizes.measures), greatest, tuple(decisions))


def _stacked(
    placed: Sequence[_Placed], sizes: ArenaSizes, strategy: str
) -> tuple[Sequence[Extent], Extent, tuple[tuple[Extent, ...], ...]]:
    """The offsets, the size of the arena, and the quantities that both are made of besides measures."""
    static = plan(Problem(tuple(_buffer(each) for each in placed if each.measure is None)), strategy=strategy)
    settled = {placement.buffer_id: placement.offset for placement in static.placements}
    dynamic = [each for each in placed if each.measure is not None]
    if not dynamic:
        return [Extent(settled[each.allocation.op]) for each in placed], Extent(static.arena), ()
    most = _MOST // len(placed)
    pinned = [_buffer(each, settled[each.allocation.op]) for each in placed if each.measure is None]
    estimated = plan(Problem((*pinned, *(_buffer(each, most=most) for each in dynamic))), strategy=strategy)
    order = {placement.buffer_id: placement.offset for placement in estimated.placements}
    ranked = sorted(placed, key=lambda each: order[each.allocation.op])
    apart = strategy == NO_REUSE
    stacked = stack([_stackable(each, settled, apart) for each in ranked], len(sizes.measures), sizes.is_at_least)
    offsets = {each.allocation.op: offset for each, offset in zip(ranked, stacked.offsets, strict=True)}
    return [offsets[each.allocation.op] for each in placed], stacked.total, stacked.greatest


def _buffer(each: _Placed, offset: int | None = None, most: int = _MOST) -> Buffer:
    return Buffer(each.allocation.op, each.lower, each.upper, min(each.bytes, most), each.alignment, offset)


def _stackable(each: _Placed, settled: dict[Any, int], apart: bool) -> Stackable:
    lower, upper = (0, 1) if apart else (each.lower, each.upper)
    if each.measure is not None:
        return Stackable(lower, upper, Extent(0, (each.measure,)), each.alignment)
    footprint = -(-each.bytes // each.alignment) * each.alignment
    return Stackable(lower, upper, Extent(footprint), each.alignment, settled[each.allocation.op])


def _range(
    allocations: Allocations, sizes: ArenaSizes, allocation: Allocation, most: int, alignment: int
) -> LiveRange | Unbounded:
    """Rules 1 to 6."""
    kind, size = allocations.value(allocation).type, allocations.bytes(allocation)
    replaced = why_not_replaced(allocations.op(allocation).operation)
    if replaced is not None:
        return Unbounded(replaced, allocation.op)
    if not bytes_of_element(kind):
        return Unbounded(Reason.UNSIZED_ELEMENT, allocation.op)
    if not is_contiguous(kind):
        return Unbounded(Reason.DIFFERENT_LAYOUT, allocation.op)
    if cast(Any, kind).memory_space is not None:
        return Unbounded(Reason.OTHER_MEMORY_SPACE, allocation.op)
    if max(alignment, size if isinstance(size, int) else 0) > most:
        return Unbounded(Reason.TOO_LARGE, allocation.op)
    if not sizes.are_known(allocations.value(allocation)):
        return Unbounded(Reason.SIZE_DEFINED_BELOW, allocation.op)
    if allocation.frees and not allocation.is_freed_simply:
        return Unbounded(Reason.FREED_ELSEWHERE, allocation.frees[0])
    program = allocations.program
    for op in program.around(program.ops[allocation.op].block):
        if runs_in_parallel(op):
            return Unbounded(Reason.PARALLEL_ITERATIONS, op.number)
        if not op.control:
            return Unbounded(Reason.UNKNOWN_REGION, op.number)
    return live_range(allocations, allocation)
