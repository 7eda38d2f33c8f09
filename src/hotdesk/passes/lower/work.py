"""What a kernel call computes and moves, counted where its kernel is chosen: what a profile divides by time.

Operations are those on floats that the op asks for, however its kernel computes them: a multiplication and an addition for each
product of a contraction (`hotdesk.contract`) or a convolution (`hotdesk.conv`), padding included, zeros between the elements of
a transposed one not; one for each element of a window of a pooling (`hotdesk.pool`); for each score of an attention
(`hotdesk.attention`) those of both products, of its region and four of the softmax;
for a structured op, the operations of its region on floats in each iteration, an `exp` counting as one. Bytes are those of the
elements of its memrefs, each once if it is read and once if it is written; scratch memory does not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import cast

from hotdesk._bindings import indexing_maps, ir
from hotdesk.ir.types import element_bytes, is_memref
from hotdesk.ir.walking import int_array, nested_ops
from hotdesk.models.convolution import convolution_of
from hotdesk.models.generics import is_linalg
from hotdesk.models.hotdesk import ATTENTION, FOREIGN, foreign_groups, letters_of, scratch_operands
from hotdesk.models.linalg import inputs_of
from hotdesk.models.registry import model_of
from hotdesk.passes.lower.views import MemrefPlaces, ResolvedMemref
from hotdesk.sizes.size import Size


@dataclass(frozen=True, slots=True)
class Work:
    """What one call of a kernel does.

    Attributes:
        operands: element type and sizes of each memref of the op, what it writes last.
        operations: on floats.
        read, written: bytes.
    """

    operands: tuple[tuple[str, tuple[Size, ...]], ...]
    operations: Size
    read: Size
    written: Size


def work_of(op: ir.Operation, places: MemrefPlaces) -> Work:
    """The work of an op on memrefs that is to be a kernel call."""
    own = list(op.operands)[: -scratch_operands(op) or None]
    memrefs = {number: places.of(value) for number, value in enumerate(own) if is_memref(value.type)}
    written = _written(op, len(own))
    model = model_of(op.name)
    read = frozenset(memrefs) if model is None else model.facts(op).reads
    return Work(
        tuple((place.element, place.sizes) for place in memrefs.values()),
        _operations(op, memrefs),
        sum(_bytes(place) for number, place in memrefs.items() if number in read),
        sum(_bytes(place) for number, place in memrefs.items() if number in written),
    )


def _written(op: ir.Operation, count: int) -> range:
    if op.name == FOREIGN:
        return range(count - foreign_groups(op)[2], count)
    if is_linalg(op):
        return range(inputs_of(op), count)
    if "operandSegmentSizes" in op.attributes and op.name != ATTENTION:
        return range(int_array(op.attributes["operandSegmentSizes"])[0], count)
    return range(count - 1, count)


def _bytes(place: ResolvedMemref) -> Size:
    """Of the different elements of a view: one that is repeated counts once."""
    sizes = [size for size, stride in zip(place.sizes, place.strides, strict=True) if stride != 0]
    return prod(sizes) * element_bytes(place.element)


def _operations(op: ir.Operation, memrefs: dict[int, ResolvedMemref]) -> Size:
    match op.name:
        case "hotdesk.contract":
            return 2 * prod(_lettered(op, memrefs).values())
        case "hotdesk.attention":
            sizes = _lettered(op, memrefs)
            summed, columns = sizes.pop("d"), sizes.pop("e")
            return prod(size for c, size in sizes.items() if c != "1") * (2 * (summed + columns) + _float_ops(op) + 4)
        case "hotdesk.conv":
            said = convolution_of(op)
            x, w, y = (memrefs[number].sizes for number in range(3))
            if said.sliding.transposed:  # each element of the input meets each tap of each filter of its group
                return 2 * prod(x) * (cast(int, w[0]) // said.groups) * prod(w[2:])
            return 2 * prod(y) * prod(w[1:])
        case "hotdesk.pool":
            return prod(memrefs[1].sizes) * prod(int_array(op.attributes["window"]))
        case _:
            return _float_ops(op) * _iterations(op, memrefs)


def _lettered(op: ir.Operation, memrefs: dict[int, ResolvedMemref]) -> dict[str, Size]:
    """The size that each letter in the equation of an op stands for."""
    return {c: size for i, names in enumerate(letters_of(op)) for c, size in zip(names, memrefs[i].sizes, strict=True)}


def _float_ops(op: ir.Operation) -> int:
    """The ops of its region that take floats and give floats of the same type: arithmetic, not conversions or comparisons."""
    return sum(
        _is_arithmetic([*(operand.type for operand in nested.operands), *(result.type for result in nested.results)])
        for nested in nested_ops(op)
        if len(nested.operands) and len(nested.results) == 1
    )


def _is_arithmetic(types: Sequence[ir.Type]) -> bool:
    return isinstance(types[0], ir.FloatType) and all(kind == types[0] for kind in types)


def _iterations(op: ir.Operation, memrefs: dict[int, ResolvedMemref]) -> Size:
    """The iterations of a structured op, each loop as long as a dim that it alone runs through; 0 if it has no maps."""
    maps = indexing_maps(op) if is_linalg(op) else None
    if maps is None:
        return 0
    loops: dict[int, Size] = {}
    for number, place in memrefs.items():
        for expression, size in zip(maps[number].results, place.sizes, strict=True):
            if isinstance(expression, ir.AffineDimExpr):
                loops.setdefault(expression.position, size)
    return prod(loops.values())
