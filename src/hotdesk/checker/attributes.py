"""What attributes say: integers, operands in the groups that an attribute counts, and constants as NumPy arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from hotdesk._bindings import ir
from hotdesk.checker.values import Array, xp
from hotdesk.errors import LoweringError
from hotdesk.explain import Source
from hotdesk.ir.printed_constants import bf16_bits, complex_numbers


def integers(attribute: Any) -> tuple[int, ...]:
    """The integers of an array attribute of any kind."""
    if isinstance(attribute, ir.DenseIntElementsAttr):
        return tuple(int(cast(Any, attribute)[i]) for i in range(len(attribute)))
    return tuple(int(getattr(item, "value", item)) for item in attribute)


def split(slots: Sequence[int], counts: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Slots in groups of these lengths."""
    found: list[tuple[int, ...]] = []
    start = 0
    for count in counts:
        found.append(tuple(slots[start : start + count]))
        start += count
    return tuple(found)


def dense(attribute: Any, dtype: np.dtype[Any], shape: Sequence[int], at: Source) -> Array:
    """The values of a dense attribute. Raises LoweringError for a resource, which the bindings cannot read."""
    try:
        if attribute.is_splat:
            return np.full(shape, number(attribute.get_splat_value(), dtype), dtype)
        if dtype.kind in "biuf" and str(dtype) != "bfloat16":
            values = xp.array(attribute)
            return values.astype(dtype) if dtype.kind == "f" else _same_bits(values, dtype).reshape(shape)
        if dtype.kind == "c":
            return complex_numbers(str(attribute), dtype).reshape(shape)
        if str(dtype) == "bfloat16":
            return bf16_bits(str(attribute)).view(dtype).reshape(shape)
        values = [attribute[i] for i in range(len(attribute))]
    except (AttributeError, TypeError, ValueError) as error:
        raise LoweringError(
            "the values of a constant", expected="a dense attribute", got=str(attribute)[:60], where=at.location
        ) from error
    return xp.array([convert(value, dtype) for value in values], dtype).reshape(shape)


def _same_bits(values: Any, dtype: np.dtype[Any]) -> Array:
    return values if values.dtype == dtype else xp.ascontiguousarray(values).view(dtype)


def number(attribute: Any, dtype: np.dtype[Any]) -> Any:
    """The value of an integer, float or complex attribute, which is an array of two, as a NumPy scalar."""
    if dtype.kind == "c":
        return dtype.type(complex(*(part.value for part in attribute)))
    value = attribute.value if hasattr(attribute, "value") else attribute
    return convert(value, dtype)


def convert(value: Any, dtype: np.dtype[Any]) -> Any:
    """A Python number as a NumPy scalar; integers modulo two to the bits of the type."""
    if dtype.kind in "iu":
        bits = dtype.itemsize * 8
        return xp.array(int(value) & ((1 << bits) - 1), np.dtype(f"u{dtype.itemsize}")).view(dtype)[()]
    if dtype.kind == "b":
        return np.bool_(int(value) & 1)
    return dtype.type(value)
