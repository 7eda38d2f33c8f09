"""Programs in MLIR whose values are of types that arrays have not: maps as layouts, tuples, vectors, tensors without a rank."""

# NumPy is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hotdesk
from hotdesk.errors import HotdeskError, UnsupportedOpError


def floats(*sizes: int) -> Any:
    return np.random.default_rng(0).standard_normal(sizes, dtype=np.float32)


# Layouts that are maps

BY_COLUMNS = "memref<4x8xf32, affine_map<(i, j) -> (j, i)>>"


def test_a_map_is_a_layout() -> None:
    """Of an argument by columns, of memory of the program's, and of a view of it; a table of it lies row by row."""
    program = hotdesk.compile(f"""
    func.func @f(%x: {BY_COLUMNS}, %y: memref<4x8xf32>) -> memref<4x8xf32> {{
      %a = memref.alloc() : {BY_COLUMNS}
      linalg.exp ins(%x : {BY_COLUMNS}) outs(%a : {BY_COLUMNS})
      linalg.add ins(%a, %y : {BY_COLUMNS}, memref<4x8xf32>) outs(%x : {BY_COLUMNS})
      %r = memref.alloc() : memref<4x8xf32>
      memref.copy %a, %r : {BY_COLUMNS} to memref<4x8xf32>
      memref.dealloc %a : {BY_COLUMNS}
      return %r : memref<4x8xf32>
    }}""")
    x, y = floats(8, 4).T, floats(4, 8)
    before = x.copy()
    np.testing.assert_allclose(program(x, y), np.exp(before), rtol=1e-6)
    np.testing.assert_allclose(x, np.exp(before) + y, rtol=1e-6)
    assert program.check(x, y).clean
    with pytest.raises(HotdeskError, match=r"'%x': expected writable memory for memref<4x8xf32, strided<\[1, 4\]>>"):
        program(floats(4, 8), y)


def test_a_map_may_leave_gaps_and_sizes_open() -> None:
    """Rows of `2 i`, of which each other one is empty; columns whose distance the array says."""
    program = hotdesk.compile("""
    func.func @f(%x: memref<3x4xf32, affine_map<(i, j) -> (i * 2, j)>>, %y: memref<?x4xf32, affine_map<(i, j) -> (j, i)>>) {
      linalg.exp ins(%x : memref<3x4xf32, affine_map<(i, j) -> (i * 2, j)>>)
        outs(%x : memref<3x4xf32, affine_map<(i, j) -> (i * 2, j)>>)
      linalg.exp ins(%y : memref<?x4xf32, affine_map<(i, j) -> (j, i)>>)
        outs(%y : memref<?x4xf32, affine_map<(i, j) -> (j, i)>>)
      return
    }""")
    x, y = floats(6, 4), floats(4, 5)
    expected = x.copy(), np.exp(y)
    expected[0][::2] = np.exp(x[::2])
    program(x[::2], y.T)
    np.testing.assert_allclose(x, expected[0], rtol=1e-6)
    np.testing.assert_allclose(y, expected[1], rtol=1e-6)


@pytest.mark.parametrize(
    "layout", ["(i, j) -> (i floordiv 2, j, i mod 2)", "(i, j) -> (j, i + 1)", "(i, j) -> (-i + 3, j)"]
)
def test_maps_without_strides_are_refused(layout: str) -> None:
    with pytest.raises(UnsupportedOpError, match=r"a memref of `func.func`: expected a layout of strides.*affine_map"):
        hotdesk.compile(f"func.func @f(%x: memref<4x8xf32, affine_map<{layout}>>) {{ return }}")


# Tuples


