"""Halos: what each part of operations that are done in parts makes and reads, where windows make parts overlap.

Of an output, every part makes a share of its own, and what the part needs of it besides; of what stays inside, what the readers
in that part need. So an operation may make some elements for two parts: that is computed twice, and is the price. Shares are
equal but for the last, so most parts are equal too, where no padding is near: they differ in where they lie alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from hotdesk._bindings import ir
from hotdesk.analysis.order.axes import Axis
from hotdesk.analysis.order.splitting import Split, SplitOp
from hotdesk.ir.types import element_bytes, element_of, shape_of

Span = tuple[int, int]
"""The first element along an axis and the one behind the last."""


@dataclass(frozen=True, slots=True)
class SplitPart:
    """What one part makes: for each result its elements along its axis."""

    made: Mapping[ir.Value, Span]

    def loop(self, op: SplitOp) -> Span:
        """The units that an operation makes in this part."""
        begin, end = self.made[op.operation.results[0]]
        unit = op.results[0].unit
        return begin // unit, end // unit

    def read(self, op: SplitOp, operand: int) -> Span:
        """The elements along its axis that an operation needs of an operand of which it needs a part."""
        axis, window = op.operands[operand], op.windows[operand]
        assert axis is not None
        first, end = self.loop(op)
        return (first * axis.unit, end * axis.unit) if window is None else window.elements(first, end)


@dataclass(frozen=True, slots=True)
class EqualParts:
    """Parts one behind the other that differ in where they lie alone, each as far from the one before."""

    parts: tuple[SplitPart, ...]

    @property
    def first(self) -> SplitPart:
        return self.parts[0]

    def made_step(self, value: ir.Value) -> int:
        """How many elements lie between the beginnings of what two of them make of a result."""
        return self.parts[1].made[value][0] - self.first.made[value][0] if len(self.parts) > 1 else 0

    def read_step(self, op: SplitOp, operand: int) -> int:
        """The same of what they need of an operand."""
        return self.parts[1].read(op, operand)[0] - self.first.read(op, operand)[0] if len(self.parts) > 1 else 0


def parts_of(split: Split, count: int) -> tuple[SplitPart, ...] | None:
    """At most so many parts, of the fewest units each; None if one of them would read nothing but padding."""
    band = -(-split.units // min(count, split.units))
    parts = tuple(_part(split, first, min(first + band, split.units)) for first in range(0, split.units, band))
    reads = (part.read(op, i) for part in parts for op in split.ops for i, window in enumerate(op.windows) if window)
    return parts if all(first < end for first, end in reads) else None


def equal_parts(split: Split, parts: Sequence[SplitPart]) -> list[EqualParts]:
    """The parts in order, those together that are equal."""
    found: list[list[SplitPart]] = []
    shape: list[Span | None] = []
    place: list[int] = []
    steps: list[int] = []
    for part in parts:
        shape_before, place_before = shape, place
        shape, place = _shape(split, part), _place(split, part)
        apart = [now - before for now, before in zip(place, place_before, strict=False)]
        if found and shape == shape_before and (len(found[-1]) == 1 or apart == steps):
            found[-1].append(part)
        else:
            found.append([part])
        steps = apart
    return [EqualParts(tuple(each)) for each in found]


def bytes_again(split: Split, parts: tuple[SplitPart, ...]) -> int:
    """The bytes of results that the parts compute beyond those of the whole."""
    axes = dict(_axes(split))
    made = sum(_bytes(value, axes[value], span) for part in parts for value, span in part.made.items())
    needed = 0
    for value, axis in axes.items():
        spans = sorted(part.made[value] for part in parts)
        covered = spans[0][0]
        for first, end in spans:
            needed += _bytes(value, axis, (max(first, covered), max(end, covered)))
            covered = max(covered, end)
    return made - needed


def largest_part(split: Split, parts: tuple[SplitPart, ...], value: ir.Value) -> int:
    """The bytes of the largest part of a result."""
    axis = dict(_axes(split))[value]
    return max(_bytes(value, axis, part.made[value]) for part in parts)


def _part(split: Split, first: int, end: int) -> SplitPart:
    """The part that has the units from one to another, of `split.units`, as its own."""
    axes = dict(_axes(split))

    def share(value: ir.Value) -> Span:
        axis = axes[value]
        units = (shape_of(value.type)[axis.dim] or 0) // axis.unit
        return first * units // split.units * axis.unit, end * units // split.units * axis.unit

    made = {value: share(value) for value in split.outputs}
    part = SplitPart(made)
    for op in reversed(split.ops):
        if not any(result in made for result in op.operation.results):
            made[op.operation.results[0]] = share(op.operation.results[0])
        _complete(op, made)
        for i, value in enumerate(op.operation.operands):
            if value in axes and op.operands[i] is not None:
                made[value] = _hull(made.get(value), part.read(op, i))
    return part


def _complete(op: SplitOp, made: dict[ir.Value, Span]) -> None:
    """All results of an operation are made for the same iterations of its loop."""
    units: Span | None = None
    for result, axis in zip(op.operation.results, op.results, strict=True):
        if result in made:
            first, end = made[result]
            units = _hull(units, (first // axis.unit, -(-end // axis.unit)))
    assert units is not None
    for result, axis in zip(op.operation.results, op.results, strict=True):
        made[result] = units[0] * axis.unit, units[1] * axis.unit


def _shape(split: Split, part: SplitPart) -> list[Span | None]:
    """What parts that differ in where they lie alone have in common: how much is made, read and padded, and where in parts."""
    shape: list[Span | None] = []
    for op in split.ops:
        first, end = part.loop(op)
        shape.append((0, end - first))
        for i, value in enumerate(op.operation.operands):
            window = op.windows[i]
            if op.operands[i] is not None:
                begin, stop = part.read(op, i)
                inside = part.made.get(value)
                shape += [(0, stop - begin), None if inside is None else (begin - inside[0], 0)]
            shape.append(None if window is None else window.padding(first, end))
    return shape


def _place(split: Split, part: SplitPart) -> list[int]:
    """Where a part lies in each result and operand."""
    place: list[int] = []
    for op in split.ops:
        place += [part.made[result][0] for result in op.operation.results]
        place += [part.read(op, i)[0] for i, axis in enumerate(op.operands) if axis is not None]
    return place


def _hull(one: Span | None, other: Span) -> Span:
    return other if one is None else (min(one[0], other[0]), max(one[1], other[1]))


def _axes(split: Split) -> Iterator[tuple[ir.Value, Axis]]:
    for op in split.ops:
        yield from zip(op.operation.results, op.results, strict=True)


def _bytes(value: ir.Value, axis: Axis, span: Span) -> int:
    """The bytes of a part; a size that is not known counts as 1."""
    rest = prod(size or 1 for dim, size in enumerate(shape_of(value.type)) if dim != axis.dim)
    return rest * (span[1] - span[0]) * element_bytes(element_of(value.type))
