"""Which elements of a tensor an access is about, and whether two accesses can meet.

An extent is `WHOLE`, `UNKNOWN` (some of the elements) or a `Box`: for each dim an offset, a size and a stride, numbers or
expressions over symbolic sizes and index values. Boxes are compared in one *frame*: a class of tensors whose dims correspond.
Of a slice that is reshaped, a part is a box in the frame of the reshaped tensor, inside the box that is the slice. What cannot be
proven counts as meeting.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, TypeAlias

from hotdesk.analysis.tensors.program import NOT_A_TENSOR, TensorProgram
from hotdesk.graphs import DisjointSets
from hotdesk.models.tensor import CAST
from hotdesk.sizes.expressions import expand
from hotdesk.sizes.proofs import SizeProver
from hotdesk.sizes.size import Size


class Vague(Enum):
    """Extents without dims."""

    WHOLE = "whole"
    UNKNOWN = "unknown"


WHOLE, UNKNOWN = Vague.WHOLE, Vague.UNKNOWN
_RESHAPED = -1


@dataclass(frozen=True, slots=True)
class Box:
    """A slice of the tensors of a frame.

    Attributes:
        frame: what it is a slice of.
        dims: offset, size and stride of each dim.
        kept: the dims that tensors which are this slice have.
        inside: the frame of these tensors, or `_RESHAPED`: they have other dims, and parts of them are parts of all its elements.
        scalars: numbers of the ops that define its index values; inside a loop they may differ between iterations.
        around: the slice that it is a slice of, where that tells more: it lies in there, wherever it begins.
        part: the elements that are meant, as a box in the frame of the slice reshaped; None if all of them are.
    """

    frame: int
    dims: tuple[tuple[Size, Size, Size], ...]
    kept: tuple[int, ...]
    inside: int = field(compare=False)
    scalars: frozenset[int] = frozenset()
    around: Box | None = field(default=None, compare=False)
    part: Box | None = None


Extent: TypeAlias = "Vague | Box"


def within(outer: Extent, inner: Extent) -> Extent:
    """The part `inner` of the tensors that are the part `outer` of a frame."""
    if inner is WHOLE:
        return outer
    if outer is WHOLE:
        return inner
    if not (isinstance(outer, Box) and isinstance(inner, Box)):
        return UNKNOWN
    if outer.inside == _RESHAPED:
        part = inner if outer.part is None else within(outer.part, inner)
        whole = replace(outer, part=None)
        scalars = outer.scalars | inner.scalars
        return replace(outer, scalars=scalars, around=whole, part=part) if isinstance(part, Box) else UNKNOWN
    if outer.inside == inner.frame:
        dims = list(outer.dims)
        for position, (offset, size, stride) in zip(outer.kept, inner.dims, strict=True):
            start, _, step = dims[position]
            dims[position] = (expand(start + offset * step), size, expand(step * stride))
        kept = tuple(outer.kept[i] for i in inner.kept)
        scalars = outer.scalars | inner.scalars
        known = not scalars and all(isinstance(entry, int) for dim in dims for entry in dim)
        return Box(outer.frame, tuple(dims), kept, inner.inside, scalars, None if known else outer, inner.part)
    return UNKNOWN


def reshaped(extent: Extent) -> Extent:
    """The elements of an extent, of which tensors with other dims are made, in the same order."""
    if not isinstance(extent, Box):
        return extent
    part = reshaped(extent.part) if extent.part is not None else None
    assert part is None or isinstance(part, Box)
    return replace(extent, inside=_RESHAPED, part=part)


def seen_from(outer: Extent, inner: Extent, frame: int) -> Extent:
    """What `inner`, of a tensor, is of the tensors in `frame` that are its part `outer`; may reach beyond them."""
    if outer is WHOLE:
        return inner
    if not (isinstance(outer, Box) and isinstance(inner, Box)) or (outer.frame, outer.inside) != (inner.frame, frame):
        return WHOLE
    if any(outer.dims[position][2] != 1 for position in outer.kept):
        return WHOLE
    dims = tuple(
        (expand(inner.dims[position][0] - outer.dims[position][0]), *inner.dims[position][1:])
        for position in outer.kept
    )
    kept = tuple(i for i, position in enumerate(outer.kept) if position in inner.kept)
    part = inner.part if len(dims) == len(inner.dims) else None
    return Box(frame, dims, kept, inner.inside, outer.scalars | inner.scalars, part=part)


def same(a: Extent, b: Extent) -> bool:
    """Whether two extents are provably the same elements."""
    if isinstance(a, Box) and isinstance(b, Box):
        return _same_slice(a, b) and a.part == b.part
    return a is b is WHOLE


def shifted(a: Extent, b: Extent) -> bool:
    """Whether two extents are provably slices of the same sizes and strides, which are positive numbers, wherever each begins."""
    if not (isinstance(a, Box) and isinstance(b, Box)) or a.frame != b.frame or (a.part, b.part) != (None, None):
        return False
    forward = all(isinstance(step, int) and step > 0 for _, _, step in a.dims)
    return forward and all(x[1:] == y[1:] for x, y in zip(a.dims, b.dims, strict=True))


def disjoint(a: Extent, b: Extent) -> bool:
    """Whether two extents provably have no element in common."""
    if not (isinstance(a, Box) and isinstance(b, Box)) or a.frame != b.frame:
        return False
    if a.part is not None and b.part is not None and _same_slice(a, b) and disjoint(a.part, b.part):
        return True
    return any(
        _apart(*pair) for x in slices_around(a) for y in slices_around(b) for pair in zip(x.dims, y.dims, strict=True)
    )


def covers(outer: Extent, inner: Extent) -> bool:
    """Whether every element of `inner` is provably one of `outer`."""
    if outer is WHOLE or same(outer, inner):
        return True
    if not (isinstance(outer, Box) and isinstance(inner, Box)) or outer.frame != inner.frame:
        return False
    if outer.part is not None:
        return inner.part is not None and _same_slice(outer, inner) and covers(outer.part, inner.part)
    return any(
        all(_contains(*pair) for pair in zip(outer.dims, each.dims, strict=True)) for each in slices_around(inner)
    )


def slices_around(box: Box) -> Iterator[Box]:
    """A box, the slice that it is a slice of, and so on."""
    each: Box | None = box
    while each is not None:
        yield each
        each = each.around


def _same_slice(a: Box, b: Box) -> bool:
    """Whether two boxes are one slice, of which parts may be meant."""
    return a.frame == b.frame and a.dims == b.dims


def moves(extent: Extent | None, again: range) -> bool:
    """Whether an extent depends on what ops compute of which those numbered in a range have run again."""
    return isinstance(extent, Box) and any(scalar in again for scalar in extent.scalars)


def steady(extent: Extent, again: range) -> Extent:
    """The least known part around an extent that does not depend on what has run again."""
    if not isinstance(extent, Box):
        return extent
    return next((each for each in slices_around(extent) if not moves(each, again)), UNKNOWN)


def _apart(a: tuple[Any, Any, Any], b: tuple[Any, Any, Any]) -> bool:
    if 0 in (a[1], b[1]):
        return True
    sizes = SizeProver()
    if not all(sizes.is_never_less(step, 0) for _, _, step in (a, b)):
        return False
    (first, size, step), (second, length, stride) = a, b
    if sizes.is_never_less(second, first + _span(size, step)) or sizes.is_never_less(
        first, second + _span(length, stride)
    ):
        return True
    distance: Any = expand(first - second)
    return step == stride and isinstance(step, int) and isinstance(distance, int) and step > 1 and bool(distance % step)


def _span(size: Size, step: Size) -> Size:
    """The distance from the first element to just after the last one; the step is not negative."""
    return expand((size - 1) * step + 1)


def _contains(a: tuple[Any, Any, Any], b: tuple[Any, Any, Any]) -> bool:
    (first, size, step), (second, length, stride) = a, b
    if (first, size, step) == (second, length, stride):
        return True
    sizes = SizeProver()
    return (
        bool(step == 1)
        and sizes.is_never_less(stride, 0)
        and sizes.is_never_less(second, first)
        and sizes.is_never_less(first + size, second + _span(length, stride))
    )


def frames_of(function: TensorProgram) -> list[int]:
    """Classes of values whose dims correspond: an op's destination and result, what is cast, and what is passed on."""
    classes = DisjointSets(len(function.values))
    for a, b in _corresponding(function):
        if NOT_A_TENSOR not in (a, b):
            classes.unite(b, a)
    return [classes.find(value) for value in range(len(function.values))]


def _corresponding(function: TensorProgram) -> Iterator[tuple[int, int]]:
    for op in function.ops:
        pairs = (*op.facts.ties, *op.facts.choices, *(op.facts.views if op.name == CAST else ()))
        yield from ((op.operands[operand], op.results[result]) for operand, result in pairs)
    yield from ((edge.source, edge.target) for edge in (*function.flows, *function.shown))
