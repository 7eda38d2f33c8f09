"""Faults of sharing and merging buffers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from torch_mlir import ir

from hotdesk.analysis.allocations import memory_slots, merging, ranges, slot_places
from hotdesk.analysis.allocations.freeing_calls import FreeingCalls
from hotdesk.analysis.allocations.ranges import LiveRange
from hotdesk.analysis.allocations.sharing import Sharing
from hotdesk.analysis.allocations.uses import Allocations
from hotdesk.checker import FaultKind
from hotdesk.passes.buffers import merge, share
from hotdesk.planning.sizes.symbolic_offsets import Extent
from tests.planted.planting import (
    ALLOC,
    FREED_EARLY,
    FRESH_EACH_TIME,
    IN_THREADS,
    SQUARE,
    TURNED,
    Case,
    always,
    both,
    changed,
    program,
    unary,
)


def _shorter(found: Any, *_: Any) -> Any:
    return replace(found, upper=found.upper - 1) if isinstance(found, LiveRange) else found


def _smaller_ones_too(found: Any, asked: Sharing, *_: Any) -> Any:
    return [number for _, _, number in asked._free]


def _freed_by_the_first(slots: Any, *_: Any) -> Any:
    return [replace(slot, last=slot.users[0].frees[-1]) if len(slot.users) > 1 else slot for slot in slots]


class _FreedByTheFirst(Sharing):
    def __init__(self, function: ir.Operation, freeing: FreeingCalls | None = None) -> None:
        super().__init__(function, freeing)
        self.slots = _freed_by_the_first(self.slots)


ALIGNED = (
    "%a = memref.alloc() : M", unary("exp", "%x", "%a"), unary("abs", "%a", "%y"), "memref.dealloc %a : M",
    "%b = memref.alloc() {alignment = 256 : i64} : M", "%p = memref.assume_alignment %b, 256 : M",
    unary("log", "%x", "%p"), unary("abs", "%p", "%y"), "memref.dealloc %b : M",
)  # fmt: skip
SMALL_THEN_LARGE = (
    "%a = memref.alloc() : memref<2xf32>", "linalg.fill ins(%one : f32) outs(%a : memref<2xf32>)",
    "%v = memref.load %a[%c0] : memref<2xf32>", "memref.dealloc %a : memref<2xf32>",
    "%b = memref.alloc() : M", "linalg.fill ins(%v : f32) outs(%b : M)", unary("abs", "%b", "%y"), "memref.dealloc %b : M",
)  # fmt: skip
BEFORE_THREADS = (
    f"%a {ALLOC}", unary("exp", "%x", "%a"), unary("abs", "%a", "%y"), "memref.dealloc %a : M", *IN_THREADS,
)  # fmt: skip
SHARING = {
    "live ranges end one op early": Case(
        changed(memory_slots, "live_range", _shorter), FaultKind.OVERLAP, program(*TURNED, kind=SQUARE)
    ),
    "a slot is too small": Case(
        changed(Sharing, "_candidates", _smaller_ones_too), FaultKind.OUT_OF_BOUNDS, program(*SMALL_THEN_LARGE)
    ),
    "threads share a slot": Case(
        always(slot_places, "runs_in_parallel", False), FaultKind.RACE, program(*BEFORE_THREADS)
    ),
    "the first user frees": Case(
        lambda patch: patch.setattr(share, "Sharing", _FreedByTheFirst), FaultKind.USE_AFTER_FREE, program(*FREED_EARLY)
    ),
    "a stricter alignment is forgotten": Case(always(share, "alignment_of", 1), FaultKind.ALIGNMENT, program(*ALIGNED)),
}


# Merging


def _all_at_zero(found: Any, *_: Any) -> Any:
    return replace(found, placements=tuple(replace(each, offset=0) for each in found.placements))


def _too_small(found: Any, *_: Any) -> Any:
    return replace(found, bytes=Extent(16))


def _merged_frees_stay(found: Any, *_: Any) -> Any:
    return replace(found, merged=tuple(replace(each, frees=()) for each in found.merged))


MERGING = {
    "live ranges end one op early": Case(
        changed(merging, "live_range", _shorter), FaultKind.OVERLAP, program(*TURNED, kind=SQUARE)
    ),
    "every buffer lies at the beginning": Case(
        changed(merging, "plan", _all_at_zero), FaultKind.OVERLAP, program(*FREED_EARLY)
    ),
    "the arena is too small": Case(
        changed(merge, "plan_arena", _too_small), FaultKind.OUT_OF_BOUNDS, program(*FREED_EARLY)
    ),
    "buffers in the arena are freed": Case(
        changed(merge, "plan_arena", _merged_frees_stay), FaultKind.DOUBLE_FREE, program(*FREED_EARLY)
    ),
    "threads share the arena": Case(
        both(always(merging, "runs_in_parallel", False), always(ranges, "runs_in_parallel", False)),
        FaultKind.RACE,
        program(*IN_THREADS),
    ),
    "a stricter alignment is forgotten": Case(
        always(merging, "alignment_of", 1),
        FaultKind.ALIGNMENT,
        program(
            f"%z {ALLOC}", unary("exp", "%x", "%z"), *ALIGNED,
            "linalg.add ins(%z, %y : M, M) outs(%y : M)", "memref.dealloc %z : M",
        ),
    ),
    "what a loop passes on is merged": Case(
        both(
            always(Allocations, "comes_around", False),
            always(ranges, "is_loop", False),
        ),
        FaultKind.OVERLAP,
        program(*FRESH_EACH_TIME),
    ),
}  # fmt: skip
