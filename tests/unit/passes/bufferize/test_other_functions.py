"""Functions that are no `func.func`: passes leave them as they are. Tensors there, or in modules in the module, are named."""

from __future__ import annotations

import pytest

from hotdesk.errors import BufferizationError
from hotdesk.passes.bufferize.finalizing import FinalizingBufferize
from hotdesk.passes.bufferize.one_shot import OneShotBufferize
from hotdesk.passes.registry import load, pass_names
from tests.unit.parsing import parse, run

OTHERS = """
  llvm.func @external(i32) -> i32
  llvm.func @defined(%x: i32) -> i32 {
    llvm.return %x : i32
  }
  gpu.module @device {
    gpu.func @kernel(%x: memref<8xf32>) {
      %a = memref.alloc() : memref<8xf32>
      memref.copy %x, %a : memref<8xf32> to memref<8xf32>
      gpu.return
    }
  }
  spirv.module Logical GLSL450 {
    spirv.func @shader() "None" {
      spirv.Return
    }
  }
  async.func @later() -> !async.token {
    return
  }
  ml_program.func private @program(%x: i32) -> i32 {
    ml_program.return %x : i32
  }
"""
MAIN = "func.func @main(%x: memref<8xf32>) {\n return\n}\n"


@pytest.mark.parametrize("name", pass_names())
def test_no_pass_touches_them(name: str) -> None:
    before = [str(op) for op in parse(OTHERS).body.operations]
    module = parse(OTHERS + MAIN)
    run(module, load(name)())
    after = [str(op) for op in module.body.operations]
    assert [text for text in after if "@main" not in text] == before


def test_an_external_function_stays_beside_tensors() -> None:
    module = parse("""
      llvm.func @external(i32) -> i32
      func.func private @declared(tensor<4xf32>)
      func.func @main(%x: tensor<4xf32>) {
        call @declared(%x) : (tensor<4xf32>) -> ()
        return
      }""")
    text = run(module, OneShotBufferize())
    assert "llvm.func @external(i32) -> i32" in text
    assert "func.func private @declared(memref<4xf32>)" in text


KERNEL = """
gpu.module @device {
  gpu.func @kernel(%c: f32, %i: index) {
    %e = tensor.empty() : tensor<8xf32>
    %1 = tensor.insert %c into %e[%i] : tensor<8xf32>
    gpu.return
  }
}"""
INNER = """
func.func private @beside()
module @inner {
  func.func @inside(%x: tensor<8xf32>) {
    return
  }
}"""
TOP = "\n%c = arith.constant dense<1.0> : tensor<8xf32>"


@pytest.mark.parametrize(
    ("text", "what", "where"),
    [
        (KERNEL, "op `tensor.empty` in `gpu.module`", "-:4:10"),
        (INNER, "op `func.func` in `builtin.module`", "-:4:3"),
        (TOP, "op `arith.constant` in the module", "-:2:6"),
    ],
)
@pytest.mark.parametrize("one", [OneShotBufferize(), FinalizingBufferize()])
def test_a_tensor_that_would_stay_is_named(
    text: str, what: str, where: str, one: OneShotBufferize | FinalizingBufferize
) -> None:
    with pytest.raises(BufferizationError) as caught:
        run(parse(text), one)
    assert caught.value.what == f"{what} still has tensors"
    assert caught.value.where == where


@pytest.mark.parametrize(
    "options",
    [{"allow_unknown_ops": True}, {"dialect_filter": ("tensor", "func")}, {"bufferize_function_boundaries": False}],
)
def test_partial_bufferization_leaves_them(options: dict[str, object]) -> None:
    module = parse(KERNEL)
    before = str(module)
    assert run(module, OneShotBufferize(**options)) == before  # pyright: ignore[reportArgumentType]
