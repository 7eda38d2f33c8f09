"""New memory of a type with a layout: elements at an offset, and apart, in a buffer that is large enough.

    memref<?xf32, strided<[1], offset: 3>>     ->     %m = memref.alloc(3 + %n) : memref<?xf32>
                                                      memref.reinterpret_cast %m to offset: [3], sizes: [%n], strides: [1]

What a type leaves open lies as it does in a row-major array without gaps, and begins where the buffer does.
"""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.ir.building import alloc, create, dim, index_constant, sliced
from hotdesk.ir.types import layout_of, memref_with, shape_of

_Index = int | ir.Value


def can_cast(source: ir.Type, kind: ir.Type) -> bool:
    """Whether a memref may be seen as another type of its shape: strides and offset are the same wherever both types say them."""
    (first, begin), (second, other) = layout_of(source), layout_of(kind)
    pairs = (*zip(first, second, strict=True), (begin, other))
    return all(a is None or b is None or a == b for a, b in pairs)


def alloc_laid_out(kind: ir.Type, like: ir.Value, op: ir.Operation) -> ir.Value:
    """A new buffer of a type with a layout and of the sizes of a memref, in front of `op`."""
    strides, offset = layout_of(kind)
    shape = shape_of(kind)
    sizes: list[_Index] = [dim(like, i, op) if size is None else size for i, size in enumerate(shape)]
    running: _Index = 1
    steps: list[_Index] = [1] * len(sizes)
    for i in reversed(range(len(sizes))):
        stride = strides[i]
        steps[i] = running if stride is None else stride
        running = _combined("arith.muli", steps[i], sizes[i], op)
    end: _Index = offset or 0
    for size, step in zip(sizes, steps, strict=True):
        end = _combined("arith.addi", end, _combined("arith.muli", size, step, op), op)
    whole = memref_with([end if isinstance(end, int) else None], kind)
    memory = alloc(whole, [] if isinstance(end, int) else [end], op)
    begin: _Index = index_constant(0, op) if offset is None else offset
    apart = [
        stride if stride is not None else index_constant(step, op) if isinstance(step, int) else step
        for step, stride in zip(steps, strides, strict=True)
    ]
    return sliced("memref.reinterpret_cast", [memory], kind, [begin], sizes, op, strides=apart)


def _combined(name: str, a: _Index, b: _Index, op: ir.Operation) -> _Index:
    if isinstance(a, int) and isinstance(b, int):
        return a * b if name == "arith.muli" else a + b
    neutral = 1 if name == "arith.muli" else 0
    for one, other in ((a, b), (b, a)):
        if isinstance(one, int) and one == neutral:
            return other
    left, right = (index_constant(each, op) if isinstance(each, int) else each for each in (a, b))
    return create(name, [left, right], [left.type], before=op).results[0]
