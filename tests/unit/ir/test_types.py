"""Bytes of an element."""

from __future__ import annotations

import ctypes

import pytest

from hotdesk._bindings import ExecutionEngine, ir
from hotdesk.errors import BufferizationError
from hotdesk.ir.context import make_context, run_mlir_passes
from hotdesk.ir.types import element_bytes

FLOATS = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "tf32": 4, "f8E4M3FN": 1, "f8E5M2": 1, "f4E2M1FN": 1, "f80": 16}
INTEGERS = {"i1": 1, "i4": 1, "i8": 1, "ui8": 1, "i24": 4, "si32": 4, "i48": 8, "i64": 8, "i128": 16, "i136": 32}
OTHERS = {"index": 8, "complex<f32>": 8, "complex<f64>": 16}
FLOAT_VECTORS = {
    "vector<4xf32>": 16,
    "vector<3xf32>": 16,
    "vector<5xf32>": 32,
    "vector<6xf16>": 16,
    "vector<3xf64>": 32,
}
BIT_VECTORS = {"vector<8xi1>": 1, "vector<9xi1>": 2, "vector<33xi1>": 8, "vector<3xi4>": 2, "vector<3xi48>": 32}
OTHER_VECTORS = {"vector<f32>": 4, "vector<2x3xf32>": 32, "vector<3x12xi1>": 6, "vector<2xindex>": 16}
BYTES = FLOATS | INTEGERS | OTHERS | FLOAT_VECTORS | BIT_VECTORS | OTHER_VECTORS


@pytest.mark.parametrize("element", BYTES)
def test_bytes(element: str) -> None:
    assert element_bytes(element) == BYTES[element]


@pytest.mark.parametrize(
    "element",
    [*FLOAT_VECTORS, *BIT_VECTORS, "f64", "i1", "i4", "i24", "i48", "i128", "f80", "!llvm.array<2 x vector<3xf32>>"],
)
def test_llvm_puts_elements_as_far_apart(element: str) -> None:
    text = f"""
      func.func @distance() -> i64 attributes {{llvm.emit_c_interface}} {{
        %zero = llvm.mlir.zero : !llvm.ptr
        %next = llvm.getelementptr %zero[1] : (!llvm.ptr) -> !llvm.ptr, {element}
        %bytes = llvm.ptrtoint %next : !llvm.ptr to i64
        return %bytes : i64
      }}"""
    module = ir.Module.parse(text, make_context())
    run_mlir_passes(module, "convert-func-to-llvm")
    found = ctypes.c_int64()
    ExecutionEngine(module).invoke("distance", ctypes.pointer(found))
    assert found.value == element_bytes("vector<2x3xf32>" if element.startswith("!llvm") else element)


@pytest.mark.parametrize(
    "element",
    ["vector<[4]xf32>", "vector<2x[4]xf32>", "!torch.int", "!quant.uniform<i8:f32, 1.0>", "none", "tensor<2xf32>"],
)
def test_what_is_no_number(element: str) -> None:
    with pytest.raises(BufferizationError, match="element type: expected an integer"):
        element_bytes(element)
