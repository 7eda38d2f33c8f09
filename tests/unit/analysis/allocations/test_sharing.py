"""Shared memory: the same numbers, everything freed once, and never more bytes at a time than before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy
from torch_mlir import ir

from hotdesk.analysis.order.peak import Change, MemoryProfile
from hotdesk.errors import InvalidIRError
from hotdesk.explain import Outcome, Reason
from hotdesk.ir.context import entered, make_context
from hotdesk.passes.buffers.merge import MergeAllocations
from hotdesk.passes.buffers.share import ShareBuffers
from tests.unit.parsing import parse
from tests.unit.passes.buffers.running import same

ALGEBRA: Any = sympy  # SymPy's functions are not annotated
N, M = sympy.Symbol("n"), sympy.Symbol("m")
DRAWN = np.random.default_rng(11)


def step(kind: str, source: str, target: str, to: str) -> str:
    return f"linalg.map {{ math.{kind} }} ins({source} : memref<{to}>) outs({target} : memref<{to}>)"


CHAIN = f"""
func.func @main(%c: i1, %k: index, %x: memref<8xf32>, %w: memref<4xf64>,
                %o: memref<8xf32> {{bufferize.result = 0}}, %p: memref<4xf64> {{bufferize.result = 1}}) {{
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %a = memref.alloc() : memref<8xf32>
  {step("exp", "%x", "%a", "8xf32")}
  %b = memref.alloc() : memref<8xf32>
  {step("sqrt", "%a", "%b", "8xf32")}
  memref.dealloc %a : memref<8xf32>
  %d = memref.alloc() : memref<4xf64>
  {step("exp", "%w", "%d", "4xf64")}
  {step("sqrt", "%d", "%p", "4xf64")}
  memref.dealloc %d : memref<4xf64>
  {step("tanh", "%b", "%o", "8xf32")}
  memref.dealloc %b : memref<8xf32>
  scf.for %i = %i0 to %k step %i1 {{
    %e = memref.alloc() : memref<8xf32>
    {step("exp", "%o", "%e", "8xf32")}
    scf.if %c {{
      %f = memref.alloc() : memref<8xf32>
      {step("sqrt", "%e", "%f", "8xf32")}
      memref.copy %f, %o : memref<8xf32> to memref<8xf32>
      memref.dealloc %f : memref<8xf32>
    }} else {{
      %g = memref.alloc() : memref<2x4xf32>
      %h = memref.collapse_shape %g [[0, 1]] : memref<2x4xf32> into memref<8xf32>
      {step("tanh", "%e", "%h", "8xf32")}
      memref.copy %h, %o : memref<8xf32> to memref<8xf32>
      memref.dealloc %g : memref<2x4xf32>
    }}
    memref.dealloc %e : memref<8xf32>
  }}
  return
}}"""


def inputs(condition: bool, times: int) -> list[object]:
    return [np.bool_(condition), np.int64(times), DRAWN.random(8, np.float32), DRAWN.random(4, np.float64)]


@pytest.mark.parametrize("condition", [False, True])
@pytest.mark.parametrize("times", [0, 1, 3])
def test_share(condition: bool, times: int) -> None:
    changed, _ = same(CHAIN, [ShareBuffers()], inputs(condition, times), [(8,), (4,)])
    assert changed.count("memref.alloc(") < CHAIN.count("memref.alloc(")


def test_s1_3_decisions_name_both() -> None:
    module = parse(CHAIN)
    with entered(module.operation):
        decisions = ShareBuffers().run(module)
    shared = [decision for decision in decisions if decision.outcome is Outcome.SHARED]
    assert shared
    assert all(decision.reason is Reason.LIVE_RANGE_ENDED and len(decision.because) == 2 for decision in shared)


def test_peak_of_numbers() -> None:
    profile = MemoryProfile(10, [Change(0, 4, 8), Change(2, 6, 8), Change(8, 9, 8)])
    assert not profile.accept([Change(1, 3, 1)])
    assert profile.accept([Change(0, 4, 8, -1), Change(8, 9, 8, -1), Change(0, 9, 8)])
    assert not profile.accept([Change(7, 8, 9)])
    assert profile.accept([Change(7, 8, 8)])


def test_peak_of_symbols() -> None:
    profile = MemoryProfile(10, [Change(0, 4, 8 * N), Change(2, 6, 4 * M), Change(8, 9, 8 * N)])
    assert profile.accept([Change(7, 8, 4 * M)])
    assert not profile.accept([Change(5, 6, 4 * M)])  # more of m than ever, should n be small
    assert not profile.accept([Change(7, 8, N * M)])


def test_peak_while_more_may_be_held() -> None:
    profile = MemoryProfile(10, [Change(0, 2, 8), Change(4, 5, 4)], [(4, 6)])
    assert not profile.accept([Change(4, 5, 2)])
    assert profile.accept([Change(6, 7, 8)])
    assert profile.accept([Change(4, 5, 4, -1), Change(4, 5, 4)])


def test_s1_4_bounded_and_signed_sizes_run() -> None:
    text = f"""
