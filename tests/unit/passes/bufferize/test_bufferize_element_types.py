"""Elements that are vectors, and those that no memref can have: these are refused where they stand."""

from __future__ import annotations

import numpy as np
import pytest

from hotdesk._bindings import ir
from hotdesk.errors import BufferizationError
from hotdesk.ir.context import make_context
from hotdesk.passes.base import Pass
from hotdesk.passes.bufferize.func_partial import FuncBufferize
from hotdesk.passes.bufferize.one_shot import OneShotBufferize
from hotdesk.passes.bufferize.tensor_partial import TensorBufferize
from hotdesk.passes.textual import parse_pipeline
from tests.running import Executable
from tests.unit.parsing import parse, run

V = "vector<3xf32>"
ROWS = f"""
func.func @main(%x: tensor<4x3xf32>, %i: index) -> tensor<2x3xf32> {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x{V}>
  %rows = scf.for %k = %c0 to %c4 step %c1 iter_args(%a = %e) -> (tensor<4x{V}>) {{
    %row = vector.transfer_read %x[%k, %c0], %zero {{in_bounds = [true]}} : tensor<4x3xf32>, {V}
    %b = tensor.insert %row into %a[%k] : tensor<4x{V}>
    scf.yield %b : tensor<4x{V}>
  }}
  %first = tensor.extract %rows[%c0] : tensor<4x{V}>
  %swapped = tensor.insert %first into %rows[%i] : tensor<4x{V}>
  %old = tensor.extract %rows[%i] : tensor<4x{V}>
  %new = tensor.extract %swapped[%i] : tensor<4x{V}>
  %r = tensor.empty() : tensor<2x3xf32>
  %s = vector.transfer_write %old, %r[%c0, %c0] {{in_bounds = [true]}} : {V}, tensor<2x3xf32>
  %t = vector.transfer_write %new, %s[%c1, %c0] {{in_bounds = [true]}} : {V}, tensor<2x3xf32>
  return %t : tensor<2x3xf32>
}}"""


@pytest.mark.parametrize(
    "steps", ["", ",hotdesk-merge-allocations", ",hotdesk-share-buffers,hotdesk-buffer-deallocation"]
)
def test_tensors_of_vectors(steps: str) -> None:
    module = ir.Module.parse(ROWS, make_context())
    parse_pipeline(f"builtin.module(hotdesk-one-shot-bufferize{steps})").run(module)
    assert f"memref<4x{V}>" in str(module)
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    with module.context, ir.Location.unknown():
        found = Executable(module)([x, 2], [(2, 3)]).results[0]
    np.testing.assert_array_equal(found, x[[2, 0]])


def test_the_bytes_of_a_copy() -> None:
    module = parse(
        "func.func @f(%x: tensor<8xvector<3xf32>>) -> tensor<8xvector<3xf32>> {\n return %x : tensor<8xvector<3xf32>>\n}"
    )
    (decision,) = parse_pipeline("builtin.module(hotdesk-one-shot-bufferize)").run(module)
    assert decision.bytes == 8 * 16


QUANTIZED = "tensor<4x!quant.uniform<i8:f32, 1.0>>"
REFUSED: dict[str, tuple[str, Pass, str]] = {
    "an argument": (
        f"func.func @f(%x: {QUANTIZED}) -> {QUANTIZED} {{\n return %x : {QUANTIZED}\n}}",
        OneShotBufferize(),
        "-:1:14",
    ),
    "an argument, by its dialect": (f"func.func @f(%x: {QUANTIZED}) {{\n return\n}}", FuncBufferize(), "-:1:1"),
    "a declaration": ("\nfunc.func private @f(tensor<4x!torch.int>)", OneShotBufferize(), "-:2:1"),
    "a vector of any length": (
        "func.func @f(%x: tensor<4xvector<[4]xf32>>) {\n return\n}",
        OneShotBufferize(),
        "-:1:14",
    ),
    "an op": (
        f"func.func @f(%x: {QUANTIZED}) {{\n %0 = tensor.extract_slice %x[0] [4] [1] : {QUANTIZED} to {QUANTIZED}\n return\n}}",
        TensorBufferize(),
        "-:2:7",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_memref_can_have(name: str) -> None:
    text, one, where = REFUSED[name]
    with pytest.raises(
        BufferizationError, match="element type: expected an integer, .*, got (!torch|!quant|vector)"
    ) as caught:
        run(parse(text), one)
    assert caught.value.where == where
