"""Moved and promoted allocations: the same numbers, and nothing leaks or is freed twice."""

from __future__ import annotations

import numpy as np
import pytest

from hotdesk.errors import OptionError
from hotdesk.passes.buffers.hoist import BufferHoisting
from hotdesk.passes.buffers.loop_hoist import BufferLoopHoisting
from hotdesk.passes.buffers.promote import PromoteBuffersToStack
from tests.unit.passes.buffers.running import same

X = np.random.default_rng(3).random(2, np.float32)

BRANCH = """
func.func @main(%c: i1, %x: memref<2xf32>, %out: memref<2xf32> {bufferize.result = 0}) {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  cf.br ^bb3(%x : memref<2xf32>)
^bb2:
  %0 = memref.alloc() : memref<2xf32>
  linalg.map { math.exp } ins(%x : memref<2xf32>) outs(%0 : memref<2xf32>)
  cf.br ^bb3(%0 : memref<2xf32>)
^bb3(%1: memref<2xf32>):
  linalg.map { math.sqrt } ins(%1 : memref<2xf32>) outs(%out : memref<2xf32>)
  return
}"""

LOOP = """
func.func @main(%n: index, %x: memref<2xf32>, %out: memref<2xf32> {bufferize.result = 0}) {
  %lb = arith.constant 0 : index
  %step = arith.constant 1 : index
  linalg.map { math.exp } ins(%x : memref<2xf32>) outs(%out : memref<2xf32>)
  scf.for %i = %lb to %n step %step {
    scf.for %j = %lb to %n step %step {
      %m = arith.addi %n, %step : index
      %a = memref.alloc() : memref<2xf32>
      %b = memref.alloc(%n) : memref<?xf32>
      %z = memref.load %out[%lb] : memref<2xf32>
      linalg.fill ins(%z : f32) outs(%b : memref<?xf32>)
      %y = memref.load %b[%lb] : memref<?xf32>
      linalg.fill ins(%y : f32) outs(%a : memref<2xf32>)
      linalg.map { math.sqrt } ins(%a : memref<2xf32>) outs(%out : memref<2xf32>)
      memref.dealloc %b : memref<?xf32>
      memref.dealloc %a : memref<2xf32>
    }
  }
  return
}"""


@pytest.mark.parametrize("condition", [False, True])
def test_s2_4_branch(condition: bool) -> None:
    changed, run = same(BRANCH, [BufferHoisting()], [np.bool_(condition), X], [(2,)], leaks=1)
    assert changed.index("memref.alloc") < changed.index("cf.cond_br")
    assert run.allocations.count == 2  # one is the result


@pytest.mark.parametrize("times", [-3, 0, 1, 4])
def test_s2_10_loop(times: int) -> None:
    changed, run = same(LOOP, [BufferLoopHoisting()], [np.int64(times), X], [(2,)])
    assert changed.index("memref.alloc(") < changed.index("scf.for") < changed.rindex("}") > changed.rindex("dealloc")
    assert run.frees == 2


def test_s2_10_both() -> None:
    changed, run = same(LOOP, [BufferLoopHoisting(), PromoteBuffersToStack()], [np.int64(3), X], [(2,)])
    assert changed.count("memref.alloca") == 1
    assert run.frees == 1


@pytest.mark.parametrize("condition", [False, True])
def test_s2_10_stack(condition: bool) -> None:
    changed, run = same(BRANCH, [PromoteBuffersToStack()], [np.bool_(condition), X], [(2,)])
    assert "memref.alloc(" not in changed
    assert run.allocations.count == 1


@pytest.mark.parametrize(("size", "rank"), [(-1, 1), (1, -1)])
def test_limits_are_not_negative(size: int, rank: int) -> None:
    with pytest.raises(OptionError, match="0 or more"):
        PromoteBuffersToStack(size, rank)
