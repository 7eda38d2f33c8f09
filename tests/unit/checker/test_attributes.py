"""Constants that the bindings do not tell as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hotdesk._bindings import ir
from hotdesk.checker import check_module
from hotdesk.checker.attributes import dense
from hotdesk.explain import Source
from hotdesk.ir.context import make_context

_MANY = [complex(n, 0.5) for n in range(150)]  # MLIR prints so many as bytes


@pytest.mark.parametrize(
    ("text", "kind", "dtype", "values"),
    [
        ("(1.5, -2.0)", "3xcomplex<f32>", np.complex64, [1.5 - 2j] * 3),
        (
            "[(1.0, 0.1), (0x7FF0000000000000, -0.0)]",
            "2xcomplex<f64>",
            np.complex128,
            [1 + 0.1j, complex(np.inf, -0.0)],
        ),
        (f"[{', '.join(f'({n.real}, {n.imag})' for n in _MANY)}]", "150xcomplex<f32>", np.complex64, _MANY),
    ],
)
def test_complex_numbers(text: str, kind: str, dtype: Any, values: list[complex]) -> None:
    with make_context():
        attribute = ir.Attribute.parse(f"dense<{text}> : tensor<{kind}>")
        found = dense(attribute, np.dtype(dtype), [len(values)], Source("arith.constant"))
    assert found.dtype == dtype
    wanted: Any = np.array(values, dtype)
    assert np.array_equal(found, wanted)
    assert np.array_equal(np.signbit(found.imag), np.signbit(wanted.imag))


def test_a_complex_number_is_made_filled_and_taken_apart() -> None:
    text = """func.func @main(%x: f32, %out: memref<3xf32> {bufferize.result = 0}) {
  %k = complex.constant [1.5 : f32, 2.0 : f32] : complex<f32>
  %m = complex.create %x, %x : complex<f32>
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<3xcomplex<f32>>
  linalg.fill ins(%k : complex<f32>) outs(%a : memref<3xcomplex<f32>>)
  memref.store %m, %a[%c1] : memref<3xcomplex<f32>>
  linalg.map ins(%a : memref<3xcomplex<f32>>) outs(%out : memref<3xf32>) (%z: complex<f32>, %init: f32) {
    %r = complex.re %z : complex<f32>
    %i = complex.im %z : complex<f32>
    %s = arith.subf %i, %r : f32
    linalg.yield %s : f32
  }
  memref.dealloc %a : memref<3xcomplex<f32>>
  return
}"""
    with make_context(), ir.Location.unknown():
        report = check_module(ir.Module.parse(text), "main", [np.float32(7)], result_shapes={0: (3,)})
    assert report.clean
    assert np.array_equal(report.results[0].values, [0.5, 0.0, 0.5])
