"""Function boundaries on memrefs: the same arrays before and after."""

from __future__ import annotations

import numpy as np
import pytest

from hotdesk.passes.base import Pass
from hotdesk.passes.bufferize.equivalent_results import DropEquivalentBufferResults
from hotdesk.passes.bufferize.out_params import BufferResultsToOutParams
from tests.unit.passes.memory import same_after

PROGRAM = """
func.func private @twice(%x: memref<?xf32>) -> (memref<?xf32>, memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %a = memref.alloc(%n) : memref<?xf32>
  linalg.map { arith.addf } ins(%x, %x : memref<?xf32>, memref<?xf32>) outs(%a : memref<?xf32>)
  return %a, %x : memref<?xf32>, memref<?xf32>
}
func.func private @either(%b: i1, %x: memref<4xf32>) -> memref<4xf32> {
  %a = memref.alloc() : memref<4xf32>
  linalg.map { math.absf } ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
  cf.cond_br %b, ^one, ^two
^one:
  return %a : memref<4xf32>
^two:
  return %x : memref<4xf32>
}
func.func private @steps(%x: memref<4xf32>) -> (memref<4xf32>, memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  linalg.map { math.absf } ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
  return %a, %a : memref<4xf32>, memref<4xf32>
}
func.func @main(%i: index, %x: memref<4xf32>, %o: memref<4xf32>, %p: memref<4xf32>, %q: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %b = arith.cmpi eq, %i, %c0 : index
  %y = memref.cast %x : memref<4xf32> to memref<?xf32>
  %r, %s = call @twice(%y) : (memref<?xf32>) -> (memref<?xf32>, memref<?xf32>)
  linalg.map { arith.mulf } ins(%r, %s : memref<?xf32>, memref<?xf32>) outs(%q : memref<?xf32>)
  %t = call @either(%b, %x) : (i1, memref<4xf32>) -> memref<4xf32>
  linalg.map { arith.addf } ins(%t, %x : memref<4xf32>, memref<4xf32>) outs(%o : memref<4xf32>)
  %u, %v = call @steps(%x) : (memref<4xf32>) -> (memref<4xf32>, memref<4xf32>)
  linalg.map { arith.addf } ins(%u, %v : memref<4xf32>, memref<4xf32>) outs(%p : memref<4xf32>)
  return
}
"""

PASSES = {
    "copied": (BufferResultsToOutParams(),),
    "hoisted": (BufferResultsToOutParams(hoist_static_allocs=True, hoist_dynamic_allocs=True),),
    "dropped": (DropEquivalentBufferResults(),),
    "both": (
        DropEquivalentBufferResults(),
        BufferResultsToOutParams(hoist_static_allocs=True, hoist_dynamic_allocs=True, add_result_attr=True),
    ),
}


@pytest.mark.parametrize("name", PASSES)
@pytest.mark.parametrize("branch", [0, 1])
def test_the_same_before_and_after(name: str, branch: int) -> None:
    passes: tuple[Pass, ...] = PASSES[name]
    x, *outs = (np.array(row, np.float32) for row in ([-1, 2, -3, 4], [0] * 4, [0] * 4, [0] * 4))
    after = same_after(PROGRAM, passes, branch, x, *outs)
    assert ("-> memref" in after or "-> (memref" in after) == (name != "both")
