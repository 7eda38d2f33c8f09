"""Functions that are no `func.func`: passes leave them as they are, and tensors there are named. Nested modules are done too."""

from __future__ import annotations

from typing import cast

import pytest

from hotdesk._bindings import ir
from hotdesk.errors import BufferizationError
from hotdesk.passes.bufferize.finalizing import FinalizingBufferize
from hotdesk.passes.bufferize.one_shot import OneShotBufferize
from hotdesk.passes.registry import load, pass_names
from hotdesk.passes.textual import parse_pipeline
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


KERNEL = """
gpu.module @device {
  gpu.func @kernel(%c: f32, %i: index) {
    %e = tensor.empty() : tensor<8xf32>
    %1 = tensor.insert %c into %e[%i] : tensor<8xf32>
    gpu.return
  }
}"""
INNER = """
module @inner {
  gpu.module @device {
    func.func @inside(%x: tensor<8xf32>) {
      return
    }
  }
}"""
TOP = "\n%c = arith.constant dense<1.0> : tensor<8xf32>"


@pytest.mark.parametrize(
    ("text", "what", "where"),
    [
        (KERNEL, "op `tensor.empty` in `gpu.module`", "-:4:10"),
        (INNER, "op `func.func` in `gpu.module`", "-:4:5"),
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


FUNCTIONS = """
func.func @f(%x: tensor<8xf32>, %c: f32, %i: index) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = call @g(%x, %c, %i) : (tensor<8xf32>, f32, index) -> tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %1 = linalg.exp ins(%0 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %p = tensor.concat dim(0) %1, %1 : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  %s = tensor.extract_slice %p[4] [8] [1] : tensor<16xf32> to tensor<8xf32>
  return %s, %0 : tensor<8xf32>, tensor<8xf32>
}
func.func private @g(%x: tensor<8xf32>, %c: f32, %i: index) -> tensor<8xf32> {
  %0 = tensor.insert %c into %x[%i] : tensor<8xf32>
  %1 = tensor.insert %c into %0[%i] : tensor<8xf32>
  return %1 : tensor<8xf32>
}
"""
OTHER = """
func.func private @g(%x: tensor<8xf32>, %c: f32, %i: index) -> f32 {
  %0 = tensor.extract %x[%i] : tensor<8xf32>
  return %0 : f32
}
func.func @h(%x: tensor<8xf32>, %c: f32, %i: index) -> f32 {
  %0 = call @g(%x, %c, %i) : (tensor<8xf32>, f32, index) -> f32
  return %0 : f32
}
"""
PIPELINES = [
    "hotdesk-one-shot-bufferize",
    "hotdesk-one-shot-bufferize{results=returned}",
    "hotdesk-one-shot-bufferize{test-analysis-only=true}",
    "hotdesk-choose-destinations,hotdesk-eliminate-empty-tensors,hotdesk-one-shot-bufferize,hotdesk-buffer-deallocation",
    "hotdesk-use-inplace-calls,hotdesk-decompose-concat-and-pad,hotdesk-one-shot-bufferize",
    "hotdesk-one-shot-bufferize{results=returned},hotdesk-drop-equivalent-buffer-results,hotdesk-buffer-results-to-out-params",
    "hotdesk-arith-bufferize,hotdesk-linalg-bufferize,hotdesk-tensor-bufferize,hotdesk-func-bufferize,hotdesk-finalizing-bufferize",
]


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_a_module_in_the_module_is_as_if_it_were_alone(pipeline: str) -> None:
    """Functions of one name in two modules are two functions, and calls mean those of their own module."""
    whole = parse_pipeline(f"builtin.module({pipeline})")
    alone = parse(FUNCTIONS)
    whole.run(alone)
    nested = parse(f"{OTHER}module @inner {{ {FUNCTIONS} }}")
    whole.run(nested)
    inner = next(op for op in nested.body.operations if op.operation.name == "builtin.module")
    assert _functions(inner) == _functions(alone)
    outer = parse(OTHER)
    whole.run(outer)
    assert _functions(nested) == _functions(outer)


def _functions(module: object) -> list[str]:
    return [str(op) for op in cast(ir.Module, module).body.operations if op.operation.name == "func.func"]


@pytest.mark.parametrize(("visibility", "holds"), [("private", True), ("nested", False)])
def test_a_nested_function_keeps_what_others_may_rely_on(visibility: str, holds: bool) -> None:
    """`nested` visibility lets ops around the module name a function, so its results come as a public one's do."""
    module = parse(f"""func.func private @beside()
    module @inner {{
      func.func {visibility} @g(%x: tensor<8xf32>) -> tensor<8xf32> {{ return %x : tensor<8xf32> }}
      func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {{
        %0 = call @g(%x) : (tensor<8xf32>) -> tensor<8xf32>
        return %0 : tensor<8xf32>
      }}
    }}""")
    assert ("hotdesk.holds" in run(module, OneShotBufferize())) == holds
