"""What ops demand of sizes and places, as records; whoever reads one says what its numbers are: expressions, or values.

    linalg.add ins(%x, %y : tensor<?xf32>, tensor<?xf32>) …      dim 0 of %x = dim 0 of %y
    tensor.extract_slice %x[%o] [%s] [1]                         0 <= o, 0 <= s, o + s <= dim 0 of %x
    arith.divsi %n, %d                                           d != 0

MLIR leaves what happens otherwise undefined.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from hotdesk._bindings import indexing_maps, ir
from hotdesk.ir.divisions import BY_ZERO, may_fail
from hotdesk.ir.shapes import stated_sizes
from hotdesk.ir.types import DYNAMIC, is_memref, is_tensor, kept_dims, shape_of
from hotdesk.ir.walking import int_array, integer_of, segment_sizes
from hotdesk.models.memref import LOAD, STORE, SUBVIEW
from hotdesk.models.new_memory import REALLOC
from hotdesk.models.tensor_slices import EXTRACT_SLICE, INSERT_SLICE


@dataclass(frozen=True, slots=True)
class Dim:
    """A dimension of a tensor or memref that its type leaves open."""

    of: ir.Value
    position: int


Number: TypeAlias = "int | ir.Value | Dim"


@dataclass(frozen=True, slots=True)
class Equal:
    """A number is the product of others."""

    number: Number
    factors: tuple[Number, ...]
    message: str = "sizes that are one"


@dataclass(frozen=True, slots=True)
class SameCount:
    """Two shapes have equally many elements."""

    before: tuple[Number, ...]
    after: tuple[Number, ...]
    message: str = "as many elements as before"


@dataclass(frozen=True, slots=True)
class NotNegative:
    """A number is none below 0."""

    number: Number
    message: str = "no size below 0"


@dataclass(frozen=True, slots=True)
class Inside:
    """`size` elements from `offset` on, `stride` apart, lie within `whole`; none of the four is negative."""

    offset: Number
    size: Number
    stride: Number
    whole: Number
    message: str = "a place inside of its operand"


@dataclass(frozen=True, slots=True)
class Window:
    """An affine expression of loops, each at its last place, lies within `whole`; or a loop has no places."""

    last: ir.AffineExpr
    extents: Mapping[int, Number]
    whole: Number
    message: str = "a window inside of its operand"


@dataclass(frozen=True, slots=True)
class Divides:
    """A division of integers has a quotient, as `ir.divisions` says of the op."""

    op: ir.Operation
    message: str = BY_ZERO


Demand: TypeAlias = Equal | SameCount | NotNegative | Inside | Window | Divides

_SLICES = {EXTRACT_SLICE: 0, SUBVIEW: 0, INSERT_SLICE: 1, "tensor.parallel_insert_slice": 1}
"""Ops on a part of a tensor, with the number of the operand that it is a part of."""
_ELEMENTS = {
    "tensor.extract": 0,
    LOAD: 0,
    "tensor.insert": 1,
    STORE: 1,
    "memref.atomic_rmw": 1,
    "memref.generic_atomic_rmw": 0,
}
"""Ops on an element, with the number of the operand that it is an element of."""
_MADE = ("tensor.empty", "tensor.generate", "tensor.splat", "memref.alloc", "memref.alloca", REALLOC)
"""Ops that are given the sizes of what they make."""


def demands(op: ir.Operation) -> Iterator[Demand]:
    """What an op demands that its types do not say."""
    operands = list(op.operands)
    match op.name:
        case name if name.startswith("linalg."):
            yield from _loops(op)
        case name if name in _SLICES:
            yield from _slice(op, _SLICES[name])
        case name if name in _ELEMENTS:
            place = _ELEMENTS[name]
            for index, size in zip(operands[place + 1 :], dims(operands[place]), strict=False):
                yield Inside(index, 1, 1, size)
        case "vector.load" | "vector.store":
            yield from _vector(op)
        case "vector.transfer_read" | "vector.transfer_write":
            yield from _transfer(op)
        case "tensor.cast" | "memref.cast" if _is_shaped(operands[0].type) and _is_shaped(op.results[0].type):
            for size, static in zip(dims(operands[0]), shape_of(op.results[0].type), strict=True):
                if static is not None:
                    yield Equal(size, (static,))
        case "tensor.expand_shape" | "memref.expand_shape":
            made = _mixed(op.attributes["static_output_shape"], operands[1:])
            yield from (NotNegative(size) for size in made)
            for size, group in zip(dims(operands[0]), cast(Any, op.attributes["reassociation"]), strict=True):
                yield Equal(size, tuple(made[i] for i in int_array(group)))
        case "tensor.reshape" if _is_shaped(operands[0].type) and _is_shaped(op.results[0].type):
            sizes = [each for each in stated_sizes(op) if each is not None]
            yield from (NotNegative(each) for each in sizes)
            if len(sizes) == len(shape_of(op.results[0].type)):
                yield SameCount(tuple(dims(operands[0])), tuple(sizes))
        case "tensor.pad":
            yield from (NotNegative(each) for each in operands[1:])
        case name if name in _MADE:
            yield from (NotNegative(each) for each in operands if isinstance(each.type, ir.IndexType))
        case "memref.copy":
            for a, b in zip(dims(operands[0]), dims(operands[1]), strict=True):
                yield Equal(a, (b,))
        case "tensor.concat":
            axis, first = integer_of(op, "dim"), dims(operands[0])
            for each in operands[1:]:
                pairs = enumerate(zip(first, dims(each), strict=True))
                yield from (Equal(a, (b,)) for i, (a, b) in pairs if i != axis)
        case _ if may_fail(op):
            yield Divides(op)
        case _:
            return


def dims(value: ir.Value) -> list[Number]:
    """The sizes of a tensor or memref."""
    return [Dim(value, i) if size is None else size for i, size in enumerate(shape_of(value.type))]


def _loops(op: ir.Operation) -> Iterator[Demand]:
    """Operands of a structured op that have a dimension in common have it in one size; windows lie inside."""
    extents: dict[int, Number] = {}
    later: list[tuple[ir.AffineExpr, Number]] = []
    for operand, each in zip(op.operands, indexing_maps(op) or (), strict=False):
        if not _is_shaped(operand.type):
            continue
        for expression, size in zip(each.results, dims(operand), strict=True):
            if not isinstance(expression, ir.AffineDimExpr):
                later.append((expression, size))
            elif expression.position in extents:
                yield Equal(extents[expression.position], (size,))
            else:
                extents[expression.position] = size
    yield from (Window(expression, extents, size) for expression, size in later if _is_followed(expression, extents))


def _is_followed(expression: Any, extents: Mapping[int, Number]) -> bool:
    """Whether an affine expression grows with each of its loops, so that it is greatest at their last places."""
    if isinstance(expression, ir.AffineConstantExpr):
        return expression.value >= 0
    if isinstance(expression, ir.AffineDimExpr):
        return expression.position in extents
    if isinstance(expression, (ir.AffineAddExpr, ir.AffineMulExpr)):
        return _is_followed(expression.lhs, extents) and _is_followed(expression.rhs, extents)
    return False


def _slice(op: ir.Operation, place: int) -> Iterator[Demand]:
    counts, operands = segment_sizes(op), list(op.operands)
    starts = [sum(counts[:i]) for i in range(len(counts) + 1)]
    offsets, sizes, strides = (
        _mixed(op.attributes[f"static_{name}"], operands[starts[-4 + i] : starts[-3 + i]])
        for i, name in enumerate(("offsets", "sizes", "strides"))
    )
    for offset, size, stride, whole in zip(offsets, sizes, strides, dims(operands[place]), strict=True):
        yield NotNegative(size)
        yield Inside(offset, size, stride, whole)
    if place:  # what is put there has the sizes of its place
        put = operands[0]
        for kept, size in zip(kept_dims(sizes, shape_of(put.type)), dims(put), strict=True):
            yield Equal(size, (sizes[kept],))


def _vector(op: ir.Operation) -> Iterator[Demand]:
    """A vector is the elements from a place on, in the last dimensions."""
    place = 0 if op.name == "vector.load" else 1
    vector = op.results[0].type if place == 0 else op.operands[0].type
    memref = op.operands[place]
    lengths = [int(n) for n in cast(Any, vector).shape]
    sizes = dims(memref)
    lengths = [1] * (len(sizes) - len(lengths)) + lengths
    for index, length, size in zip(list(op.operands)[place + 1 :], lengths, sizes, strict=False):
        yield Inside(index, length, 1, size)


def _transfer(op: ir.Operation) -> Iterator[Demand]:
    """A transfer masks what lies behind the end, where it does not say that nothing does."""
    place = 0 if op.name == "vector.transfer_read" else 1
    vector = op.results[0].type if place == 0 else op.operands[0].type
    lengths = [int(n) for n in cast(Any, vector).shape]
    ways = {
        each.position: (length, bool(is_inside.value))
        for each, length, is_inside in zip(
            cast(Any, op.attributes["permutation_map"]).value.results,
            lengths,
            cast(Any, op.attributes["in_bounds"]),
            strict=True,
        )
        if isinstance(each, ir.AffineDimExpr)
    }
    sizes = dims(op.operands[place])
    for position, (index, size) in enumerate(zip(list(op.operands)[place + 1 :], sizes, strict=False)):
        length, is_inside = ways.get(position, (1, True))
        yield Inside(index, length, 1, size) if is_inside else NotNegative(index)


def _mixed(static: ir.Attribute, dynamic: Sequence[ir.Value]) -> list[Number]:
    """Numbers given as a static array with gaps that operands fill."""
    rest = iter(dynamic)
    return [next(rest) if entry == DYNAMIC else entry for entry in int_array(static)]


def _is_shaped(kind: ir.Type) -> bool:
    return is_tensor(kind) or is_memref(kind)
