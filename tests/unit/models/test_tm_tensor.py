"""torch-mlir's `tm_tensor` ops from text: bufferized, lowered to loops and run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hotdesk._bindings import PassManager, ir
from hotdesk.ir.context import make_context
from hotdesk.passes.textual import parse_pipeline
from tests.running import Executable

SORT = """
func.func @main(%x: tensor<6xf32>, %y: tensor<6xi64>) -> (tensor<6xf32>, tensor<6xi64>) {
  %r:2 = tm_tensor.sort dimension(0) outs(%x, %y : tensor<6xf32>, tensor<6xi64>) {
  ^bb0(%a: f32, %b: f32, %c: i64, %d: i64):
    %k = arith.cmpf ole, %a, %b : f32
    tm_tensor.yield %k : i1
  } -> tensor<6xf32>, tensor<6xi64>
  return %r#0, %r#1 : tensor<6xf32>, tensor<6xi64>
}"""
SCATTER = """
func.func @main(%o: tensor<8xi32>, %i: tensor<3x1xi32>, %u: tensor<3xi32>) -> (tensor<8xi32>, tensor<8xi32>) {
  %0 = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(true)
    ins(%u, %i : tensor<3xi32>, tensor<3x1xi32>) outs(%o : tensor<8xi32>) {
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    tm_tensor.yield %s : i32
  } -> tensor<8xi32>
  return %0, %o : tensor<8xi32>, tensor<8xi32>
}"""
SCAN = """
func.func @main(%x: tensor<4x3xi32>, %start: tensor<3xi32>) -> (tensor<4x3xi32>, tensor<3xi32>) {
  %e = tensor.empty() : tensor<4x3xi32>
  %r:2 = tm_tensor.scan dimension(0) inclusive(true) ins(%x : tensor<4x3xi32>) outs(%e, %start : tensor<4x3xi32>, tensor<3xi32>) {
  ^bb0(%p: i32, %q: i32):
    %s = arith.addi %p, %q : i32
    tm_tensor.yield %s : i32
  } -> tensor<4x3xi32>, tensor<3xi32>
  return %r#0, %r#1 : tensor<4x3xi32>, tensor<3xi32>
}"""
ATTENTION = """
func.func @main(%q: tensor<1x4x8xf32>, %k: tensor<1x4x8xf32>, %v: tensor<1x4x8xf32>) -> tensor<1x4x8xf32> {
  %e = tensor.empty() : tensor<1x4x8xf32>
  %0 = tm_tensor.attention ins(%q, %k, %v : tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>)
    outs(%e : tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
  return %0 : tensor<1x4x8xf32>
}"""
TOPK = """
func.func @main(%x: tensor<2x8xf32>, %i: tensor<2x8xi32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
  %low = arith.constant 0xFF800000 : f32
  %none = arith.constant -1 : i32
  %e = tensor.empty() : tensor<2x3xf32>
  %f = tensor.empty() : tensor<2x3xi32>
  %g = linalg.fill ins(%low : f32) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %h = linalg.fill ins(%none : i32) outs(%f : tensor<2x3xi32>) -> tensor<2x3xi32>
  %r:2 = tm_tensor.topk dimension(1) ins(%x, %i : tensor<2x8xf32>, tensor<2x8xi32>)
    outs(%g, %h : tensor<2x3xf32>, tensor<2x3xi32>) {
  ^bb0(%a: f32, %b: f32):
    %k = arith.cmpf ogt, %a, %b : f32
    tm_tensor.yield %k : i1
  } -> tensor<2x3xf32>, tensor<2x3xi32>
  return %r#0, %r#1 : tensor<2x3xf32>, tensor<2x3xi32>
}"""

DRAWN = np.random.default_rng(7)
FLOATS = DRAWN.permutation(16).astype(np.float32)
ROWS, NUMBERS = FLOATS.reshape(2, 8), np.tile(np.arange(8, dtype=np.int32), (2, 1))
WHOLE = DRAWN.integers(-9, 9, (4, 3), dtype=np.int32)
START = np.array([5, -3, 0], np.int32)
Q, K, V = (DRAWN.normal(size=(1, 4, 8)).astype(np.float32) for _ in range(3))
BASE, INDICES, UPDATES = (
    np.arange(8, dtype=np.int32),
    np.array([[6], [0], [3]], np.int32),
    np.array([10, 20, 30], np.int32),
)


def attended() -> np.ndarray:
    scores = np.exp(Q @ K.transpose(0, 2, 1) / np.sqrt(8.0))
    return (scores / scores.sum(-1, keepdims=True)) @ V


def scattered() -> np.ndarray:
    result = BASE.copy()
    result[INDICES[:, 0]] += UPDATES
    return result


ORDER, BEST = np.argsort(FLOATS[:6]), np.argsort(-ROWS)[:, :3]
SUMS = np.cumsum(WHOLE, 0, dtype=np.int32)
PROGRAMS: dict[str, tuple[str, list[Any], list[Any]]] = {
    "sort": (SORT, [FLOATS[:6], np.arange(6)], [FLOATS[:6][ORDER], ORDER]),
    "scatter": (SCATTER, [BASE, INDICES, UPDATES], [scattered(), BASE]),
    "scan": (SCAN, [WHOLE, START], [SUMS, SUMS[-1]]),
    "attention": (ATTENTION, [Q, K, V], [attended()]),
    "topk": (TOPK, [ROWS, NUMBERS], [np.take_along_axis(ROWS, BEST, 1), BEST.astype(np.int32)]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_computes_what_is_meant(name: str) -> None:
    text, inputs, wanted = PROGRAMS[name]
    module = ir.Module.parse(text, make_context())
    parse_pipeline("builtin.module(hotdesk-one-shot-bufferize)").run(module)
    again = ir.Module.parse(str(module), make_context())
    with again.context, ir.Location.unknown():
        PassManager.parse("builtin.module(func.func(tm-tensor-to-loops))").run(again.operation)
        assert "tm_tensor" not in str(again)
        found = Executable(again)(inputs, [each.shape for each in wanted]).results
    for result, expected in zip(found, wanted, strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-5)
