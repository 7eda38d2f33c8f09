"""The globals that constants become: their names, and constants of numbers that have no class in the bindings."""

from __future__ import annotations

import re

from hotdesk.passes.bufferize.one_shot import OneShotBufferize
from hotdesk.passes.tensor.rematerialize import RematerializeCheapOps
from tests.unit.parsing import parse, run


def test_a_constant_has_a_name_of_its_own() -> None:
    constants = "".join(f"%k{i} = arith.constant dense<[{i}.0, 0.5]> : tensor<2xf32>\n" for i in range(5))
    returned = "return %k0, %k4 : tensor<2xf32>, tensor<2xf32>\n"
    one = f"() -> (tensor<2xf32>, tensor<2xf32>) {{\n{constants}{returned}}}\n"
    others = "func.func private @constant_0()\n"
    others += "".join(f"memref.global @constant_{i} : memref<2xf32>\n" for i in (2, 3))
    module = parse(f"{others}func.func @f{one}func.func @g{one}")
    text = run(module, OneShotBufferize())
    made = re.findall(r'memref.global "private" constant @(\w+)', text)
    assert len(made) == 10
    assert len({*made, "constant_0", "constant_2", "constant_3"}) == 13


def test_a_repeated_complex_number_is_filled_in_where_it_is_overwritten() -> None:
    module = parse("""
      func.func @main(%c: complex<f32>, %i: index) -> tensor<4xcomplex<f32>> {
        %k = arith.constant dense<(1.5, -2.0)> : tensor<4xcomplex<f32>>
        %r = tensor.insert %c into %k[%i] : tensor<4xcomplex<f32>>
        return %r : tensor<4xcomplex<f32>>
      }""")
    text = run(module, RematerializeCheapOps())
    assert re.search(r"complex.constant \[1.500000e\+00 : f32, -2.000000e\+00 : f32\]", text)
    assert "linalg.generic" in text or "linalg.fill" in text
