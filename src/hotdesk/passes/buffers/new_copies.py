"""New memory with the contents of a memref, as the same type.

    %c = memref.alloc() : memref<8xf32>; memref.copy %v, %c

What a type says of its layout holds of the copy too. Strides and an offset that it leaves open are such that no two elements
meet. Of a `memref<4xf32, strided<[1], offset: 4>>`:

    %m = memref.alloc() : memref<8xf32>
    %c = memref.reinterpret_cast %m to offset: [4], sizes: [4], strides: [1]; memref.copy %v, %c
"""

from __future__ import annotations

from typing import Any

from hotdesk._bindings import ir
from hotdesk.errors import BufferizationError
from hotdesk.ir.building import alloc, cast_to, create, dim, dynamic_dims, index_constant, sliced
from hotdesk.ir.locations import python_line
from hotdesk.ir.types import DYNAMIC, is_memref, layout_of, memref_of, row_major, shape_of, static_entries
from hotdesk.ir.walking import made_by
from hotdesk.models.memref import CAST

_Index = int | ir.Value


def copy_of(value: ir.Value, before: ir.Operation) -> ir.Value:
    """The copy, made in front of an op; what is cast to a memref without a rank is copied with it.

    Raises:
        BufferizationError: the rank of the memref is not known, or its layout is a map of symbols.
    """
    if not is_memref(value.type):
        made = made_by(value, CAST)
        if made is not None and is_memref(made.operands[0].type):
            return create("memref.cast", [copy_of(made.operands[0], before)], [value.type], before=before).results[0]
        raise BufferizationError(
            f"memory that `{before.name}` passes on",
            expected="memory that this function owns, or a memref with a rank, which can be copied",
            got=f"somebody else's in a {value.type}, on some way at least",
            where=python_line(before.location),
            hint="give it a rank by memref.cast and pass that on, or do not pass it on; a private function may return what it "
            "does not own with private-function-dynamic-ownership=true",
        )
    new, shown = _like(value, before)
    create("memref.copy", [value, new], [], before=before)
    return shown


def _like(value: ir.Value, before: ir.Operation) -> tuple[ir.Value, ir.Value]:
    """New memory for a copy, and that as the type of a memref."""
    kind: Any = value.type
    plain, rows = memref_of(kind), row_major(shape_of(kind))
    try:
        strides, offset = layout_of(kind)
    except RuntimeError:  # a map without strides
        if kind.affine_map.n_symbols:
            raise BufferizationError(
                f"memory that `{before.name}` passes on and that is copied",
                expected="a layout that is known",
                got=str(kind),
                where=python_line(before.location),
            ) from None
        new = alloc(kind, dynamic_dims(value, before), before)
        return new, new
    if offset in (None, 0) and all(stride in (None, row) for stride, row in zip(strides, rows, strict=True)):
        new = alloc(plain, dynamic_dims(value, before), before)
    else:
        new = _laid_out(value, strides, offset, before)
    return new, cast_to(new, kind, before)


def _laid_out(value: ir.Value, strides: tuple[int | None, ...], offset: int | None, before: ir.Operation) -> ir.Value:
    """New memory with the sizes of a memref, these strides and this offset."""
    kind: Any = value.type
    sizes: list[_Index] = [dim(value, i, before) if s is None else s for i, s in enumerate(shape_of(kind))]
    span: _Index = 1
    below: _Index = 0
    for size, stride in zip(sizes, strides, strict=True):
        if stride is not None:
            reach = _product(_sum(size, -1, before), abs(stride), before)
            span = _sum(span, reach, before)
            below = _sum(below, reach, before) if stride < 0 else below
    steps: list[_Index] = [0 if stride is None else stride for stride in strides]
    for i in reversed(range(len(sizes))):
        if strides[i] is None:
            steps[i], span = span, _product(span, sizes[i], before)
    start = below if offset is None else offset
    count = _at_least_none(_sum(start, span, before), before)
    row = ir.MemRefType.get(
        [DYNAMIC if isinstance(count, ir.Value) else count], kind.element_type, memory_space=kind.memory_space
    )
    memory = alloc(row, [count] if isinstance(count, ir.Value) else [], before)
    begin = _value(start, before) if offset is None else offset
    apart = [_value(step, before) if stride is None else stride for step, stride in zip(steps, strides, strict=True)]
    layout = ir.StridedLayoutAttr.get(static_entries([offset])[0], static_entries(strides))
    strided = ir.MemRefType.get(static_entries(shape_of(kind)), kind.element_type, layout, kind.memory_space)
    return sliced("memref.reinterpret_cast", [memory], strided, [begin], sizes, before, strides=apart)


def _value(index: _Index, before: ir.Operation) -> ir.Value:
    return index if isinstance(index, ir.Value) else index_constant(index, before)


def _sum(a: _Index, b: _Index, before: ir.Operation) -> _Index:
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if isinstance(a, int) and not a:
        return b
    return _combined("arith.addi", a, b, before)


def _product(a: _Index, b: _Index, before: ir.Operation) -> _Index:
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    return _combined("arith.muli", a, b, before)


def _at_least_none(count: _Index, before: ir.Operation) -> _Index:
    """A number of elements: less than none are none, where a size is 0."""
    return max(count, 0) if isinstance(count, int) else _combined("arith.maxsi", count, 0, before)


def _combined(how: str, a: _Index, b: _Index, before: ir.Operation) -> ir.Value:
    operands = [_value(a, before), _value(b, before)]
    return create(how, operands, [operands[0].type], before=before).results[0]
