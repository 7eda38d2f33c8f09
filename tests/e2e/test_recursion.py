"""Functions that call themselves: compiled, as deep as a bounded stack allows, and an error beyond."""

from __future__ import annotations

import numpy as np
import pytest

import hotdesk
from hotdesk.errors import ExecutionError
from tests.harness import assert_same
from tests.running import wanted
from tests.running.examples import EXAMPLES, inputs_of
from tests.unit.analysis.in_place.test_recursion import RECURSIONS

# Twice a sum over the rows of a matrix, each in a call of its own, with a constant, and memory that lives across the next call.
ROWS = """
func.func private @rows(%x: tensor<?x4xf32>, %i: index, %a: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %done = arith.cmpi sge, %i, %n : index
  %r = scf.if %done -> tensor<4xf32> {
    scf.yield %a : tensor<4xf32>
  } else {
    %k = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    %row = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<4xf32>
    %e = tensor.empty() : tensor<4xf32>
    %w = linalg.mul ins(%row, %k : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %next = arith.addi %i, %c1 : index
    %e1 = tensor.empty() : tensor<4xf32>
    %b = linalg.add ins(%w, %a : tensor<4xf32>, tensor<4xf32>) outs(%e1 : tensor<4xf32>) -> tensor<4xf32>
    %s = func.call @rows(%x, %next, %b) : (tensor<?x4xf32>, index, tensor<4xf32>) -> tensor<4xf32>
    %e2 = tensor.empty() : tensor<4xf32>
    %q = linalg.add ins(%w, %s : tensor<4xf32>, tensor<4xf32>) outs(%e2 : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %q : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
func.func @main(%x: tensor<?x4xf32>, %a: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %r = func.call @rows(%x, %c0, %a) : (tensor<?x4xf32>, index, tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}"""

ENDLESS = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = func.call @main(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %q = linalg.add ins(%r, %x : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %q : tensor<4xf32>
}"""

FIBONACCI = """
func.func @fibonacci(%n: i64) -> i64 {
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %small = arith.cmpi slt, %n, %two : i64
  %r = scf.if %small -> i64 {
    scf.yield %n : i64
  } else {
    %a = arith.subi %n, %one : i64
    %b = arith.subi %n, %two : i64
    %x = func.call @fibonacci(%a) : (i64) -> i64
    %y = func.call @fibonacci(%b) : (i64) -> i64
    %s = arith.addi %x, %y : i64
    scf.yield %s : i64
  }
  return %r : i64
}"""

# On memory: the function writes what it is passed, through a view that grows shorter.
HALVES = """
func.func private @halves(%m: memref<?xf32, strided<[1], offset: ?>>, %v: f32) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %half = arith.constant 0.5 : f32
  %n = memref.dim %m, %c0 : memref<?xf32, strided<[1], offset: ?>>
  %more = arith.cmpi sgt, %n, %c0 : index
  scf.if %more {
    linalg.fill ins(%v : f32) outs(%m : memref<?xf32, strided<[1], offset: ?>>)
    %k = arith.divsi %n, %c2 : index
    %w = memref.subview %m[%k] [%k] [1] : memref<?xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
    %u = arith.mulf %v, %half : f32
    func.call @halves(%w, %u) : (memref<?xf32, strided<[1], offset: ?>>, f32) -> ()
  }
  return
}
func.func @main(%m: memref<?xf32>, %v: f32) {
  %w = memref.cast %m : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
  func.call @halves(%w, %v) : (memref<?xf32, strided<[1], offset: ?>>, f32) -> ()
  return
}"""


def test_each_call_has_memory_of_its_own() -> None:
    program = hotdesk.compile(ROWS)
    for rows in (0, 1, 2, 500):
        x = np.random.default_rng(rows).random((rows, 4), np.float32)
        a = np.arange(4, dtype=np.float32)
        for _ in range(2):
            np.testing.assert_allclose(program(x, a), 2 * (x * [1, 2, 3, 4]).sum(0) + a, rtol=1e-5)
    assert program.memory(x, a).grown >= 500 * 16
    assert not program.check(x[:3], a).faults


def test_numbers() -> None:
    program = hotdesk.compile(FIBONACCI)
    assert [program(n) for n in (0, 1, 2, 20)] == [0, 1, 1, 6765]


@pytest.mark.parametrize("text", [ROWS, ENDLESS, FIBONACCI], ids=["rows", "endless", "numbers"])
def test_what_calls_itself_too_often_is_an_error(text: str) -> None:
    program = hotdesk.compile(text)
    deep = {ROWS: (np.ones((1_000_000, 4), np.float32), np.ones(4, np.float32)), FIBONACCI: (10**9,)}
    given = deep.get(text, (np.ones(4, np.float32),))
    for _ in range(2):
        with pytest.raises(
            ExecutionError, match=r"expected calls that take no more than 1 MiB of the stack.*\[HD401\]"
        ):
            program(*given)
    if text == FIBONACCI:
        assert program(10) == 55  # nothing is left of the call that failed


def test_memory_that_is_passed() -> None:
    program = hotdesk.compile(HALVES)
    m = np.zeros(8, np.float32)
    program(m, 8.0)
    np.testing.assert_array_equal(m, [8, 8, 8, 8, 4, 4, 2, 1])
    assert not program.check(np.zeros(8, np.float32), 8.0).faults


def test_a_check_that_fails_deep_down_leaves_all_calls() -> None:
    text = ROWS.replace("%done = arith.cmpi sge, %i, %n", "%done = arith.cmpi sgt, %i, %n")  # one row too many
    program = hotdesk.compile(text)
    with pytest.raises(ExecutionError, match="a check of `tensor.extract_slice` failed: expected a place inside"):
        program(np.ones((3, 4), np.float32), np.ones(4, np.float32))


@pytest.mark.parametrize("name", RECURSIONS)
def test_what_functions_assume_of_each_other(name: str) -> None:
    text = RECURSIONS[name].text
    inputs = inputs_of(text)
    program = hotdesk.compile(text)
    for _ in range(2):
        results = program(*(np.array(each) if isinstance(each, np.ndarray) else each for each in inputs))
        found = results if isinstance(results, tuple) else (results,)
        for number, (result, want) in enumerate(zip(found, wanted(text, inputs), strict=True)):
            assert_same(np.asarray(result), want, f"result {number}")


def test_a_profile_counts_calls_of_the_outermost() -> None:
    text = EXAMPLES["recursion"].read_text(encoding="utf-8")
    (found,) = [each for each in hotdesk.compile(text).profile(*inputs_of(text)).kernels if each.op == "func.call"]
    assert found.calls == 1
