"""Programs in MLIR whose sizes are computed in floats, or read from tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hotdesk
from hotdesk.errors import ExecutionError


def test_a_shape_that_a_tensor_holds() -> None:
    """Of unsigned integers: what is handed over keeps their type."""
    program: Any = hotdesk.compile("""
    func.func @main(%x: tensor<?x8xui8>, %s: tensor<2xi64>) -> tensor<?x?xui8> {
      %r = tensor.reshape %x(%s) : (tensor<?x8xui8>, tensor<2xi64>) -> tensor<?x?xui8>
      return %r : tensor<?x?xui8>
    }""")
    numbers: Any = np.arange(24, dtype=np.uint8)
    x = numbers.reshape(3, 8) + np.uint8(220)
    found = program(x, np.array([4, 6]))
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, x.reshape(4, 6))
    with pytest.raises(ExecutionError, match="as many elements as before"):
        program(x, np.array([4, 7]))


@pytest.mark.parametrize(
    ("ops", "told", "sizes"),
    [
        ("%g = arith.mulf %f, %two : f32", "2*(dim 0 of %x)", {3: 6}),
        ("%g = arith.divf %f, %three : f32", "(dim 0 of %x)//3", {7: 2, 9: 3}),
        ("%h = arith.divf %f, %three : f32\n%g = math.ceil %h : f32", "", {7: 3, 9: 3, 1: 1}),
        ("%h = arith.addf %f, %two : f32\n%g = arith.divf %h, %two : f32", "", {7: 4, 4: 3}),
    ],
    ids=["multiplied", "divided", "divided up", "added"],
)
def test_sizes_computed_in_floats(ops: str, told: str, sizes: dict[int, int]) -> None:
    program: Any = hotdesk.compile(f"""
    func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {{
      %c0 = arith.constant 0 : index
      %one = arith.constant 1.0 : f32
      %two = arith.constant 2.0 : f32
      %three = arith.constant 3.0 : f32
      %d = tensor.dim %x, %c0 : tensor<?xf32>
      %i = arith.index_cast %d : index to i64
      %f = arith.sitofp %i : i64 to f32
      {ops}
      %n = arith.fptosi %g : f32 to i64
      %m = arith.index_cast %n : i64 to index
      %e = tensor.empty(%m) : tensor<?xf32>
      %r = linalg.fill ins(%one : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
      return %r : tensor<?xf32>
    }}""")
    assert told in str(program)
    for given, wanted in sizes.items():
        x = np.zeros(given, np.float32)
        assert program(x).shape == (wanted,)
        assert program.memory(x).outputs == 4 * wanted  # planned, not handed over


@pytest.mark.parametrize("depth", [1, 2, 3, 8])
def test_choices_that_decide_choices(depth: int) -> None:
    """A size that is chosen by a size that is chosen, and so on: a formula while it is short, else known in each call."""
    ops = "".join(
        f"""
      %k{i} = arith.constant {3 + i} : index
      %u{i} = arith.constant {40 - i} : index
      %l{i} = arith.cmpi slt, %s{i}, %k{i} : index
      %g{i} = arith.cmpi sgt, %s{i}, %u{i} : index
      %o{i} = arith.ori %l{i}, %g{i} : i1
      %a{i} = arith.addi %s{i}, %k{i} : index
      %s{i + 1} = arith.select %o{i}, %a{i}, %s{i} : index"""
        for i in range(depth)
    )
    program: Any = hotdesk.compile(f"""
    func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {{
      %c0 = arith.constant 0 : index
      %one = arith.constant 1.0 : f32
      %s0 = tensor.dim %x, %c0 : tensor<?xf32>{ops}
      %e = tensor.empty(%s{depth}) : tensor<?xf32>
      %r = linalg.fill ins(%one : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
      return %r : tensor<?xf32>
    }}""")
    for given in (0, 1, 2, 3, 5, 30, 39, 45):
        wanted = given
        for i in range(depth):
            wanted += 3 + i if wanted < 3 + i or wanted > 40 - i else 0
        np.testing.assert_array_equal(program(np.zeros(given, np.float32)), np.ones(wanted, np.float32))


@pytest.mark.parametrize("chosen", [True, False])
def test_a_memref_of_one_of_two_open_sizes_that_blocks_pass_on(chosen: bool) -> None:
    program = hotdesk.compile("""
func.func @f(%x: memref<?xf32>, %n: index, %c: i1) -> (memref<?xf32>, memref<?xf32>) {
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  cf.cond_br %c, ^a, ^b
^a:
  %a = memref.alloc(%n) : memref<?xf32>
  linalg.fill ins(%one : f32) outs(%a : memref<?xf32>)
  cf.br ^end(%a, %x : memref<?xf32>, memref<?xf32>)
^b:
  %m = arith.addi %n, %c1 : index
  %b = memref.alloc(%m) : memref<?xf32>
  linalg.fill ins(%one : f32) outs(%b : memref<?xf32>)
  cf.br ^end(%b, %b : memref<?xf32>, memref<?xf32>)
^end(%r: memref<?xf32>, %s: memref<?xf32>):
  return %r, %s : memref<?xf32>, memref<?xf32>
}""")
    made, either = program(np.array([5, 6], np.float32), 3, chosen)
    assert made.tolist() == [1] * (3 if chosen else 4)
    assert either.tolist() == ([5, 6] if chosen else [1] * 4)