def test_parts_of_tuples_are_arguments_and_results() -> None:
    program = hotdesk.compile(
        """
    !pair = tuple<tensor<5xf32>, i1>
    func.func private @chosen(%p: !pair, %q: !pair) -> !pair {
      return %q : !pair
    }
    func.func @f(%p: !pair, %x: tensor<5xf32>, %q: !pair) -> (!pair, tensor<5xf32>) {
      %y = linalg.add ins(%x, %x : tensor<5xf32>, tensor<5xf32>) outs(%x : tensor<5xf32>) -> tensor<5xf32>
      %t = call @chosen(%p, %q) : (!pair, !pair) -> !pair
      cf.br ^end(%t : !pair)
    ^end(%r: !pair):
      return %r, %y : !pair, tensor<5xf32>
    }""",
        entry="f",
    )
    p, x, q = floats(5), floats(5) + 1, floats(5) + 2
    first, truth, last = program(p, False, x, q, True)
    assert (first.tolist(), truth, last.tolist()) == (q.tolist(), True, (x + x).tolist())
    assert [spec.name for spec in program.inputs] == ["%p_0", "%p_1", "%x", "%q_0", "%q_1"]
    assert program(p_0=p, p_1=False, x=x, q_0=q, q_1=False)[1] is False


# Vectors


@pytest.mark.parametrize("on", ["tensor", "memref"])
@pytest.mark.parametrize("element", ["f32", "f16", "i8", "i64", "index"])
def test_vectors_are_arrays(element: str, on: str) -> None:
    add = "arith.addf" if element.startswith("f") else "arith.addi"
    program = hotdesk.compile(f"""
    !table = vector<3x4x{element}>
    func.func @f(%v: !table, %w: vector<4x{element}>, %x: {on}<2xf32>) -> (!table, vector<4x{element}>) {{
      %b = vector.broadcast %w : vector<4x{element}> to !table
      %s = {add} %v, %b : !table
      %p = {add} %w, %w : vector<4x{element}>
      return %s, %p : !table, vector<4x{element}>
    }}""")
    dtype = {"f32": np.float32, "f16": np.float16, "i8": np.int8, "i64": np.int64, "index": np.int64}[element]
    v, w = np.arange(12).reshape(3, 4).astype(dtype), np.array([5, 6, 7, 8], dtype)
    total, twice = program(v, w, floats(2))
    assert (total.dtype, twice.dtype) == (v.dtype, v.dtype)
    assert (total.tolist(), twice.tolist()) == ((v + w).tolist(), (w + w).tolist())
    assert program.check(v, w, floats(2)).clean


@pytest.mark.parametrize(
    ("element", "kind", "expected"),
    [
        ("f32", "add", 9.0),
        ("i8", "maxui", -1),
        ("i8", "add", 9),
        ("i16", "minsi", -1),
        ("i64", "xor", 5 ^ -1 ^ 3 ^ 2),
        ("f16", "maxnumf", 5.0),
    ],
)
def test_vectors_are_rearranged_and_reduced(element: str, kind: str, expected: float) -> None:
    """As compiled and by the memory checker, which tells that what nobody wrote is read."""
    text = f"""
    func.func @f(%x: memref<2x4x{element}>) -> ({element}, vector<2x3x{element}>) {{
      %c0 = arith.constant 0 : index
      %z = arith.constant {"0.0" if element.startswith("f") else "0"} : {element}
      SOURCE
      %v = vector.transfer_read %m[%c0, %c0], %z {{in_bounds = [true, true]}} : memref<2x4x{element}>, vector<2x4x{element}>
      %t = vector.transpose %v, [1, 0] : vector<2x4x{element}> to vector<4x2x{element}>
      %s = vector.extract_strided_slice %t {{offsets = [1, 0], sizes = [3, 2], strides = [1, 1]}}
        : vector<4x2x{element}> to vector<3x2x{element}>
      %c = vector.shape_cast %s : vector<3x2x{element}> to vector<2x3x{element}>
      %p = vector.extract_strided_slice %v {{offsets = [1], sizes = [1], strides = [1]}}
        : vector<2x4x{element}> to vector<1x4x{element}>
      %q = vector.shape_cast %p : vector<1x4x{element}> to vector<4x{element}>
      %r = vector.reduction <{kind}>, %q : vector<4x{element}> into {element}
      return %r, %c : {element}, vector<2x3x{element}>
    }}"""
    dtype = {"f32": np.float32, "i8": np.int8, "i16": np.int16, "i64": np.int64, "f16": np.float16}[element]
    x = np.array([[1, 2, 3, 4], [5, -1, 3, 2]], dtype)
    given = text.replace("SOURCE", f"%m = memref.cast %x : memref<2x4x{element}> to memref<2x4x{element}>")
    program = hotdesk.compile(given)
    reduced, changed = program(x)
    assert (reduced, changed.tolist()) == (expected, x.T[1:].reshape(2, 3).tolist())
    report = program.check(x)
    assert report.clean
    assert [np.asarray(each.values).tolist() for each in report.results] == [expected, changed.tolist()]
    unwritten = hotdesk.compile(text.replace("SOURCE", f"%m = memref.alloc() : memref<2x4x{element}>"))
    assert [fault.kind.name for fault in unwritten.check(x).faults] == ["UNWRITTEN", "UNWRITTEN"]


