"""What values are to the interpreter, and how it reads attributes.

A scalar is a numpy scalar, a tensor or vector an array that nothing changes once it is made. A tensor without contents is
`Undefined`: it has another value each time it is read, wherever it was passed on to in between.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = Any
"""A numpy array, whose methods its stubs type by half."""
Values: TypeAlias = "dict[Any, Any]"
"""What each `ir.Value` in scope holds."""
Operation: TypeAlias = Any
"""An `ir.Operation`; the bindings do not say what its attributes and types are."""
Fill: TypeAlias = "Callable[[Sequence[int], np.dtype[Any]], Array]"
"""What undefined memory of a shape holds."""

DTYPES: dict[str, np.dtype[Any]] = {
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "complex<f32>": np.dtype(np.complex64),
    "i1": np.dtype(np.bool_),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "index": np.dtype(np.int64),
}
DYNAMIC = -(2**63)


@dataclass(frozen=True)
class Undefined:
    """A tensor with no contents."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


def dtype_of(mlir_type: Any) -> np.dtype[Any]:
    """The type of a scalar or of an element."""
    return DTYPES[str(getattr(mlir_type, "element_type", mlir_type))]


def points(shape: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Every position in an array of a shape."""
    return itertools.product(*(range(size) for size in shape))


def integers(attribute: Any) -> tuple[int, ...]:
    return tuple(int(getattr(item, "value", item)) for item in attribute)


def segments(op: Operation) -> tuple[int, ...]:
    """How many operands each group of operands has."""
    return integers(op.attributes["operandSegmentSizes"])


def mixed(static: Any, dynamic: Sequence[Any]) -> list[int]:
    """Numbers of which some are attributes and the others operands."""
    rest = iter(dynamic)
    return [int(next(rest)) if s == DYNAMIC else s for s in integers(static)]


def result_shape(op: Operation, dynamic: Sequence[Any]) -> tuple[int, ...]:
    """The sizes of an op's result: those of its type, and operands for the others."""
    result = op.results[0].type
    rest = iter(dynamic)
    return tuple(
        int(next(rest)) if result.is_dynamic_dim(i) else int(result.get_dim_size(i)) for i in range(result.rank)
    )


def slices(op: Operation, operands: Sequence[Any], first: int, whole: Sequence[int]) -> tuple[slice, ...]:
    """The part of a tensor of sizes `whole` that an op names; its numbers that are operands begin at operand `first`."""
    counts = segments(op)[-3:]
    rest = operands[first:]
    offsets = mixed(op.attributes["static_offsets"], rest[: counts[0]])
    sizes = mixed(op.attributes["static_sizes"], rest[counts[0] : counts[0] + counts[1]])
    steps = mixed(op.attributes["static_strides"], rest[counts[0] + counts[1] :])
    for offset, size, step, end in zip(offsets, sizes, steps, whole, strict=True):
        assert offset >= 0, "a slice begins before its tensor"
        assert size == 0 or offset + (size - 1) * step < end, "a slice ends behind its tensor"
    # A slice of no elements has no end either:
    return tuple(
        slice(o, o + (size - 1) * step + 1 if size else o, step)
        for o, size, step in zip(offsets, sizes, steps, strict=True)
    )


def inserted(source: Array, into: Array, part: tuple[slice, ...]) -> Array:
    """A tensor with another one in a part of it."""
    result = into.copy()
    place = result[part]
    assert source.size == place.size, "an insertion of another size"
    place[...] = source.reshape(place.shape)
    return result


def dropped(result: Any, part: Array) -> Array:
    """A slice without the unit dimensions that its type leaves out."""
    if result.rank == part.ndim:
        return part
    for kept in itertools.combinations(range(int(part.ndim)), int(result.rank)):
        fits = all(result.is_dynamic_dim(i) or result.get_dim_size(i) == part.shape[d] for i, d in enumerate(kept))
        if fits and all(part.shape[d] == 1 for d in range(part.ndim) if d not in kept):
            return part.reshape([part.shape[d] for d in kept])
    raise AssertionError(f"a slice of shape {part.shape} does not become {result}")


def checked(op: Operation, array: Any) -> Any:
    """The tensor, if it has the static sizes that its type promises."""
    result = op.results[0].type
    assert result.rank == len(array.shape), f"{op.name} makes {array.shape}, not {result}"
    for i, size in enumerate(array.shape):
        assert result.is_dynamic_dim(i) or result.get_dim_size(i) == size, (
            f"{op.name} makes {array.shape}, not {result}"
        )
    return array


def place(array: Array, position: Sequence[Any]) -> tuple[int, ...]:
    """The position of an element, which must be inside."""
    assert all(0 <= i < size for i, size in zip(position, array.shape, strict=True)), "an element out of bounds"
    return tuple(int(i) for i in position)
