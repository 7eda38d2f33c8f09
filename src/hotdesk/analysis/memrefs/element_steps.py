"""Bytes from one element of a memref to the next, and strides in elements."""

from __future__ import annotations

from typing import Any

import sympy

from hotdesk.errors import BufferizationError
from hotdesk.ir.sizes import Size, expand, product
from hotdesk.ir.types import element_bytes

_algebra: Any = sympy  # SymPy's functions are not annotated


def step_of(element: str) -> tuple[int, bool]:
    """The bytes from one element to the next; 1 if they are not known, and whether they are."""
    try:
        return element_bytes(element), True
    except BufferizationError:
        return 1, False


def in_elements(value: Size, element: str) -> Size | None:
    """A number of bytes as one of elements; None if it is not known to be a whole number of them."""
    found: Any = _algebra.expand(_algebra.sympify(value) / element_bytes(element))
    parts = [part.as_coeff_Mul()[0] for part in _algebra.Add.make_args(found)]
    return expand(found) if all(part.is_integer for part in parts) else None


def row_major(sizes: tuple[Size, ...]) -> tuple[Size, ...]:
    """Strides of contiguous rows, in elements."""
    return tuple(product(sizes[i + 1 :]) for i in range(len(sizes)))
