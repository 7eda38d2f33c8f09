"""Which concatenation (`tensor.concat`) is needed by nobody as a whole: each of its readers can take the operands one by one.

A reader is a `linalg.generic`, or a slice along the axis of the concatenation with such readers of its own. A slice within one
operand is a slice of that operand, whoever reads it. The concatenation goes away iff for every other reader

1. all loops are parallel, and one of them runs over the axis: it is a dimension of every operand whose map depends on it, and of
   every output (`not-a-permutation`, `not-elementwise`, `not-pure-tensors`);
2. the payload does not ask where it is along the axis (`linalg.index`) (`position-read`);
3. all stand in one block (`different-block`);

and

4. the operands' sizes along the axis are static (`size-not-static`);
5. they are not more than a given number, since each reader is made as often (`too-many-operands`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.locations import source_of
from hotdesk.ir.op_maps import OpMap
from hotdesk.ir.types import DYNAMIC, SLICE, is_tensor, shape_of
from hotdesk.ir.walking import int_array, integer_of, made_by, nested_ops, users
from hotdesk.models.generics import NUMBER, Generic, read_generic
from hotdesk.models.tensor_slices import EXTRACT_SLICE

_MIXED = -1


@dataclass(frozen=True, slots=True)
class Piece:
    """`size` elements along an axis, from `start` on: of a whole that is put together, those of `source` from `offset` on."""

    source: ir.Value
    offset: int
    start: int
    size: int

    @property
    def end(self) -> int:
        return self.start + self.size


@dataclass(frozen=True, slots=True)
class PieceReader:
    """An op that may be made once for each piece.

    Attributes:
        loop: the one over the axis.
        axes: for each operand its dimension that the loop runs over, if there is one.
        cuts: where along the loop pieces begin, and the end of the last one.
    """

    generic: Generic
    loop: int
    axes: tuple[int | None, ...]
    cuts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ConcatenationSplit:
    """How readers of a concatenation do without it.

    Attributes:
        slices: each with the one piece that it lies in.
        readers: those to be made once for each piece; none where one of them needs the whole.
        decision: what to tell about it; None where nobody but slices reads the concatenation.
    """

    slices: tuple[tuple[ir.Operation, Piece], ...]
    readers: tuple[PieceReader, ...]
    decision: Decision | None


def axis_of(concat: ir.Operation) -> int:
    return integer_of(concat, "dim")


def pieces_of(value: ir.Value, axis: int) -> tuple[Piece, ...]:
    """The pieces that a value is made of along an axis: those of a concatenation or of a slice of one, else itself.

    Nothing where its size is not static.
    """
    concat, part = made_by(value, "tensor.concat"), made_by(value, EXTRACT_SLICE)
    if concat is not None and axis_of(concat) == axis:
        sizes = [shape_of(operand.type)[axis] for operand in concat.operands]
        if None in sizes:
            return ()
        known = [size for size in sizes if size is not None]
        starts = accumulate(known, initial=0)
        return tuple(Piece(v, 0, at, n) for v, at, n in zip(concat.operands, starts, known, strict=False) if n)
    if part is not None and (window := _window(part, axis)) is not None:
        first, size = window
        return cut(pieces_of(part.operands[0], axis), first, first + size)
    size = shape_of(value.type)[axis]
    return () if size is None else (Piece(value, 0, 0, size),)


def find_split(concat: ir.Operation, most: int) -> ConcatenationSplit:
    """How the readers of a concatenation of at most `most` operands may do without it, or why they need it."""
    axis, whole = axis_of(concat), concat.results[0]
    if not pieces_of(whole, axis):
        return ConcatenationSplit((), (), _told(Outcome.NOT_FUSED, Reason.SIZE_NOT_STATIC, concat))
    slices: list[tuple[ir.Operation, Piece]] = []
    readers = OpMap[PieceReader]()
    refusal: Decision | None = None
    for value, user in _readers(whole, axis, slices):
        found = _reader(user, value, axis, readers.get(user)) if user.block == concat.block else Reason.DIFFERENT_BLOCK
        if isinstance(found, PieceReader) and len(found.cuts) - 1 > most:
            found = Reason.TOO_MANY_OPERANDS
        if isinstance(found, PieceReader):
            readers[user] = found
        elif refusal is None:
            refusal = _told(Outcome.NOT_FUSED, found, concat, user)
    if refusal is not None:
        return ConcatenationSplit(tuple(slices), (), refusal)
    told = _told(Outcome.FUSED, Reason.READ_IN_PARTS, concat, *readers) if readers else None
    return ConcatenationSplit(tuple(slices), tuple(readers.values()), told)


def _readers(
    value: ir.Value, axis: int, slices: list[tuple[ir.Operation, Piece]]
) -> Iterator[tuple[ir.Value, ir.Operation]]:
    """The readers of a value and of slices of it, each with what it reads; slices of one piece go to `slices`."""
    for user in users(value):
        if user.name != EXTRACT_SLICE:
            yield value, user
        elif (piece := _piece_around(user, pieces_of(value, axis), axis)) is not None:
            slices.append((user, piece))
        elif _window(user, axis) is not None:
            yield from _readers(user.results[0], axis, slices)
        else:
            yield value, user


def _reader(op: ir.Operation, value: ir.Value, axis: int, known: PieceReader | None) -> PieceReader | Reason:
    """`op` as a reader of `value`, and of what it is known to read; or why it cannot be made for each piece."""
    generic = read_generic(op)
    if generic is None or not all(generic.parallel):
        return Reason.NOT_ELEMENTWISE
    taken = [generic.maps[i].results[axis] for i, operand in enumerate(op.operands) if operand == value]
    loops = {_MIXED if not isinstance(each, ir.AffineDimExpr) else int(cast(Any, each).position) for each in taken}
    loops |= {known.loop} if known is not None else set()
    if len(loops) > 1 or _MIXED in loops:
        return Reason.NOT_A_PERMUTATION
    (loop,) = loops
    axes = tuple(_dimension(m, loop) for m in generic.maps)
    if _MIXED in axes or None in axes[generic.inputs :]:
        return Reason.NOT_A_PERMUTATION
    if any(_loop_asked(each) == loop for each in nested_ops(op)):
        return Reason.POSITION_READ
    if not all(axis is None or is_tensor(v.type) for v, axis in zip(op.operands, axes, strict=True)):
        return Reason.NOT_PURE_TENSORS
    pieces = pieces_of(value, axis)
    cuts = {*(known.cuts if known is not None else ()), *(piece.start for piece in pieces), pieces[-1].end}
    return PieceReader(generic, loop, axes, tuple(sorted(cuts)))


def _dimension(affine_map: ir.AffineMap, loop: int) -> int | None:
    """The dimension of an operand that a loop runs over; None if none depends on the loop, `_MIXED` if otherwise."""
    depending = [i for i, each in enumerate(affine_map.results) if re.search(rf"\bd{loop}\b", str(each))]
    if not depending:
        return None
    plain = len(depending) == 1 and isinstance(affine_map.results[depending[0]], ir.AffineDimExpr)
    return depending[0] if plain else _MIXED


def _loop_asked(op: ir.Operation) -> int | None:
    return integer_of(op, "dim") if op.name == NUMBER else None


def _piece_around(op: ir.Operation, pieces: Sequence[Piece], axis: int) -> Piece | None:
    """The piece that all elements of a slice lie in."""
    first, size, step = (int_array(op.attributes[name])[axis] for name in SLICE)
    if DYNAMIC in (first, size, step) or size == 0:
        return None
    last = first + (size - 1) * step
    return next((piece for piece in pieces if piece.start <= min(first, last) and max(first, last) < piece.end), None)


def _window(op: ir.Operation, axis: int) -> tuple[int, int] | None:
    """Offset and size of a slice along an axis, if it takes every other dimension whole."""
    offsets, sizes, steps = (int_array(op.attributes[name]) for name in SLICE)
    source = shape_of(op.operands[0].type)
    if len(source) != len(shape_of(op.results[0].type)) or DYNAMIC in (offsets[axis], sizes[axis]) or sizes[axis] == 0:
        return None
    others = [i for i in range(len(source)) if i != axis]
    whole = all(offsets[i] == 0 and sizes[i] == source[i] for i in others)
    return (offsets[axis], sizes[axis]) if whole and all(step == 1 for step in steps) else None


def cut(pieces: Iterable[Piece], first: int, last: int) -> tuple[Piece, ...]:
    """The pieces from element `first` on and before `last`, counted from `first`."""
    found: list[Piece] = []
    for piece in pieces:
        start, end = max(piece.start, first), min(piece.end, last)
        if start < end:
            found.append(Piece(piece.source, piece.offset + start - piece.start, start - first, end - start))
    return tuple(found)


def _told(outcome: Outcome, reason: Reason, *because: ir.Operation) -> Decision:
    sources = tuple(source_of(op) for op in because)
    return Decision("result of tensor.concat", outcome, reason, sources)
