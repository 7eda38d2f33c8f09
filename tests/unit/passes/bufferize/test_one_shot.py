"""What one-shot bufferization refuses, and what it leaves alone. What it does is in tests/filecheck/bufferize."""

from __future__ import annotations

import pytest

from hotdesk.errors import BufferizationError
from hotdesk.passes.bufferize.one_shot import OneShotBufferize
from tests.unit.parsing import parse, run


def test_a_scalar_stays_a_result() -> None:
    module = parse("""
      func.func @main(%x: tensor<4xf32>, %i: index) -> (f32, tensor<4xf32>) {
        %e = tensor.empty() : tensor<4xf32>
        %n = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
        %s = tensor.extract %n[%i] : tensor<4xf32>
        return %s, %n : f32, tensor<4xf32>
      }""")
    text = run(module, OneShotBufferize())
    assert "%arg2: memref<4xf32> {bufferize.result = 1 : i64" in text
    assert "%0 = memref.load %arg2[%arg1] : memref<4xf32>\n    return %0 : f32" in text


def test_branches_without_tensors_stay() -> None:
    assert "cf.br ^bb1" in run(parse("func.func @main() {\n cf.br ^a\n^a:\n return\n}"), OneShotBufferize())


def test_a_function_that_never_returns_is_named() -> None:
    text = "func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  cf.br ^a\n^a:\n  cf.br ^a\n}"
    with pytest.raises(BufferizationError, match="function: expected an op that returns, got none") as caught:
        run(parse(text), OneShotBufferize())
    assert caught.value.where == "-:2:3"


def test_a_declaration_gets_memrefs() -> None:
    assert "func.func private @elsewhere(memref<4xf32>)" in run(
        parse("func.func private @elsewhere(tensor<4xf32>)"), OneShotBufferize()
    )


def test_a_scalar_op_of_any_dialect_needs_no_model() -> None:
    module = parse("""
      func.func @main(%x: tensor<f32>) -> tensor<4xf32> {
        %s = tensor.extract %x[] : tensor<f32>
        %u = math.erf %s : f32
        %e = tensor.empty() : tensor<4xf32>
        %r = linalg.fill ins(%u : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
        return %r : tensor<4xf32>
      }""")
    assert "linalg.fill ins(%1 : f32) outs(%arg1 : memref<4xf32>)" in run(module, OneShotBufferize())


def test_copies_know_an_init_that_a_map_reads() -> None:
    module = parse("""
      func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
        %r = linalg.map ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) (%a: f32, %o: f32) {
          %t = arith.addf %a, %o : f32
          linalg.yield %t : f32
        }
        return %r : tensor<4xf32>
      }""")
    assert run(module, OneShotBufferize()).count("linalg.generic") == 1
