"""Programs that free their buffers, and those that do not yet, behind passes: the memory checker finds no fault in either."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest
from torch_mlir import ir

from hotdesk.checker import CheckReport, Settings, check_module
from hotdesk.errors import BufferizationError
from hotdesk.ir.context import make_context
from hotdesk.passes.base import Pass
from hotdesk.passes.buffers.deallocate import DeallocateAfterLastUse
from hotdesk.passes.buffers.hoist import BufferHoisting
from hotdesk.passes.buffers.merge import MergeAllocations
from hotdesk.passes.buffers.promote import PromoteBuffersToStack
from hotdesk.passes.buffers.share import ShareBuffers
from tests.unit.passes.memory import text_after

RETURNED = """
func.func @main(%n: index, %x: memref<4xf32>) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %c = arith.cmpi sgt, %n, %c0 : index
  %r = scf.if %c -> memref<4xf32> {
    %b = memref.alloc() : memref<4xf32>
    memref.copy %x, %b : memref<4xf32> to memref<4xf32>
    scf.yield %b : memref<4xf32>
  } else {
    %d = memref.alloc() : memref<4xf32>
    linalg.exp ins(%x : memref<4xf32>) outs(%d : memref<4xf32>)
    scf.yield %d : memref<4xf32>
  }
  return %r : memref<4xf32>
}"""

CALLED = f"""
func.func @main(%n: index, %x: memref<4xf32>) -> f32 {{
  %c0 = arith.constant 0 : index
  %r = call @made(%n, %x) : (index, memref<4xf32>) -> memref<4xf32>
  %v = memref.load %r[%c0] : memref<4xf32>
  memref.dealloc %r : memref<4xf32>
  return %v : f32
}}
{RETURNED.replace("@main", "private @made")}"""

KEPT = """
func.func private @last(%k: memref<4xf32>) -> memref<4xf32> {
  return %k : memref<4xf32>
}
func.func @main(%n: index, %x: memref<4xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c = arith.cmpi sgt, %n, %c0 : index
  %r:2 = scf.if %c -> (memref<4xf32>, f32) {
    %b = memref.alloc() : memref<4xf32>
    memref.copy %x, %b : memref<4xf32> to memref<4xf32>
    %k = func.call @last(%b) : (memref<4xf32>) -> memref<4xf32>
    %v = memref.load %b[%c0] : memref<4xf32>
    memref.dealloc %k : memref<4xf32>
    scf.yield %b, %v : memref<4xf32>, f32
  } else {
    %w = memref.load %x[%c0] : memref<4xf32>
    scf.yield %x, %w : memref<4xf32>, f32
  }
  %d = memref.dim %r#0, %c0 : memref<4xf32>
  return %r#1 : f32
}"""

REDUCED = """
func.func @main(%n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %f = arith.constant 1.0 : f32
  %r = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%z) -> f32 {
    %t = memref.alloc() : memref<f32>
    memref.store %f, %t[] : memref<f32>
    %v = memref.load %t[] : memref<f32>
    memref.dealloc %t : memref<f32>
    scf.reduce(%v : f32) {
    ^bb0(%p: f32, %q: f32):
      %w = memref.alloc() : memref<f32>
      memref.store %p, %w[] : memref<f32>
      %l = memref.load %w[] : memref<f32>
      memref.dealloc %w : memref<f32>
      %s = arith.addf %l, %q : f32
      scf.reduce.return %s : f32
    }
  }
  return %r : f32
}"""
SHOWN_AS_FLOATS = """
func.func @main(%x: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %t = memref.alloc() : memref<32xi8>
  %v = memref.view %t[%c0][] : memref<32xi8> to memref<4xf64>
  linalg.fill ins(%x : f64) outs(%v : memref<4xf64>)
  %y = memref.load %v[%c0] : memref<4xf64>
  memref.dealloc %t : memref<32xi8>
  %b = arith.fptosi %y : f64 to i8
  %u = memref.alloc() {alignment = 1 : i64} : memref<32xi8>
  linalg.fill ins(%b : i8) outs(%u : memref<32xi8>)
  %k = memref.load %u[%c0] : memref<32xi8>
  memref.dealloc %u : memref<32xi8>
  %z = arith.sitofp %k : i8 to f64
  return %z : f64
}"""
READ_IN_THERE = """
func.func @main(%n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %r = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%z) -> f32 {
    %t = memref.alloc() : memref<f32>
    memref.store %z, %t[] : memref<f32>
    scf.reduce(%z : f32) {
    ^bb0(%p: f32, %q: f32):
      %l = memref.load %t[] : memref<f32>
      %s = arith.addf %l, %q : f32
      scf.reduce.return %s : f32
    }
  }
  return %r : f32
}"""
NOT_FREED = re.sub(r".*memref\.dealloc.*\n", "", REDUCED)


def checked(text: str, sizes: Sequence[int], *, freed: bool) -> CheckReport:
    """What the checker tells of `@main`; fails if there is a fault."""
    with make_context(), ir.Location.unknown():
        report = check_module(ir.Module.parse(text), sizes=sizes, settings=Settings(deallocated=freed))
    assert report.clean, str(report)
    return report


def check(text: str, passes: Sequence[Pass], sizes: Sequence[int], *, freed: bool) -> str:
    """Fails if a program has a fault before or after passes, or another result; `freed` is whether it is to free.

    Returns the text after the passes.
    """
    changed = text_after(text, *passes)
    before = checked(text, sizes, freed=freed)
    behind = checked(changed, sizes, freed=freed or any(isinstance(each, DeallocateAfterLastUse) for each in passes))
    for was, now in zip(before.results, behind.results, strict=True):
        np.testing.assert_array_equal(was.values, now.values)
    return changed


@pytest.mark.parametrize("size", [0, 1])
@pytest.mark.parametrize("text", [RETURNED, CALLED, KEPT], ids=["returned", "called", "kept"])
def test_hoisting_makes_no_leak(text: str, size: int) -> None:
    changed = check(text, [BufferHoisting()], [size], freed=True)
    assert changed == text_after(text)


@pytest.mark.parametrize("size", [0, 1])
def test_what_is_returned_is_freed_on_no_path(size: int) -> None:
    changed = check(RETURNED, [BufferHoisting(), DeallocateAfterLastUse()], [size], freed=True)
    assert "memref.dealloc" not in changed


@pytest.mark.parametrize("size", [0, 3])
def test_a_reduction_shares_nothing_with_its_loop(size: int) -> None:
    assert check(REDUCED, [ShareBuffers()], [size], freed=True) == text_after(REDUCED)
    both = check(NOT_FREED, [ShareBuffers(), DeallocateAfterLastUse()], [size], freed=False)
    assert both == text_after(NOT_FREED, DeallocateAfterLastUse())


def test_what_a_reduction_uses_cannot_be_freed_behind_it() -> None:
    with pytest.raises(
        BufferizationError, match=r"used in a region of `scf\.reduce`.*\(-:9:5\)\. load what the region needs"
    ):
        text_after(READ_IN_THERE, DeallocateAfterLastUse())


@pytest.mark.parametrize(
    ("one", "owner"),
    [
        (PromoteBuffersToStack(), "memref.alloca() {alignment = 8 : i64} : memref<32xi8>"),
        (ShareBuffers(), "memref.alloc() {alignment = 8 : i64} : memref<32xi8>"),
        (MergeAllocations(alignment=1), "memref.alloc() {alignment = 8 : i64} : memref<32xi8>"),
    ],
    ids=["promotion", "sharing", "merging"],
)
def test_views_of_bytes_stay_aligned(one: Pass, owner: str) -> None:
    assert owner in check(SHOWN_AS_FLOATS, [one], [], freed=True)
