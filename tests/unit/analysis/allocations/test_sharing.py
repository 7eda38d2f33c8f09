"""Shared memory: the same numbers, everything freed once, and never more bytes at a time than before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy

from hotdesk.analysis.order.peak import Change, MemoryProfile
from hotdesk.errors import InvalidIRError
from hotdesk.ir.context import entered
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


@pytest.mark.parametrize("bounds", ["[1, 8]", "{s0 = [8, 1]}", "{s0 = [-1, 8]}", "{s0 = 8 : i64}", "{s0 = [1, 2, 3]}"])
def test_bounds_are_checked(bounds: str) -> None:
    module = parse(f"func.func @f() attributes {{hotdesk.bounds = {bounds}}} {{ return }}")
    with entered(module.operation), pytest.raises(InvalidIRError, match="hotdesk.bounds"):
        ShareBuffers().run(module)