func.func @main(%n: index, %k: index, %x: memref<8xf32>, %o: memref<8xf32> {{bufferize.result = 0}}) {{
  %s = arith.addi %n, %k : index
  %t = affine.min affine_map<(d0) -> (d0, 8)>(%k)
  %b = memref.alloc(%s) : memref<?xf32>
  %c0 = arith.constant 0 : index
  %e = memref.load %x[%c0] : memref<8xf32>
  linalg.fill ins(%e : f32) outs(%b : memref<?xf32>)
  memref.dealloc %b : memref<?xf32>
  %a = memref.alloc() : memref<8xf32>
  {step("exp", "%x", "%a", "8xf32")}
  memref.copy %a, %o : memref<8xf32> to memref<8xf32>
  memref.dealloc %a : memref<8xf32>
  %c = memref.alloc(%t) : memref<?xf32>
  linalg.fill ins(%e : f32) outs(%c : memref<?xf32>)
  %v = memref.subview %o[0] [%t] [1] : memref<8xf32> to memref<?xf32, strided<[1]>>
  memref.copy %c, %v : memref<?xf32> to memref<?xf32, strided<[1]>>
  memref.dealloc %c : memref<?xf32>
  return
}}"""
    given = [np.int64(-2), np.int64(6), DRAWN.random(8, np.float32)]
    changed, _ = same(text, [ShareBuffers()], given, [(8,)])
    assert changed.count("memref.alloc(") == changed.count("memref.dealloc") == 2


def test_the_sizes_of_a_reshape_are_in_use_until_then() -> None:
    text = """
func.func @main(%k: index, %x: memref<8xf32>, %o: memref<8xf32> {bufferize.result = 0}) {
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %s = memref.alloc() : memref<2xindex>
  %two = arith.constant 2 : index
  %four = arith.constant 4 : index
  memref.store %two, %s[%i0] : memref<2xindex>
  memref.store %four, %s[%i1] : memref<2xindex>
  %a = memref.alloc() : memref<2xindex>
  memref.store %k, %a[%i0] : memref<2xindex>
  memref.store %k, %a[%i1] : memref<2xindex>
  %r = memref.reshape %x(%s) : (memref<8xf32>, memref<2xindex>) -> memref<?x?xf32>
  %n = memref.load %a[%i1] : memref<2xindex>
  %e = memref.load %r[%i1, %n] : memref<?x?xf32>
  linalg.fill ins(%e : f32) outs(%o : memref<8xf32>)
  memref.dealloc %s : memref<2xindex>
  memref.dealloc %a : memref<2xindex>
  return
}"""
    given = [np.int64(3), DRAWN.random(8, np.float32)]
    for one in (ShareBuffers(), MergeAllocations()):
        _, run = same(text, [one], given, [(8,)])
        assert run.results[0][0] == given[1][7]


def test_what_an_unknown_region_hands_out_is_kept() -> None:
    context = make_context()
    context.allow_unregistered_dialects = True
    module = ir.Module.parse(
        """
    func.func @f(%z: f32) {
      %r = "custom.region"() ({
        %a = memref.alloc() : memref<8xf32>
        linalg.fill ins(%z : f32) outs(%a : memref<8xf32>)
        "custom.yield"(%a) : (memref<8xf32>) -> ()
      }) : () -> memref<8xf32>
      %b = memref.alloc() : memref<8xf32>
      linalg.fill ins(%z : f32) outs(%b : memref<8xf32>)
      memref.copy %r, %b : memref<8xf32> to memref<8xf32>
      return
    }""",
        context,
    )
    with entered(module.operation):
        decisions = ShareBuffers().run(module)
    assert [decision.reason for decision in decisions] == [Reason.KEPT_BY_UNKNOWN, Reason.NOTHING_TO_SHARE]


@pytest.mark.parametrize("length", [1, 5, 8])
def test_bounded_sizes_share_and_run(length: int) -> None:
    text = """
func.func @main(%x: memref<?xf32> {hotdesk.shape = ["s0"]}, %o: memref<?xf32> {bufferize.result = 0})
    attributes {hotdesk.bounds = {s0 = [1, 8]}} {
  %i0 = arith.constant 0 : index
  %n = memref.dim %x, %i0 : memref<?xf32>
  %a = memref.alloc() : memref<8xf32>
  %e = memref.load %x[%i0] : memref<?xf32>
  linalg.fill ins(%e : f32) outs(%a : memref<8xf32>)
  %f = memref.load %a[%i0] : memref<8xf32>
  memref.dealloc %a : memref<8xf32>
  %b = memref.alloc(%n) : memref<?xf32>
  linalg.fill ins(%f : f32) outs(%b : memref<?xf32>)
  memref.copy %b, %o : memref<?xf32> to memref<?xf32>
  memref.dealloc %b : memref<?xf32>
  return
}"""
    changed, _ = same(text, [ShareBuffers()], [DRAWN.random(length, np.float32)], [(length,)])
    assert changed.count("memref.alloc(") == 1
    unbounded, _ = same(
        text.replace("[1, 8]", "[1]"), [ShareBuffers()], [DRAWN.random(length, np.float32)], [(length,)]
    )
    assert unbounded.count("memref.alloc(") == 2


@pytest.mark.parametrize("bounds", ["[1, 8]", "{s0 = [8, 1]}", "{s0 = [-1, 8]}", "{s0 = 8 : i64}", "{s0 = [1, 2, 3]}"])
def test_bounds_are_checked(bounds: str) -> None:
    module = parse(f"func.func @f() attributes {{hotdesk.bounds = {bounds}}} {{ return }}")
    with entered(module.operation), pytest.raises(InvalidIRError, match="hotdesk.bounds"):
        ShareBuffers().run(module)
