"""Tensors as specs: element types by their MLIR names, and sizes, which are numbers or SymPy expressions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import sympy
import torch
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from hotdesk.errors import DataDependentShapeError, UnsupportedOpError
from hotdesk.frontends.torch.symbolic_numbers import plain
from hotdesk.runtime.interface import TensorSpec

DTYPES: Mapping[torch.dtype, str] = {
    torch.float32: "f32",
    torch.float64: "f64",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.int64: "i64",
    torch.int32: "i32",
    torch.int16: "i16",
    torch.int8: "i8",
    torch.uint8: "u8",
    torch.bool: "i1",
}


def spec_of(name: str, value: torch.Tensor, location: str = "") -> TensorSpec:
    """What a tensor is, by its name; refused if it has an element type or a size that programs cannot have."""
    if value.dtype not in DTYPES:
        raise unsupported_dtype(f"tensor `{name}`", value.dtype, location)
    if free_unbacked_symbols(value.shape):
        raise DataDependentShapeError(
            f"tensor `{name}` has a size that depends on the values of a tensor",
            expected="sizes that follow from the sizes of the arguments",
            got=f"({', '.join(text if text.isdecimal() else '?' for text in map(str, value.shape))})",
            where=location,
        )
    return TensorSpec(name, DTYPES[value.dtype], tuple(_dim(size) for size in value.shape), location)


def unsupported_dtype(what: str, dtype: torch.dtype, location: str) -> UnsupportedOpError:
    """The error for an element type that has no lowering."""
    return UnsupportedOpError(
        f"{what} has an element type without a lowering",
        expected="one of " + ", ".join(str(dtype) for dtype in DTYPES),
        got=str(dtype),
        where=location,
        hint="Convert it, or keep that part outside the compiled model.",
    )


def _dim(size: int | torch.SymInt) -> int | sympy.Expr:
    if isinstance(size, int):
        return size
    expression: Any = cast(Any, size).node.expr
    return int(expression) if expression.is_number else plain(expression)
