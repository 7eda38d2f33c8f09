"""Constants of complex numbers and of bf16, as MLIR prints them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import hotdesk
from hotdesk.ir.printed_constants import bf16_bits, complex_numbers


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("dense<[(1.0,2.0), (3.0,-4.5)]> : tensor<2xcomplex<f32>>", [1 + 2j, 3 - 4.5j]),
        ("dense<(1.5,-2.0)> : tensor<2xcomplex<f32>>", [1.5 - 2j]),
        ("dense<[[(1.0,0x7F800000)], [(0xFF800000,1.0e-40)]]>", [complex(1, np.inf), complex(-np.inf, 1e-40)]),
        ('dense<"0x0000803F000000400000803F00000040">', [1 + 2j, 1 + 2j]),
    ],
)
def test_numbers(text: str, wanted: list[complex]) -> None:
    np.testing.assert_array_equal(complex_numbers(text, np.dtype(np.complex64)), np.array(wanted, np.complex64))


@pytest.mark.parametrize("kind", ["complex<f32>", "complex<f64>"])
@pytest.mark.parametrize("count", [3, 200])
def test_constants_of_a_program(kind: str, count: int) -> None:
    dtype: Any = {"complex<f32>": np.complex64, "complex<f64>": np.complex128}[kind]
    values = (np.arange(count) + 0.1j * np.arange(count)[::-1]).astype(dtype)
    program = hotdesk.compile(f"""
func.func @main(%n: index) -> tensor<{count}x{kind}> {{
  %k = arith.constant dense<"0x{values.tobytes().hex()}"> : tensor<{count}x{kind}>
  %r = tensor.generate {{
  ^bb0(%i: index):
    %a = tensor.extract %k[%i] : tensor<{count}x{kind}>
    %b = tensor.extract %k[%n] : tensor<{count}x{kind}>
    %c = complex.add %a, %b : {kind}
    tensor.yield %c : {kind}
  }} : tensor<{count}x{kind}>
  return %r : tensor<{count}x{kind}>
}}""")
    np.testing.assert_array_equal(program(2), values + values[2])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "dense<[[1.000000e+00, -2.500000e+00], [0x7FC0, 9.960930e-02]]> : tensor<2x2xbf16>",
            [0x3F80, 0xC020, 0x7FC0, 0x3DCC],
        ),
        ('dense<"0x803F20C0"> : tensor<2xbf16>', [0x3F80, 0xC020]),
    ],
)
def test_bits_of_bf16(text: str, wanted: list[int]) -> None:
    assert bf16_bits(text).tolist() == wanted


@pytest.mark.parametrize("count", [3, 300])
def test_bf16_constants_of_a_program(count: int) -> None:
    numbers, kind = [0.1 * n for n in range(count)], f"tensor<{count}xbf16>"
    program = hotdesk.compile(f"""
func.func @main(%x: {kind}) -> {kind} {{
  %c = arith.constant dense<{numbers}> : {kind}
  %e = tensor.empty() : {kind}
  %r = linalg.map {{ arith.addf }} ins(%x, %c : {kind}, {kind}) outs(%e : {kind})
  return %r : {kind}
}}""")
    x, wanted = torch.zeros(count, dtype=torch.bfloat16), torch.tensor(numbers, dtype=torch.bfloat16)
    assert torch.equal(program(x), wanted)
    found = program.check(x)
    assert not found.faults
    assert np.array_equal(np.asarray(found.results[0].values, np.float32), wanted.float().numpy())
