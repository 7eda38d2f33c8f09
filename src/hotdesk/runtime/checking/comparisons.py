"""`arith.cmpi` and `arith.cmpf`, by their predicates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from hotdesk.runtime.checking.code import Reading
from hotdesk.runtime.checking.elements import dtype_of

_Comparison: TypeAlias = Callable[[Any, Any], Any]

_FLOAT_COMPARISONS: tuple[_Comparison, ...] = (
    lambda a, b: (a == a) & (a != a),
    lambda a, b: a == b,
    lambda a, b: a > b,
    lambda a, b: a >= b,
    lambda a, b: a < b,
    lambda a, b: a <= b,
    lambda a, b: (a < b) | (a > b),
    lambda a, b: (a == a) & (b == b),
    lambda a, b: ~((a < b) | (a > b)),
    lambda a, b: ~(a <= b),
    lambda a, b: ~(a < b),
    lambda a, b: ~(a >= b),
    lambda a, b: ~(a > b),
    lambda a, b: a != b,
    lambda a, b: (a != a) | (b != b),
    lambda a, b: (a == a) | (a != a),
)
"""By predicate: false, then ordered ones, then those that hold for a NaN, then true."""
_COMPARISONS: tuple[_Comparison, ...] = (
    lambda a, b: a == b,
    lambda a, b: a != b,
    lambda a, b: a < b,
    lambda a, b: a <= b,
    lambda a, b: a > b,
    lambda a, b: a >= b,
)


def compared(reading: Reading) -> _Comparison:
    predicate = int(reading.attribute("predicate").value)
    if reading.name == "arith.cmpf":
        return _FLOAT_COMPARISONS[predicate]
    dtype = dtype_of(reading.operand_type(0))
    if predicate < 2:
        return _COMPARISONS[predicate]
    if predicate > 5:  # unsigned
        compare = _COMPARISONS[predicate - 4]
        return compare if dtype.kind == "b" else lambda a, b: compare(unsigned(a), unsigned(b))
    compare = _COMPARISONS[predicate]
    # A true `i1` is −1:
    return compare if dtype.kind != "b" else lambda a, b: compare(b.astype(np.int8), a.astype(np.int8))


def unsigned(value: Any) -> Any:
    """The same bits without a sign."""
    return value.view(np.dtype(f"u{value.dtype.itemsize}")) if value.dtype.kind == "i" else value
