"""Programs in MLIR, op by op as users write them: against NumPy, or refused by a reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hotdesk
from hotdesk.errors import ArgumentTypeError, ExecutionError, ShapeError


def floats(*sizes: int) -> Any:
    return np.random.default_rng(0).standard_normal(sizes, dtype=np.float32)


# Arithmetic on tensors


def arithmetic(name: str, element: str) -> Any:
    kind = f"tensor<?x{element}>"
    return hotdesk.compile(
        f"func.func @f(%x: {kind}, %y: {kind}) -> {kind} {{ %0 = arith.{name} %x, %y : {kind} return %0 : {kind} }}"
    )


def test_arithmetic_on_tensors_of_two_sizes_is_refused() -> None:
    program = arithmetic("addf", "f32")
    assert program(floats(4), floats(4)).tolist() == (floats(4) * 2).tolist()
    with pytest.raises(ShapeError, match="dim 0 of %x = 4, dim 0 of %y = 3"):
        program(floats(4), floats(3))


@pytest.mark.parametrize("name", ["divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui"])
def test_divisions_of_tensors_are_checked_by_element(name: str) -> None:
    program = arithmetic(name, "i32")
    x, y = np.array([7, 9, 12], np.int32), np.array([2, 3, 5], np.int32)
    expected: Any = -(-x // y) if name.startswith("ceil") else x % y if name.startswith("rem") else x // y
    assert program(x, y).tolist() == expected.tolist()
    y[1] = 0
    with pytest.raises(ExecutionError, match="no division of an integer by zero"):
        program(x, y)


# Convolutions


def test_convolutions_and_pooling_step_by_one_where_nothing_is_said() -> None:
    program = hotdesk.compile("""
    func.func @f(%x: tensor<1x2x6xf32>, %w: tensor<3x2x3xf32>, %k: tensor<2xf32>, %o: tensor<1x3x4xf32>, %p: tensor<1x3x3xf32>)
        -> tensor<1x3x3xf32> {
      %0 = linalg.conv_1d_ncw_fcw ins(%x, %w : tensor<1x2x6xf32>, tensor<3x2x3xf32>) outs(%o : tensor<1x3x4xf32>)
        -> tensor<1x3x4xf32>
      %1 = linalg.pooling_ncw_sum ins(%0, %k : tensor<1x3x4xf32>, tensor<2xf32>) outs(%p : tensor<1x3x3xf32>)
        -> tensor<1x3x3xf32>
      return %1 : tensor<1x3x3xf32>
    }""")
    x, w, o, p = floats(1, 2, 6), floats(3, 2, 3), floats(1, 3, 4), floats(1, 3, 3)
    windows = np.lib.stride_tricks.sliding_window_view(x, 3, axis=2)
    conv = o + np.einsum("ncik,fck->nfi", windows, w)
    pooled = p + conv[..., :-1] + conv[..., 1:]
    np.testing.assert_allclose(program(x, w, floats(2), o, p), pooled, rtol=1e-5, atol=1e-6)


# Ops that are several


def test_softmax_is_that_of_numpy() -> None:
    program = hotdesk.compile("""
    func.func @f(%x: tensor<?x7xf32>, %n: index) -> tensor<?x7xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> tensor<?x7xf32> {
        %s = linalg.softmax dimension(1) ins(%y : tensor<?x7xf32>) outs(%y : tensor<?x7xf32>) -> tensor<?x7xf32>
        scf.yield %s : tensor<?x7xf32>
      }
      return %r : tensor<?x7xf32>
    }""")
    x = floats(5, 7)
    for times in range(3):
        np.testing.assert_allclose(program(floats(5, 7), times), x, rtol=1e-5)
        powers: Any = np.exp(x - x.max(1, keepdims=True))
        x = powers / powers.sum(1, keepdims=True)


def softmax(x: Any, axis: int) -> Any:
    powers: Any = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def test_softmax_of_memory() -> None:
    program = hotdesk.compile("""
    func.func private @twice(%a: memref<?x4xf32>, %b: memref<?x4xf32>) {
      linalg.softmax dimension(1) ins(%a : memref<?x4xf32>) outs(%b : memref<?x4xf32>)
      linalg.softmax dimension(0) ins(%b : memref<?x4xf32>) outs(%b : memref<?x4xf32>)
      return
    }
    func.func @f(%x: memref<?x4xf32>, %y: memref<?x4xf32>, %n: index) -> memref<?x4xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      call @twice(%x, %y) : (memref<?x4xf32>, memref<?x4xf32>) -> ()
      scf.for %i = %c0 to %n step %c1 {
        func.call @twice(%y, %y) : (memref<?x4xf32>, memref<?x4xf32>) -> ()
      }
      return %y : memref<?x4xf32>
    }""")
    x, y = floats(3, 4), np.zeros((3, 4), np.float32)
    assert program(x, y, 2) is y
    assert x.tolist() == floats(3, 4).tolist()
    expected = x
    for _ in range(3):
        expected = softmax(softmax(expected, 1), 0)
    np.testing.assert_allclose(y, expected, rtol=1e-5)
    assert program.check(x, y, 2).clean
    assert program(floats(0, 4), floats(0, 4), 1).shape == (0, 4)
    with pytest.raises(ShapeError, match=r"\(dim 0 of %x\) == \(dim 0 of %y\)"):
        program(floats(3, 4), floats(2, 4), 0)


@pytest.mark.parametrize("rest", ["", "%t = bufferization.to_tensor %x restrict : memref<6x4xf32> to tensor<6x4xf32>"])
def test_softmax_of_memory_that_it_writes_in_part(rest: str) -> None:
    number = "%n = tensor.extract %t[%c0, %c0] : tensor<6x4xf32>" if rest else "%n = arith.constant 0.0 : f32"
    program = hotdesk.compile(f"""
    func.func @f(%x: memref<6x4xf32>) -> f32 {{
      %c0 = arith.constant 0 : index
      %a = memref.subview %x[0, 0] [3, 4] [1, 1] : memref<6x4xf32> to memref<3x4xf32, strided<[4, 1]>>
      %b = memref.subview %x[1, 0] [3, 4] [1, 1] : memref<6x4xf32> to memref<3x4xf32, strided<[4, 1], offset: 4>>
      linalg.softmax dimension(1) ins(%a : memref<3x4xf32, strided<[4, 1]>>)
        outs(%b : memref<3x4xf32, strided<[4, 1], offset: 4>>)
      {rest}
      {number}
      return %n : f32
    }}""")
    x = floats(6, 4)
    assert program(x) == (floats(6, 4)[0, 0] if rest else 0)
    expected = floats(6, 4)
    expected[1:4] = softmax(expected[:3], 1)
    np.testing.assert_allclose(x, expected, rtol=1e-5)


def test_softmax_of_views() -> None:
    kind = "memref<?x4xf32, strided<[?, ?], offset: ?>>"
    program = hotdesk.compile(f"""
    func.func @f(%x: {kind}) {{
      linalg.softmax dimension(1) ins(%x : {kind}) outs(%x : {kind})
      return
    }}""")
    x = floats(3, 8)
    program(x[:, ::2])
    np.testing.assert_allclose(x[:, ::2], softmax(floats(3, 8)[:, ::2], 1), rtol=1e-5)
    assert x[:, 1::2].tolist() == floats(3, 8)[:, 1::2].tolist()


def test_memory_is_packed_and_unpacked() -> None:
    program = hotdesk.compile("""
    func.func @f(%x: memref<?x15xf32>, %p: memref<?x4x8x4xf32>, %o: memref<?x15xf32>) {
      %one = arith.constant 1.0 : f32
      linalg.pack %x padding_value(%one : f32) inner_dims_pos = [0, 1] inner_tiles = [8, 4] into %p
        : memref<?x15xf32> -> memref<?x4x8x4xf32>
      linalg.unpack %p inner_dims_pos = [0, 1] inner_tiles = [8, 4] into %o : memref<?x4x8x4xf32> -> memref<?x15xf32>
      return
    }""")
    x, packed, back = floats(13, 15), np.zeros((2, 4, 8, 4), np.float32), np.zeros((13, 15), np.float32)
    program(x, packed, back)
    padded: Any = np.pad(x, ((0, 3), (0, 1)), constant_values=1)
    assert packed.tolist() == padded.reshape(2, 8, 4, 4).transpose(0, 2, 1, 3).tolist()
    assert back.tolist() == x.tolist()


def test_tensors_are_packed_and_unpacked() -> None:
    program = hotdesk.compile("""
    func.func @f(%x: tensor<?x15xf32>, %p: tensor<?x4x8x4xf32>, %o: tensor<?x15xf32>) -> (tensor<?x4x8x4xf32>, tensor<?x15xf32>) {
      %one = arith.constant 1.0 : f32
      %0 = linalg.pack %x padding_value(%one : f32) inner_dims_pos = [0, 1] inner_tiles = [8, 4] into %p
        : tensor<?x15xf32> -> tensor<?x4x8x4xf32>
      %1 = linalg.unpack %0 inner_dims_pos = [0, 1] inner_tiles = [8, 4] into %o : tensor<?x4x8x4xf32> -> tensor<?x15xf32>
      return %0, %1 : tensor<?x4x8x4xf32>, tensor<?x15xf32>
    }""")
    x = floats(13, 15)
    packed, back = program(x, floats(2, 4, 8, 4), floats(13, 15) + 1)
    padded: Any = np.pad(x, ((0, 3), (0, 1)), constant_values=1)
    assert packed.tolist() == padded.reshape(2, 8, 4, 4).transpose(0, 2, 1, 3).tolist()
    assert back.tolist() == x.tolist()


def test_winograd_transforms_make_a_convolution() -> None:
    program = hotdesk.compile("""
    func.func @f(%x: tensor<1x6x6x2xf32>, %w: tensor<3x3x3x2xf32>, %o: tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32> {
      %zero = arith.constant 0.0 : f32
      %e0 = tensor.empty() : tensor<6x6x2x3xf32>
      %f = linalg.winograd_filter_transform fmr(F_4_3) ins(%w : tensor<3x3x3x2xf32>) outs(%e0 : tensor<6x6x2x3xf32>)
        -> tensor<6x6x2x3xf32>
      %e1 = tensor.empty() : tensor<6x6x1x1x1x2xf32>
      %i = linalg.winograd_input_transform fmr(F_4_3) ins(%x : tensor<1x6x6x2xf32>) outs(%e1 : tensor<6x6x1x1x1x2xf32>)
        -> tensor<6x6x1x1x1x2xf32>
      %fs = tensor.collapse_shape %f [[0, 1], [2], [3]] : tensor<6x6x2x3xf32> into tensor<36x2x3xf32>
      %is = tensor.collapse_shape %i [[0, 1], [2, 3, 4], [5]] : tensor<6x6x1x1x1x2xf32> into tensor<36x1x2xf32>
      %e2 = tensor.empty() : tensor<36x1x3xf32>
      %z = linalg.fill ins(%zero : f32) outs(%e2 : tensor<36x1x3xf32>) -> tensor<36x1x3xf32>
      %m = linalg.batch_matmul ins(%is, %fs : tensor<36x1x2xf32>, tensor<36x2x3xf32>) outs(%z : tensor<36x1x3xf32>)
        -> tensor<36x1x3xf32>
      %ms = tensor.expand_shape %m [[0, 1], [2, 3, 4], [5]] output_shape [6, 6, 1, 1, 1, 3]
        : tensor<36x1x3xf32> into tensor<6x6x1x1x1x3xf32>
      %r = linalg.winograd_output_transform fmr(F_4_3) ins(%ms : tensor<6x6x1x1x1x3xf32>) outs(%o : tensor<1x4x4x3xf32>)
        -> tensor<1x4x4x3xf32>
      return %r : tensor<1x4x4x3xf32>
    }""")
    x, w = floats(1, 6, 6, 2), floats(3, 3, 3, 2)
    windows = np.lib.stride_tricks.sliding_window_view(x[0], (3, 3), axis=(0, 1))
    expected = np.einsum("ijckl,fklc->ijf", windows, w)
    np.testing.assert_allclose(program(x, w, np.zeros((1, 4, 4, 3), np.float32))[0], expected, rtol=1e-4, atol=1e-5)


# Numbers


def test_complex_numbers_go_in_and_out() -> None:
    program = hotdesk.compile("""
    func.func @f(%a: complex<f64>, %b: complex<f32>) -> (complex<f64>, complex<f32>, i1) {
      %0 = complex.mul %a, %a : complex<f64>
      %1 = complex.conj %b : complex<f32>
      %2 = complex.eq %b, %1 : complex<f32>
      return %0, %1, %2 : complex<f64>, complex<f32>, i1
    }""")
    assert program(1 + 2j, 3 - 1j) == ((1 + 2j) ** 2, 3 + 1j, False)
    assert program(2, np.complex64(1.5)) == (4, 1.5, True)
    with pytest.raises(ArgumentTypeError, match="a number for complex<f64>, got str"):
        program("1j", 0)


def test_comparisons_of_indices_are_results() -> None:
    program = hotdesk.compile("""
    func.func @f(%a: index, %b: index) -> (i1, i1) {
      %0 = index.cmp ult(%a, %b)
      %1 = index.bool.constant true
      return %0, %1 : i1, i1
    }""")
    assert program(1, 2) == (True, True)
    assert program(2, 1) == (False, True)


@pytest.mark.parametrize(("element", "dtype"), [("f16", np.float16), ("f32", np.float32), ("f64", np.float64)])
def test_kinds_of_floats_are_told(element: str, dtype: Any) -> None:
    kind = f"tensor<6x{element}>"
    asked = "\n".join(
        f"%{i} = math.{name} %x : {kind}" for i, name in enumerate(("isinf", "isnormal", "isfinite", "isnan"))
    )
    program = hotdesk.compile(f"""func.func @f(%x: {kind}) -> (tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>) {{
      {asked}
      return %0, %1, %2, %3 : tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>
    }}""")
    least = np.finfo(dtype).smallest_normal
    x = np.array([np.inf, -np.inf, np.nan, 0, -least, least / dtype(2)], dtype)
    infinite, normal, finite, none = program(x)
    assert infinite.tolist() == np.isinf(x).tolist()
    assert normal.tolist() == [False, False, False, False, True, False]
    assert finite.tolist() == np.isfinite(x).tolist()
    assert none.tolist() == np.isnan(x).tolist()
