"""Element types by MLIR's names: the bits of floats, what sums are kept in, what changes nothing, and NumPy's names."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

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


def neutral(element: str, reduction: str) -> int | float:
    """What changes nothing in a `sum`, or where the `max` or `min` is taken: 0, or the end of the type's range."""
    if reduction == "sum":
        return 0
    if element in FLOAT_BITS:
        return -inf if reduction == "max" else inf
    bits = int(element.removeprefix("i"))
    if bits == 1:  # no more than false and true
        return 0 if reduction == "max" else 1
    return -(1 << bits - 1) if reduction == "max" else (1 << bits - 1) - 1
