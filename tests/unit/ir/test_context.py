"""MLIR's own passes, as they are run: what they would change wrongly stays as it is."""

from __future__ import annotations

import pytest

from hotdesk._bindings import ir
from hotdesk.ir.context import make_context, run_mlir_passes

PADDED = """
func.func @main(%x: tensor<4xf32>) -> tensor<25xf32> {
  %zero = arith.constant 0.0 : f32
  %unused = arith.addf %zero, %zero : f32
  %padded = tensor.pad %x low[2] high[1] { ^bb0(%i: index): tensor.yield %zero : f32 } : tensor<4xf32> to tensor<7xf32>
  %empty = tensor.empty() : tensor<25xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<25xf32>) -> tensor<25xf32>
  %spread = tensor.insert_slice %padded into %zeros[0] [7] [4] : tensor<7xf32> into tensor<25xf32>
  return %spread : tensor<25xf32>
}
"""


@pytest.mark.parametrize("pipeline", ["canonicalize", "func.func(canonicalize{max-iterations=3},cse),canonicalize"])
def test_padding_that_is_spread_is_not_folded_as_if_it_were_not(pipeline: str) -> None:
    module = ir.Module.parse(PADDED, make_context())
    run_mlir_passes(module, pipeline)
    text = str(module)
    assert "low[2] high[1]" in text
    assert "[0] [7] [4]" in text
    assert "addf" not in text  # the passes ran
