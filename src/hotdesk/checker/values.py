"""Element types, and values that nobody has defined.

A scalar is a NumPy scalar, a vector an array, and inside a loop over many points at once a scalar is an array too. A value of
which a part was read from memory that nobody wrote is `Unwritten`: it may be passed on, and is told on when it is used.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from hotdesk._bindings import ir
from hotdesk.elements import NUMPY_NAMES
from hotdesk.errors import LoweringError, MissingExtraError
from hotdesk.explain import Source

Array: TypeAlias = Any
"""A NumPy array, whose methods its stubs type by half."""
Value: TypeAlias = Any
"""What an SSA value holds: a NumPy scalar or array, `Unwritten`, or a `memory.MemRef`."""

xp: Any = np
"""NumPy without its types: its stubs take scalars and arrays for different things, and here they are the same."""

_NAMES = {
    **NUMPY_NAMES,
    "index": "int64",
    "complex<f32>": "complex64",
    "complex<f64>": "complex128",
}
_SIGNED = re.compile(r"(s|u)i(8|16|32|64)")


@cache
def dtype_named(element: str) -> np.dtype[Any]:
    """The NumPy type of an MLIR element type.

    Raises:
        LoweringError: NumPy has no such numbers.
        MissingExtraError: `bf16` without the package `ml_dtypes`.
    """
    if element in _NAMES:
        return np.dtype(_NAMES[element])
    signed = _SIGNED.fullmatch(element)
    if signed is not None:
        return np.dtype(f"{'u' if signed[1] == 'u' else ''}int{signed[2]}")
    if element != "bf16":
        raise LoweringError("the memory checker", expected=f"one of {', '.join(_NAMES)}, bf16", got=f"type {element}")
    try:
        import ml_dtypes
    except ImportError as error:
        hint = "Install it with: pip install ml_dtypes"
        raise MissingExtraError("checking bf16", expected="the package 'ml_dtypes'", hint=hint) from error
    return np.dtype(ml_dtypes.bfloat16)


def dtype_of(value_type: Any) -> np.dtype[Any]:
    """The type of a scalar, or of the elements of a memref or vector."""
    return dtype_named(str(value_type.element_type if isinstance(value_type, ir.ShapedType) else value_type))


@dataclass(frozen=True, slots=True)
class Unwritten:
    """A value that is not defined everywhere.

    Attributes:
        values: what happens to be there.
        where: which elements nobody wrote; an array of the shape of `values`, or one truth value for all.
        reader: the op that read them.
        buffer: what they were read from.
    """

    values: Any
    where: Any
    reader: Source
    buffer: Any


def plain(value: Value) -> Value:
    """What happens to be in a value, defined or not."""
    return value.values if type(value) is Unwritten else value
