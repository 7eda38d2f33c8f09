"""Shaped types as plain values, and building memref types."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.errors import BufferizationError

DYNAMIC = -(2**63)
"""How attributes such as `static_sizes` write a number that an operand has."""
SLICE = ("static_offsets", "static_sizes", "static_strides")
"""The attributes of an op on a slice that state numbers."""
_BITS = {"index": 64, "tf32": 32}
_NUMBER = re.compile(r"(?:i|si|ui|f|bf)(\d+)")
_VECTOR = re.compile(r"vector<((?:\d+x)*)(\w+)>")
_ELEMENT = "an integer, a float, a complex number, an index, or a vector of a fixed number of them"
_IN_MEMREFS = (
    *(ir.IntegerType, ir.FloatType, ir.IndexType, ir.ComplexType),
    *(ir.VectorType, ir.MemRefType, ir.UnrankedMemRefType),
)

_NO_TOKENS = (ir.IndexType, ir.IntegerType, ir.FloatType, ir.ComplexType, ir.ShapedType)


def is_tensor(value_type: ir.Type) -> bool:
    """Whether a type is a ranked tensor."""
    return isinstance(value_type, ir.RankedTensorType)


def is_any_tensor(value_type: ir.Type) -> bool:
    """Whether a type is a tensor, ranked or not."""
    return isinstance(value_type, (ir.RankedTensorType, ir.UnrankedTensorType))


def is_memref(value_type: ir.Type) -> bool:
    """Whether a type is a ranked memref."""
    return isinstance(value_type, ir.MemRefType)


def is_buffer(value_type: ir.Type) -> bool:
    """Whether a type is a memref, ranked or not."""
    return isinstance(value_type, (ir.MemRefType, ir.UnrankedMemRefType))


def is_token(value_type: ir.Type) -> bool:
    """Whether a value of a type stands for what may not be done yet: an asynchronous op, a request."""
    if is_buffer(value_type) or isinstance(value_type, _NO_TOKENS):
        return False
    name = str(value_type)
    return "token" in name or name.startswith(("!async.value<", "!mpi.request"))


def shape_of(value_type: ir.Type) -> tuple[int | None, ...]:
    """The sizes of a ranked tensor or memref; None where a size is dynamic."""
    shaped = cast(Any, value_type)
    return tuple(None if shaped.is_dynamic_dim(i) else shaped.get_dim_size(i) for i in range(shaped.rank))


def element_of(value_type: ir.Type) -> str:
    """The element type's name, such as `f32`."""
    return str(cast(Any, value_type).element_type)


def scalar_of(value_type: ir.Type) -> ir.Type:
    """The type of a vector's elements; another type as it is."""
    return cast(Any, value_type).element_type if isinstance(value_type, ir.VectorType) else value_type


def like_vector(value_type: ir.Type, scalar: ir.Type) -> ir.Type:
    """A vector of such elements, of a vector type's sizes; `scalar` itself for another type."""
    return ir.VectorType.get(value_type.shape, scalar) if isinstance(value_type, ir.VectorType) else scalar


