"""What the ops of a function demand of sizes that are not known when it is compiled, as relations that each call must fulfil.

    linalg.add ins(%x, %y : tensor<?xf32>, tensor<?xf32>) …      dim 0 of %x = dim 0 of %y
    tensor.extract_slice %x[%o] [%s] [1]                         0 <= o, 0 <= s, o + s <= dim 0 of %x

MLIR leaves what happens otherwise undefined. Ops inside of control flow are not looked at: whether they run is not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import sympy

from hotdesk._bindings import indexing_maps, ir
from hotdesk.errors import InvalidIRError
from hotdesk.explain import Source
from hotdesk.ir.locations import python_line
from hotdesk.ir.sizes import Size, expand, is_opaque, product
from hotdesk.ir.symbolic import SymbolicSizes
from hotdesk.ir.types import is_memref, is_tensor, shape_of
from hotdesk.ir.walking import int_array, segment_sizes, top_level_ops
from hotdesk.passes.lower.function import SizeCheck

_algebra: Any = sympy  # SymPy's functions are not annotated
_SLICES = {"tensor.extract_slice": 0, "memref.subview": 0, "tensor.insert_slice": 1}
"""Ops on a part of a tensor, with the number of the operand that it is a part of."""
_ELEMENTS = {"tensor.extract": 0, "memref.load": 0, "tensor.insert": 1, "memref.store": 1}
"""Ops on an element, with the number of the operand that it is an element of."""


def size_checks(function: ir.Operation) -> tuple[SizeCheck, ...]:
    """The relations, each once and with the first op that demands it; what depends on data is left out.

    Raises:
        InvalidIRError: one holds for no sizes.
    """
    known = SymbolicSizes(function)
    found: dict[object, SizeCheck] = {}
    for op in top_level_ops(function):
        for relation, message in _demands(op, known):
            if relation is sympy.true or any(map(is_opaque, relation.free_symbols)):
                continue
            where = python_line(op.location)
            if relation is sympy.false:
                got = "sizes for which that never holds"
                raise InvalidIRError(f"op `{op.name}`", expected=message, got=got, where=where or None)
            found.setdefault(relation, SizeCheck(relation, f"`{op.name}`: {message}", Source(op.name, where)))
    return tuple(found.values())


def _demands(op: ir.Operation, known: SymbolicSizes) -> Iterator[tuple[Any, str]]:
    operands = list(op.operands)
    match op.name:
        case name if name.startswith("linalg."):
            yield from _loops(op, known)
        case name if name in _SLICES:
            yield from _slice(op, _SLICES[name], known)
        case name if name in _ELEMENTS:
            place = _ELEMENTS[name]
            for index, size in zip(operands[place + 1 :], known.shape(operands[place]), strict=False):
                yield from _inside(known.value(index), 1, 1, size)
        case "tensor.cast" | "memref.cast" if _is_shaped(operands[0].type) and _is_shaped(op.results[0].type):
            for size, static in zip(known.shape(operands[0]), shape_of(op.results[0].type), strict=True):
                if static is not None:
                    yield _equal(size, static)
        case "tensor.expand_shape" | "memref.expand_shape":
            made, source = known.shape(op.results[0]), known.shape(operands[0])
            for size, group in zip(source, cast(Any, op.attributes["reassociation"]), strict=True):
                yield _equal(size, product([made[i] for i in int_array(group)]))
        case "tensor.empty" | "memref.alloc" | "memref.alloca" | "tensor.pad" | "tensor.generate" | "tensor.splat":
            for size in known.shape(op.results[0]):
                yield _least(size, 0)
        case "memref.copy":
            for a, b in zip(known.shape(operands[0]), known.shape(operands[1]), strict=True):
                yield _equal(a, b)
        case "tensor.concat":
            axis, first = int(cast(Any, op.attributes["dim"]).value), known.shape(operands[0])
            for each in operands[1:]:
                pairs = enumerate(zip(first, known.shape(each), strict=True))
                yield from (_equal(a, b) for i, (a, b) in pairs if i != axis)
        case _:
            return


def _loops(op: ir.Operation, known: SymbolicSizes) -> Iterator[tuple[Any, str]]:
    """Operands of a structured op that have a dimension in common have it in one size; windows lie inside."""
    maps = indexing_maps(op) or ()
    extents: dict[int, Size] = {}
    later: list[tuple[ir.AffineExpr, Size]] = []
    for operand, each in zip(op.operands, maps, strict=False):
        if not _is_shaped(operand.type):
            continue
        for expression, size in zip(each.results, known.shape(operand), strict=True):
            if not isinstance(expression, ir.AffineDimExpr):
                later.append((expression, size))
            elif expression.position in extents:
                yield _equal(extents[expression.position], size)
            else:
                extents[expression.position] = size
    for expression, size in later:
        last = _last(expression, extents)
        if last is not None:
            is_empty = [_algebra.Eq(extents[i], 0) for i in sorted(extents)]
            yield _algebra.Or(_algebra.Lt(expand(last), size), *is_empty), "a window inside of its operand"


def _last(expression: Any, extents: dict[int, Size]) -> Any:
    """The greatest value of an affine expression without subtraction, with each loop at its last place; None if unknown."""
    if isinstance(expression, ir.AffineConstantExpr):
        return expression.value if expression.value >= 0 else None
    if isinstance(expression, ir.AffineDimExpr):
        return extents[expression.position] - 1 if expression.position in extents else None
    if isinstance(expression, (ir.AffineAddExpr, ir.AffineMulExpr)):
        left, right = _last(expression.lhs, extents), _last(expression.rhs, extents)
        if left is None or right is None:
            return None
        return left + right if isinstance(expression, ir.AffineAddExpr) else left * right
    return None


def _slice(op: ir.Operation, place: int, known: SymbolicSizes) -> Iterator[tuple[Any, str]]:
    counts, operands = segment_sizes(op), list(op.operands)
    starts = [sum(counts[:i]) for i in range(len(counts) + 1)]
    offsets, sizes, strides = (
        known.mixed(op.attributes[f"static_{name}"], operands[starts[-4 + i] : starts[-3 + i]])
        for i, name in enumerate(("offsets", "sizes", "strides"))
    )
    for offset, size, stride, whole in zip(offsets, sizes, strides, known.shape(operands[place]), strict=True):
        yield _least(size, 0)
        yield from _inside(offset, size, stride, whole)


def _inside(offset: Size, size: Size, stride: Size, whole: Size) -> Iterator[tuple[Any, str]]:
    """`size` elements from `offset` on, `stride` apart, lie within `whole`."""
    yield _least(offset, 0)
    yield _least(stride, 0)
    if all(isinstance(each, int) for each in (offset, size, stride, whole)):
        start, count, step, room = (cast(int, each) for each in (offset, size, stride, whole))
        fits = count == 0 or start + (count - 1) * step < room
        yield sympy.true if fits else sympy.false, "a place inside of its operand"
        return
    last = _algebra.Lt(expand(offset + (size - 1) * stride), whole)
    yield (last if size == 1 else _algebra.Or(last, _algebra.Eq(size, 0))), "a place inside of its operand"


def _equal(a: Size, b: Size) -> tuple[Any, str]:
    if isinstance(a, int) and isinstance(b, int):
        return sympy.true if a == b else sympy.false, "sizes that are one"
    return _algebra.Eq(expand(a), expand(b)), "sizes that are one"


def _least(size: Size, least: int) -> tuple[Any, str]:
    """A size or an offset that is not negative; symbols never are."""
    if isinstance(size, sympy.Symbol) or (isinstance(size, int) and size >= least):
        return sympy.true, ""
    return _algebra.Ge(size, least), f"no size below {least}"


def _is_shaped(kind: ir.Type) -> bool:
    return is_tensor(kind) or is_memref(kind)
