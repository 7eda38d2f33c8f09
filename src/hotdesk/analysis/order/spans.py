"""Halos: what each part of operations that are done in parts makes and reads, where windows make parts overlap.

Of an output, every part makes a share of its own, and what the part needs of it besides; of what stays inside, what the readers
in that part need. So an operation may make some elements for two parts: that is computed twice, and is the price.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
        axis, reach = op.operands[operand], op.reaches[operand]
        assert axis is not None
        first, end = self.loop(op)
        return (first * axis.unit, end * axis.unit) if reach is None else reach.elements(first, end)


def parts_of(split: Split, count: int) -> tuple[SplitPart, ...] | None:
    """At most so many parts; None if one of them would read nothing but padding."""
    count = min(count, split.units)
    parts = tuple(_part(split, number, count) for number in range(count))
    reads = (part.read(op, i) for part in parts for op in split.ops for i, reach in enumerate(op.reaches) if reach)
    return parts if all(first < end for first, end in reads) else None


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


def _part(split: Split, number: int, count: int) -> SplitPart:
    axes = dict(_axes(split))
    made: dict[ir.Value, Span] = {}
    for value in split.outputs:
        units = (shape_of(value.type)[axes[value].dim] or 0) // axes[value].unit
        unit = axes[value].unit
        made[value] = number * units // count * unit, (number + 1) * units // count * unit
    part = SplitPart(made)
    for op in reversed(split.ops):
        _complete(op, made, number, count)
        for i, value in enumerate(op.operation.operands):
            if value in axes and op.operands[i] is not None:
                made[value] = _hull(made.get(value), part.read(op, i))
    return part


def _complete(op: SplitOp, made: dict[ir.Value, Span], number: int, count: int) -> None:
    """All results of an operation are made for the same iterations of its loop; for its share, if nobody needs one."""
    units: Span | None = None
    for result, axis in zip(op.operation.results, op.results, strict=True):
        if result in made:
            first, end = made[result]
            units = _hull(units, (first // axis.unit, -(-end // axis.unit)))
    if units is None:
        whole = (shape_of(op.operation.results[0].type)[op.results[0].dim] or 0) // op.results[0].unit
        units = number * whole // count, (number + 1) * whole // count
    for result, axis in zip(op.operation.results, op.results, strict=True):
        made[result] = units[0] * axis.unit, units[1] * axis.unit


def _hull(one: Span | None, other: Span) -> Span:
    return other if one is None else (min(one[0], other[0]), max(one[1], other[1]))


def _axes(split: Split) -> Iterator[tuple[ir.Value, Axis]]:
    for op in split.ops:
        yield from zip(op.operation.results, op.results, strict=True)


def _bytes(value: ir.Value, axis: Axis, span: Span) -> int:
    """The bytes of a part; a size that is not known counts as 1."""
    rest = prod(size or 1 for dim, size in enumerate(shape_of(value.type)) if dim != axis.dim)
    return rest * (span[1] - span[0]) * element_bytes(element_of(value.type))
