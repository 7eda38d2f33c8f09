"""Memory spaces and clones in programs for a processor of one memory."""

from __future__ import annotations

import numpy as np
import pytest

import hotdesk
from hotdesk.errors import UnsupportedOpError

SPACES = """
memref.global "private" constant @k : memref<4xf32, 2> = dense<[1.0, 2.0, 3.0, 4.0]>
func.func private @same(%x: memref<4xf32, 1>) -> memref<4xf32, 1> {
  return %x : memref<4xf32, 1>
}
func.func @main(%x: memref<4xf32, 1>, %y: memref<4xf32>) -> memref<4xf32> {
  %a = memref.alloc() : memref<4xf32, 3>
  %k = memref.get_global @k : memref<4xf32, 2>
  %z = call @same(%x) : (memref<4xf32, 1>) -> memref<4xf32, 1>
  linalg.add ins(%z, %k : memref<4xf32, 1>, memref<4xf32, 2>) outs(%a : memref<4xf32, 3>)
  %b = memref.memory_space_cast %a : memref<4xf32, 3> to memref<4xf32>
  memref.copy %b, %y : memref<4xf32> to memref<4xf32>
  memref.dealloc %a : memref<4xf32, 3>
  return %y : memref<4xf32>
}"""
CLONE = """
func.func @main(%x: memref<?xf32>) -> memref<?xf32> {
  %c = bufferization.clone %x : memref<?xf32> to memref<?xf32>
  linalg.add ins(%x, %x : memref<?xf32>, memref<?xf32>) outs(%x : memref<?xf32>)
  return %c : memref<?xf32>
}"""
FORGOTTEN = """
func.func @main(%x: memref<4xf32>) -> memref<?xf32> {
  %a = memref.alloc() : memref<4xf32>
  linalg.add ins(%x, %x : memref<4xf32>, memref<4xf32>) outs(%a : memref<4xf32>)
  %r = memref.cast %a : memref<4xf32> to memref<?xf32>
  return %r : memref<?xf32>
}"""
ON_TENSORS = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = bufferization.alloc_tensor() copy(%x) {memory_space = 1 : i64} : tensor<4xf32>
  %1 = linalg.add ins(%0, %x : tensor<4xf32>, tensor<4xf32>) outs(%0 : tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}"""
X = np.arange(4, dtype=np.float32)


def test_numbered_spaces_are_one_memory() -> None:
    room = np.zeros(4, np.float32)
    assert hotdesk.compile(SPACES)(X, room) is room
    np.testing.assert_array_equal(room, X + np.arange(1, 5))


def test_space_of_a_tensor() -> None:
    np.testing.assert_array_equal(hotdesk.compile(ON_TENSORS)(X), 2 * X)


def test_other_spaces_are_refused() -> None:
    with pytest.raises(UnsupportedOpError, match=r"one that is a number, got memref<4xf32, #gpu"):
        hotdesk.compile("func.func @f(%x: memref<4xf32, #gpu.address_space<workgroup>>) {\n  return\n}")


def test_a_clone_keeps_what_was() -> None:
    given = X.copy()
    program = hotdesk.compile(CLONE)
    np.testing.assert_array_equal(program(given), X)
    np.testing.assert_array_equal(given, 2 * X)
    assert not program.check(given).faults


def test_a_result_keeps_the_sizes_that_a_cast_forgets() -> None:
    np.testing.assert_array_equal(hotdesk.compile(FORGOTTEN)(X), 2 * X)