@pytest.mark.parametrize("kind", ["vector<[4]xf32>", "vector<4xi1>"])
def test_vectors_that_no_array_is_are_refused(kind: str) -> None:
    with pytest.raises(UnsupportedOpError, match="argument '%v'"):
        hotdesk.compile(f"func.func @f(%v: {kind}) {{ return }}")


# Ranks


def test_ranks_of_branches_choices_and_loops() -> None:
    program = hotdesk.compile(
        """
    func.func private @same(%x: tensor<*xf32>) -> tensor<*xf32> {
      return %x : tensor<*xf32>
    }
    func.func @f(%c: i1, %x: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<*xf32>, index, index) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %u = tensor.cast %x : tensor<4xf32> to tensor<*xf32>
      %s = scf.if %c -> tensor<*xf32> {
        %q = func.call @same(%u) : (tensor<*xf32>) -> tensor<*xf32>
        scf.yield %q : tensor<*xf32>
      } else {
        %e = linalg.exp ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
        %w = tensor.cast %e : tensor<4xf32> to tensor<*xf32>
        scf.yield %w : tensor<*xf32>
      }
      %chosen = arith.select %c, %s, %u : tensor<*xf32>
      %looped = scf.for %i = %c0 to %n step %c1 iter_args(%a = %s) -> tensor<*xf32> {
        %t = tensor.cast %a : tensor<*xf32> to tensor<4xf32>
        %y = linalg.add ins(%t, %x : tensor<4xf32>, tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
        %z = tensor.cast %y : tensor<4xf32> to tensor<*xf32>
        scf.yield %z : tensor<*xf32>
      }
      %d = tensor.cast %looped : tensor<*xf32> to tensor<4xf32>
      %rank = tensor.rank %s : tensor<*xf32>
      %size = tensor.dim %s, %c0 : tensor<*xf32>
      return %d, %chosen, %rank, %size : tensor<4xf32>, tensor<*xf32>, index, index
    }""",
        entry="f",
    )
    x = floats(4)
    for c in (True, False):
        begin = x if c else np.exp(x)
        looped, chosen, rank, size = program(c, x, 2)
        np.testing.assert_allclose(looped, begin + x + x, rtol=1e-6)
        np.testing.assert_allclose(chosen, x, rtol=1e-6)
        assert (rank, size) == (1, 4)
        assert program.check(c, x, 2).clean


def test_a_rank_that_the_program_states() -> None:
    program = hotdesk.compile("""
    func.func @f(%x: tensor<*xf32> {hotdesk.shape = ["n", "3"]}) -> (tensor<*xf32>, index) {
      %r = tensor.rank %x : tensor<*xf32>
      return %x, %r : tensor<*xf32>, index
    }""")
    assert str(program.inputs[0]) == "f32[n, 3]"
    x = floats(2, 3)
    same, rank = program(x)
    assert (same.tolist(), rank) == (x.tolist(), 2)