def element_bytes(element: str) -> int:
    """Bytes from one element in memory to the next, as LLVM lays them out.

    An `i1` takes a byte. Numbers take a power of two, as an `i48` does with 8, and above 16 a multiple of 16. The rows of
    a vector take a power of two as well, and the bits of their elements lie side by side: `vector<2x3xf32>` takes 32,
    `vector<12xi1>` 2.

    Raises:
        BufferizationError: a type that is neither a number nor a vector of numbers.
    """
    if element.startswith("complex<"):
        return 2 * element_bytes(element.removeprefix("complex<").removesuffix(">"))
    vector = _VECTOR.fullmatch(element)
    if vector is None:
        size = (_bits(element) + 7) // 8
        return _power_of_two(size) if size <= 16 else (size + 15) // 16 * 16
    *rows, row = [int(size) for size in vector[1].split("x")[:-1]] or [1]
    return prod(rows) * _power_of_two((row * _bits(vector[2]) + 7) // 8)


def _bits(element: str) -> int:
    match = _NUMBER.match(element)
    if element not in _BITS and match is None:
        raise BufferizationError("element type", expected=_ELEMENT, got=element)
    return _BITS[element] if match is None else int(match[1])


def _power_of_two(size: int) -> int:
    """The least power of two that is no less."""
    return 1 << (size - 1).bit_length()


def static_entries(entries: Sequence[int | None]) -> list[int]:
    """Sizes, offsets or strides as types and attributes such as `static_sizes` write them: `DYNAMIC` for each None."""
    return [DYNAMIC if entry is None else entry for entry in entries]


def tensor_with(sizes: Sequence[int | None], like: ir.Type) -> ir.RankedTensorType:
    """The tensor of some sizes with the element type of another shaped type."""
    return ir.RankedTensorType.get(static_entries(sizes), cast(Any, like).element_type)


def memref_with(sizes: Sequence[int | None], like: ir.Type, space: ir.Attribute | None = None) -> ir.MemRefType:
    """The memref of some sizes with the element type of another shaped type, contiguous in row-major order.

    It is in the memory space of the other type if that is a memref, else in `space`.

    Raises:
        BufferizationError: a memref cannot have such elements.
    """
    _require_in_memrefs(like)
    space = cast(Any, like).memory_space if is_memref(like) else space
    return ir.MemRefType.get(static_entries(sizes), cast(Any, like).element_type, memory_space=space)


def unranked_memref_of(shaped: ir.Type) -> ir.UnrankedMemRefType:
    """The memref without a rank, in the default memory space, with the element type of another shaped type.

    Raises:
        BufferizationError: a memref cannot have such elements.
    """
    _require_in_memrefs(shaped)
    return ir.UnrankedMemRefType.get(cast(Any, shaped).element_type, None)


def _require_in_memrefs(shaped: ir.Type) -> None:
    if not isinstance(cast(Any, shaped).element_type, _IN_MEMREFS):
        raise BufferizationError("element type", expected=_ELEMENT, got=element_of(shaped))


def memref_of(shaped: ir.Type, space: ir.Attribute | None = None) -> ir.MemRefType:
    """The memref with a tensor's or memref's sizes and element type, contiguous in row-major order."""
    return memref_with(shape_of(shaped), shaped, space)


def same_space(one: ir.Attribute | None, other: ir.Attribute | None) -> bool:
    """Whether two memory spaces are the same; None is the default one, with which attributes cannot be compared."""
    return one is other if one is None or other is None else one == other


def dynamic_layout(memref: ir.Type) -> ir.MemRefType:
    """The memref in any layout: offset and strides are known at run time only."""
    shaped = cast(Any, memref)
    layout = ir.StridedLayoutAttr.get(DYNAMIC, [DYNAMIC] * shaped.rank)
    return ir.MemRefType.get(static_entries(shape_of(memref)), shaped.element_type, layout, shaped.memory_space)


def row_major(sizes: tuple[int | None, ...]) -> tuple[int | None, ...]:
    """Strides, in elements, of a contiguous row-major array; None where one depends on a dynamic size."""
    strides: list[int | None] = []
    running: int | None = 1
    for size in reversed(sizes):
        strides.append(running)
        running = None if running is None or size is None else running * size
    return tuple(reversed(strides))


def layout_of(memref: ir.Type) -> tuple[tuple[int | None, ...], int | None]:
    """Strides and offset of a memref, in elements; None where dynamic."""
    shaped = cast(Any, memref)
    strides, offset = shaped.get_strides_and_offset()
    is_dynamic = shaped.is_dynamic_stride_or_offset
    return tuple(None if is_dynamic(s) else s for s in strides), None if is_dynamic(offset) else offset


def is_strided(memref: ir.Type) -> bool:
    """Whether the layout of a memref with a rank is told by strides and an offset: not that of every affine map is."""
    try:
        layout_of(memref)
    except (RuntimeError, ValueError):
        return False
    return True


def kept_dims(sizes: Sequence[object], result: Sequence[int | None]) -> list[int]:
    """Which dims of a slice its (possibly rank-reduced) result keeps: surplus dims of size 1 are dropped, as MLIR does it."""
    kept: list[int] = []
    surplus = len(sizes) - len(result)
    for i, size in enumerate(sizes):
        position = len(kept)
        if surplus and size == 1 and (position >= len(result) or result[position] != 1):
            surplus -= 1
            continue
        kept.append(i)
    return kept


def is_row_major(memref: ir.Type) -> bool:
    """Whether a memref is known to be contiguous and row-major, and to begin where its memory does."""
    strides, offset = layout_of(memref)
    return memref == memref_of(memref) or (
        offset == 0 and None not in strides and strides == row_major(shape_of(memref))
    )
