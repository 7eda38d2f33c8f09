"""What keeps a value from being made again where it is read later."""

from __future__ import annotations

from hotdesk.ir.context import entered
from hotdesk.passes.tensor.recompute import Recompute
from tests.unit.parsing import parse

LATE = """
func.func @main(%m: memref<8xf32>, %y: tensor<8x8xf32>, %i: tensor<index>)
    -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>) {
  %z = arith.constant 0.0 : f32
  %c = arith.constant 0 : index
  %t = bufferization.to_tensor %m restrict : memref<8xf32> to tensor<8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %h = tensor.empty() : tensor<4x8xf32>
  %a = linalg.broadcast ins(%t : tensor<8xf32>) outs(%e : tensor<8x8xf32>) dimensions = [0]
  %q = linalg.map { arith.mulf } ins(%a, %y : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  WRITE
  %p = linalg.map { math.exp } ins(%q : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  %r = linalg.map { arith.addf } ins(%a, %p : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  %o = tensor.extract %i[] : tensor<index>
  %v = tensor.extract_slice %a[OFFSET, 0] [4, 8] [1, 1] : tensor<8x8xf32> to tensor<4x8xf32>
  %s = linalg.map { math.tanh } ins(%v : tensor<4x8xf32>) outs(%h : tensor<4x8xf32>)
  return %r, %q, %s : tensor<8x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>
}"""


def again(write: str = "", offset: str = "4") -> list[str]:
    """What is made again, by its operation, and the module verifies."""
    module = parse(LATE.replace("WRITE", write).replace("OFFSET", offset))
    with entered(module.operation):
        decisions = Recompute(least_bytes=128).run(module)
        module.operation.verify()
    return [decision.because[0].op for decision in decisions]


def test_views_that_are_read_late_are_made_again() -> None:
    assert again() == ["linalg.broadcast"]


def test_views_by_what_is_known_later_keep_the_value() -> None:
    assert again(offset="%o") == []


def test_nothing_is_made_again_behind_what_works_on_memory() -> None:
    """The tensor that it is made of lies in the memory that is written there."""
    assert again("memref.store %z, %m[%c] : memref<8xf32>") == []
