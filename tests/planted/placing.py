"""Faults of deallocation, hoisting and promotion."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hotdesk.analysis.allocations import hoisting
from hotdesk.analysis.allocations.hoisting import Hoisting, Move
from hotdesk.analysis.allocations.promotion import Promotion, Promotions
from hotdesk.analysis.ownership.candidates import EXTERNAL
from hotdesk.analysis.ownership.owners import Ownership
from hotdesk.analysis.ownership.releases import Releases
from hotdesk.checker import FaultKind
from hotdesk.passes.buffers import deallocate, settle_ownership
from tests.planted.planting import (
    EITHER,
    FREED_EARLY,
    FRESH_EACH_TIME,
    IN_LOOP,
    IN_THREADS,
    TEMPORARIES,
    THROUGH_A_VIEW,
    WRONG_RESULTS,
    Case,
    always,
    both,
    changed,
    program,
)


def _last_use_lost(read: Any, *_: Any) -> Any:
    return replace(read, users=tuple(users[:-1] if len(users) > 1 else users for users in read.users))


def _views_apart(read: Any, *_: Any) -> Any:
    return replace(read, values=tuple(replace(buffer, sources=()) for buffer in read.values))


def _nobody_elses(found: Any, *_: Any) -> Any:
    return [frozenset(each - {EXTERNAL}) for each in found]


def _kept_by_all(found: Any, *_: Any) -> Any:
    return found if isinstance(found, range) else ()


DEALLOCATION = {
    "a buffer is freed one op early": Case(
        changed(settle_ownership, "read_buffers", _last_use_lost), FaultKind.USE_AFTER_FREE, program(*TEMPORARIES)
    ),
    "a view is no alias": Case(
        changed(settle_ownership, "read_buffers", _views_apart), FaultKind.USE_AFTER_FREE, program(*THROUGH_A_VIEW)
    ),
    "nothing is freed": Case(  # the pass would refuse its own result
        both(changed(Releases, "find", _kept_by_all), always(deallocate.DeallocateAfterLastUse, "ensures", ())),
        FaultKind.LEAK,
        program(*TEMPORARIES),
    ),
    "deallocations that are there stay": Case(
        always(deallocate, "drop_free", None), FaultKind.DOUBLE_FREE, program(*FREED_EARLY)
    ),
    "a branch owns what is an argument": Case(
        changed(Ownership, "_candidates", _nobody_elses), FaultKind.INVALID_FREE, program(*EITHER), (2,)
    ),
}


# Hoisting


def _frees_left(found: Any, *_: Any) -> Any:
    return replace(found, frees=(), after=None) if isinstance(found, Move) else found


NEGATIVE = """
func.func @main(%n: index, %y: memref<4xf32> {bufferize.result = 0 : i64}) {
  %one = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %m = arith.subi %n, %c2 : index
  linalg.fill ins(%one : f32) outs(%y : memref<4xf32>)
  %some = arith.cmpi sgt, %m, %c0 : index
  cf.cond_br %some, ^bb1, ^bb2
^bb1:
  %a = memref.alloc(%m) : memref<?xf32>
  linalg.fill ins(%one : f32) outs(%a : memref<?xf32>)
  cf.br ^bb3(%a : memref<?xf32>)
^bb2:
  %b = memref.cast %y : memref<4xf32> to memref<?xf32>
  cf.br ^bb3(%b : memref<?xf32>)
^bb3(%r: memref<?xf32>):
  %v = memref.load %r[%c0] : memref<?xf32>
  memref.store %v, %y[%c0] : memref<4xf32>
  return
}
"""
RETURNED = """
func.func @main(%n: index, %x: memref<4xf32>) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %t = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%t : memref<4xf32>)
  %some = arith.cmpi sgt, %n, %c0 : index
  %r = scf.if %some -> memref<4xf32> {
    %a = memref.alloc() : memref<4xf32>
    memref.copy %x, %a : memref<4xf32> to memref<4xf32>
    scf.yield %a : memref<4xf32>
  } else {
    %b = memref.alloc() : memref<4xf32>
    memref.copy %t, %b : memref<4xf32> to memref<4xf32>
    scf.yield %b : memref<4xf32>
  }
  memref.dealloc %t : memref<4xf32>
  return %r : memref<4xf32>
}
"""
HOISTING = {
    "an allocation leaves a loop that passes it on": Case(
        always(Hoisting, "_forbidden", None), WRONG_RESULTS, program(*FRESH_EACH_TIME)
    ),
    "a size that nobody asked for is negative": Case(
        always(hoisting, "is_not_negative", True), FaultKind.SHAPE, NEGATIVE, (1,)
    ),
    "what the caller frees leaves its branch": Case(
        always(Hoisting, "_owned_elsewhere", None), FaultKind.LEAK, RETURNED, (1,)
    ),
}
LOOP_HOISTING = {
    "an allocation leaves a loop that passes it on": Case(
        always(Hoisting, "_keeps", None), WRONG_RESULTS, program(*FRESH_EACH_TIME)
    ),
    "threads share an allocation": Case(always(Hoisting, "_keeps", None), FaultKind.RACE, program(*IN_THREADS)),
    "deallocations stay in the loop": Case(
        changed(Hoisting, "_move", _frees_left), FaultKind.USE_AFTER_FREE, program(*IN_LOOP)
    ),
}


# Promotion


def _frees_stay(found: Any, *_: Any) -> Any:
    return replace(found, frees=()) if isinstance(found, Promotion) else found


PROMOTION = {
    "stack memory leaves its scope": Case(
        always(Promotions, "_left", (None, 0)), FaultKind.USE_AFTER_FREE, program(*FRESH_EACH_TIME)
    ),
    "stack memory is freed": Case(
        changed(Promotions, "find", _frees_stay), FaultKind.INVALID_FREE, program(*FREED_EARLY)
    ),
}
