"""Element types by MLIR's names: the bits of floats, what sums are kept in, and NumPy's names."""

from __future__ import annotations

from collections.abc import Mapping

FLOAT_BITS: Mapping[str, int] = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}
"""The floats that kernels compute with."""

HALVES = tuple(name for name, bits in FLOAT_BITS.items() if bits == 16)
"""Those of 16 bits, whose sums are kept in f32; products of them are of the same type, or of f32."""

NUMPY_NAMES: Mapping[str, str] = {
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "i1": "bool",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
}
"""What NumPy calls the types that it has, and PyTorch too."""


def summed_in(element: str) -> str:
    """The type of the sums of products of an element type."""
    return "f32" if element in HALVES else element
