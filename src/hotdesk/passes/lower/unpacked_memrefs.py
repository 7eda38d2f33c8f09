"""Memrefs unpacked into numbers for a call: the address of their memory, and those of offset, sizes and strides that vary.

    call @f(%m) : memref<?x4xf32>    ->    call @f(%address, %size) : i64, index

MLIR would pass a memref as a bare pointer only where its type says all else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.building import UNREALIZED_CAST, create, index_cast, index_constant, sliced, with_values
from hotdesk.ir.types import is_memref, layout_of, shape_of
from hotdesk.models.memref import METADATA


def passed_types(kind: ir.Type) -> list[ir.Type]:
    """The types of the numbers that a value of a type is passed as."""
    if not is_memref(kind):
        return [kind]
    return [ir.IntegerType.get_signless(64), *[ir.IndexType.get()] * sum(map(len, _open_places(kind)))]


def taken_apart(value: ir.Value, before: ir.Operation) -> list[ir.Value]:
    """A value as the numbers that it is passed as, in front of an op."""
    if not is_memref(value.type):
        return [value]
    index, i64 = ir.IndexType.get(), ir.IntegerType.get_signless(64)
    base, offset, *rest = metadata(value, before).results
    address = create("memref.extract_aligned_pointer_as_index", [base], [index], before=before).results[0]
    number = index_cast(address, i64, before)
    offsets, sizes, strides = _open_places(value.type)
    rank = len(shape_of(value.type))
    return [number, *[offset] * len(offsets), *(rest[i] for i in sizes), *(rest[rank + i] for i in strides)]


def put_together(kind: ir.Type, numbers: Sequence[ir.Value], before: ir.Operation) -> ir.Value:
    """The value of a type that was passed as these numbers, in front of an op."""
    if not is_memref(kind):
        return numbers[0]
    shape, (strides, offset) = shape_of(kind), layout_of(kind)
    first, *rest = numbers
    pointer, left = element_at(first, cast(Any, kind).element_type, before), iter(rest)
    begin, sizes, apart = (with_values(entries, left) for entries in ([offset], shape, strides))
    return sliced("memref.reinterpret_cast", [pointer], kind, begin, sizes, before, strides=apart)


def _open_places(kind: ir.Type) -> tuple[list[int], list[int], list[int]]:
    """Which of the offset, the sizes and the strides of a memref its type leaves open."""
    strides, offset = layout_of(kind)
    return ([0] if offset is None else []), _unknown(shape_of(kind)), _unknown(strides)


def _unknown(entries: Sequence[int | None]) -> list[int]:
    return [place for place, entry in enumerate(entries) if entry is None]


def metadata(memref: ir.Value, before: ir.Operation) -> ir.Operation:
    """The base of a memref, its offset, sizes and strides, as an op in front of another one."""
    rank, index = len(shape_of(memref.type)), ir.IndexType.get()
    base = ir.MemRefType.get([], cast(Any, memref.type).element_type)
    return create(METADATA, [memref], [base, *[index] * (1 + 2 * rank)], before=before)


def element_at(address: ir.Value, element: ir.Type, before: ir.Operation) -> ir.Value:
    """An element in memory at an address, an `i64`."""
    pointer, struct = ir.Type.parse("!llvm.ptr"), ir.Type.parse("!llvm.struct<(ptr, ptr, i64)>")
    i64 = ir.IntegerType.get_signless(64)
    at = create("llvm.inttoptr", [address], [pointer], before=before).results[0]
    zero = create("llvm.mlir.constant", [], [i64], {"value": ir.IntegerAttr.get(i64, 0)}, before=before).results[0]
    descriptor = create("llvm.mlir.poison", [], [struct], before=before).results[0]
    for position, value in enumerate((at, at, zero)):
        where = {"position": ir.DenseI64ArrayAttr.get([position])}
        descriptor = create("llvm.insertvalue", [descriptor, value], [struct], where, before=before).results[0]
    result = ir.MemRefType.get([], element)
    return create(UNREALIZED_CAST, [descriptor], [result], before=before).results[0]


def table_entry(table: ir.Value, place: int, before: ir.Operation) -> ir.Value:
    """An entry of a table of addresses or numbers, an `i64`."""
    i64 = ir.IntegerType.get_signless(64)
    return create("memref.load", [table, index_constant(place, before)], [i64], before=before).results[0]