def test_memory_without_a_rank_is_cloned_and_freed() -> None:
    program = hotdesk.compile("""
    func.func @f(%x: memref<4xf32>) -> memref<4xf32> {
      %a = memref.alloc() : memref<4xf32>
      linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
      %u = memref.cast %a : memref<4xf32> to memref<*xf32>
      %c = bufferization.clone %u : memref<*xf32> to memref<*xf32>
      memref.dealloc %u : memref<*xf32>
      %r = memref.cast %c : memref<*xf32> to memref<4xf32>
      return %r : memref<4xf32>
    }""")
    x = floats(4)
    np.testing.assert_allclose(program(x), np.exp(x), rtol=1e-6)
    assert program.check(x).clean


# Results that are written in part


@pytest.mark.parametrize(
    ("output", "sizes", "place"),
    [
        ("(d0, d1) -> (d0 * 2, d1)", "6x4", np.s_[::2]),
        ("(d0, d1) -> (d0 + 1, d1 * 2)", "4x7", np.s_[1:, ::2]),
        ("(d0, d1) -> (d1, 0)", "4x3", None),
        ("(d0, d1) -> (d0 * 4 + d1)", "12", None),
    ],
)
def test_what_an_op_does_not_write_stays(output: str, sizes: str, place: Any) -> None:
    """Of an argument and of what is computed here, which both are read behind."""
    program = hotdesk.compile(f"""
    func.func @f(%x: tensor<3x4xf32>, %y: tensor<{sizes}xf32>) -> (tensor<{sizes}xf32>, tensor<{sizes}xf32>) {{
      %e = linalg.exp ins(%y : tensor<{sizes}xf32>) outs(%y : tensor<{sizes}xf32>) -> tensor<{sizes}xf32>
      %d = linalg.exp ins(%x : tensor<3x4xf32>) outs(%x : tensor<3x4xf32>) -> tensor<3x4xf32>
      %r = linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<{output}>],
        iterator_types = ["reduction", "reduction"]}}
        ins(%d : tensor<3x4xf32>) outs(%e : tensor<{sizes}xf32>) {{
      ^bb0(%a: f32, %b: f32):
        linalg.yield %a : f32
      }} -> tensor<{sizes}xf32>
      %s = linalg.add ins(%r, %e : tensor<{sizes}xf32>, tensor<{sizes}xf32>) outs(%y : tensor<{sizes}xf32>) -> tensor<{sizes}xf32>
      return %r, %s : tensor<{sizes}xf32>, tensor<{sizes}xf32>
    }}""")
    x, y = floats(3, 4), floats(*map(int, sizes.split("x")))
    expected = np.exp(y)
    if place is not None:
        expected[place] = np.exp(x)
    elif sizes == "12":
        expected = np.exp(x).reshape(12)
    else:
        expected[:, 0] = np.exp(x)[-1]
    found, total = program(x, y)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    np.testing.assert_allclose(total, expected + np.exp(y), rtol=1e-6)
    assert program.check(x, y).clean


def test_a_diagonal_is_added_in_a_loop() -> None:
    program = hotdesk.compile("""
    func.func @f(%x: tensor<?xf32>, %y: tensor<?x?xf32>, %n: index) -> tensor<?x?xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %y) -> tensor<?x?xf32> {
        %d = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i, i)>], iterator_types = ["parallel"]}
          ins(%x : tensor<?xf32>) outs(%t : tensor<?x?xf32>) {
        ^bb0(%a: f32, %b: f32):
          %s = arith.addf %a, %b : f32
          linalg.yield %s : f32
        } -> tensor<?x?xf32>
        scf.yield %d : tensor<?x?xf32>
      }
      return %r : tensor<?x?xf32>
    }""")
    x, y = floats(4), floats(4, 4)
    for n in (0, 1, 3):
        np.testing.assert_allclose(program(x, y, n), y + n * np.diag(x), rtol=1e-6)
    assert program.check(x, y, 2).clean
