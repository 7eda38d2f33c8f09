"""Operations around a large value that can be done part by part, so that only a part of the value is there at a time.

Beginning with a value and a dimension of it:

1. The operation that makes it and all that read it, directly or through views, are done in parts. Each has to run a loop over the
   dimension that can be cut (`analysis.order.axes`), and each view has to pass the cut on. An operation with windows needs more
   of what it reads than it makes: what parts have in common is computed for each (`analysis.order.halos`).
2. What they read besides is taken in slices, or as a whole where the loop does not run over it. What makes it joins in if it is
   large as well, or is the destination of one of them alone. Destinations without contents are made anew.
3. What they make for others is put together by insertions. If it is large, and all that read it can be cut, they join in.
4. What is put together is smaller than the value, each of it; else it could lie where the value does, and nothing were gained.
5. None of this depends on itself by way of an operation that does not join in: all parts run where the last of them stood, and
   nothing up to there works on memory or is unknown (`analysis.order.schedules`).
6. Where that leaves nothing to be done, what stands between two that are done in parts joins in as well, so that blocks with
   skip connections are cut as a whole.

Only dimensions whose size is known are cut. What joins later never keeps the first from being cut: it is left out instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hotdesk._bindings import ir
from hotdesk.analysis.order.axes import FOLLOWED_VIEWS, Axis, Loops, above_view, below_view
from hotdesk.analysis.order.straight_line import StraightLine
from hotdesk.analysis.order.windows import WindowAccess
from hotdesk.ir.types import shape_of


@dataclass(frozen=True, slots=True)
class SplitOp:
    """An operation that is done in parts: its number, the axis of each operand, None for one read whole, and of each result.

    `windows` says for each operand how windows reach into it, None where parts of it are those of the results.
    """

    number: int
    operation: ir.Operation
    operands: tuple[Axis | None, ...]
    results: tuple[Axis, ...]
    windows: tuple[WindowAccess | None, ...]


@dataclass(frozen=True, slots=True)
class Split:
    """Operations that are done in parts, in order, and how many units there are to divide among parts, in what has fewest.

    `outputs` are results that others read, `inner` those that are never there as a whole.
    """

    ops: tuple[SplitOp, ...]
    units: int
    outputs: tuple[ir.Value, ...]
    inner: tuple[ir.Value, ...]


def find_split(line: StraightLine, value: ir.Value, dim: int, large: int) -> Split | None:
    """What can be done in parts so that a value is never there as a whole; None if something is in the way.

    Args:
        line: the operations of a block.
        value: a result of one of them.
        dim: its dimension to cut.
        large: bytes from which on a value is worth being cut as well.
    """
    growth = _begun(line, value, dim, large)
    if growth is None:
        return None
    return _smaller(line, value, growth) or _smaller(line, value, growth, closing=True)


def find_alone(line: StraightLine, value: ir.Value, dim: int) -> Split | None:
    """The same by rules 1 and 5 alone: what makes and reads a value, nothing besides, whatever the size of what they make."""
    growth = _begun(line, value, dim, 1)
    return None if growth is None else growth.split()


def _begun(line: StraightLine, value: ir.Value, dim: int, large: int) -> _Growth | None:
    """What makes and reads a value, in the smallest units of the dimension that all of it can be cut in."""
    size = shape_of(value.type)[dim]
    if size is None or size < 2 or value not in line.makers:
        return None
    for unit in (each for each in range(1, size // 2 + 1) if size % each == 0):
        growth = _Growth(line, large)
        if growth.begin(value, Axis(dim, unit)):
            return growth
        if not growth.too_fine:
            return None
    return None


def _smaller(line: StraightLine, value: ir.Value, growth: _Growth, *, closing: bool = False) -> Split | None:
    """The operations, and those that can join in, if all that is put together is smaller than the value."""
    alone = growth.split()
    growth.grow(closing=closing)
    fits = (s for s in (growth.split(), alone) if all(line.bytes(o) < line.bytes(value) for o in s.outputs))
    return next(fits, None)


class _Growth:
    def __init__(self, line: StraightLine, large: int) -> None:
        self._line, self._large = line, large
        self._axes: dict[ir.Value, Axis] = {}
        self._ops: set[int] = set()
        self._inner: set[ir.Value] = set()
        self.too_fine = False

    def begin(self, value: ir.Value, axis: Axis) -> bool:
        return self._set(value, axis, _units(value, axis)) and self._inside(value) and self._is_convex()

    def grow(self, *, closing: bool) -> None:
        """Lets others join in, one value after the other, as long as some can; if `closing`, with what stands between."""
        refused: set[ir.Value] = set()
        while True:
            found = next((v for v in self._border() if v not in refused), None)
            if found is None:
                return
            kept = dict(self._axes), set(self._ops), set(self._inner)
            if not (self._inside(found) and (self._closes() if closing else self._is_convex())):
                self._axes, self._ops, self._inner = kept
                refused.add(found)

    def split(self) -> Split:
        for number in sorted(self._ops):
            self._inner.update(result for result in self._line.ops[number].results if self._stays_inside(result))
        made = [
            SplitOp(
                number,
                op,
                tuple(self._operand_axis(number, i) for i in range(len(op.operands))),
                tuple(self._axes[r] for r in op.results),
                tuple(self._window(number, i) for i in range(len(op.operands))),
            )
            for number, op in ((number, self._line.ops[number]) for number in sorted(self._ops))
        ]
        results = [result for op in made for result in op.operation.results]
        outputs = tuple(r for r in results if r not in self._inner)
        units = min(_units(value, self._axes[value]) for value in outputs or results)
        return Split(tuple(made), units, outputs, tuple(r for r in results if r in self._inner))

    def _stays_inside(self, value: ir.Value) -> bool:
        """Whether all that read a value are done in parts, and need no more than its parts."""
        return all(r in self._ops and self._needs_parts(r, value) for r in self._line.readers.get(value, ()))

    def _needs_parts(self, number: int, value: ir.Value) -> bool:
        """Whether an operation that is cut needs a value in parts, wherever it reads it."""
        operands = self._line.ops[number].operands
        return all(self._operand_axis(number, i) is not None for i, operand in enumerate(operands) if operand == value)

    def _operand_axis(self, number: int, operand: int) -> Axis | None:
        """The axis of an operand, if the operation needs it in parts: it may need one value in parts and as a whole."""
        axis = self._axes.get(self._line.ops[number].operands[operand])
        loops = self._line.loops(number)
        if axis is None or loops is None:
            return axis
        return axis if loops.operands[operand][axis.dim] == self._loop(number, loops) else None

    def _window(self, number: int, operand: int) -> WindowAccess | None:
        axis, loops = self._operand_axis(number, operand), self._line.loops(number)
        return None if axis is None or loops is None else loops.windows.get((operand, axis.dim))

    def _loop(self, number: int, loops: Loops) -> int:
        """The loop of an operation that is cut."""
        return loops.results[0][self._axes[self._line.ops[number].results[0]].dim]

    def _border(self) -> Iterator[ir.Value]:
        """Values at the edge that are worth being cut: large ones, and destinations that nobody else uses."""
        for number in sorted(self._ops):
            op, loops = self._line.ops[number], self._line.loops(number)
            for i, value in enumerate(op.operands):
                if value not in self._axes or value in self._inner or self._line.is_given(value):
                    continue
                alone = loops is not None and i in loops.inits and len(self._line.readers[value]) == 1
                if alone or self._is_large(value):
                    yield value
            yield from (r for r in op.results if r not in self._inner and self._is_large(r))

    def _is_large(self, value: ir.Value) -> bool:
        return self._line.bytes(value) >= self._large

    def _inside(self, value: ir.Value) -> bool:
        """Cuts what makes a value and all that read it; nobody may need it as a whole."""
        self._inner.add(value)
        readers = self._line.readers.get(value, ())
        joined = all(self._join(number) for number in (self._line.makers[value], *readers))
        return joined and all(self._needs_parts(number, value) for number in readers)

    def _join(self, number: int) -> bool:
        """Cuts an operation, one of whose tensors has an axis."""
        if number in self._ops:
            return True
        if number in self._line.gone:
            return False
        op, loops = self._line.ops[number], self._line.loops(number)
        self._ops.add(number)
        if op.name in FOLLOWED_VIEWS:
            return self._join_view(op)
        if loops is None:
            return False
        cut = set(self._cuts(op, loops))
        if len(cut) != 1:
            return False
        ((loop, unit, units),) = cut
        if loop not in loops.free:
            return False
        for i, (value, row) in enumerate(zip(op.operands, loops.operands, strict=True)):
            if loop not in row:
                continue
            axis = Axis(row.index(loop), unit)
            window = loops.windows.get((i, axis.dim))
            size = units if window is None else window.size
            if (window is not None and unit != 1) or not self._set(value, axis, size):
                return False
        return all(
            self._set(result, Axis(row.index(loop), unit), units)
            for row, result in zip(loops.results, op.results, strict=True)
        )

    def _cuts(self, op: ir.Operation, loops: Loops) -> Iterator[tuple[int, int, int]]:
        """The loop, with the size and number of its units, that each tensor of an operation that has an axis asks to be cut."""
        for i, value in enumerate(op.operands):
            axis = self._axes.get(value)
            loop = -1 if axis is None else loops.operands[i][axis.dim]
            if axis is None or loop < 0:
                continue
            if (i, axis.dim) not in loops.windows:
                yield loop, axis.unit, _units(value, axis)
            elif loop in loops.results[0]:
                made = Axis(loops.results[0].index(loop), axis.unit)
                yield loop, axis.unit, _units(op.results[0], made)
        for row, result in zip(loops.results, op.results, strict=True):
            axis = self._axes.get(result)
            if axis is not None:
                yield row[axis.dim], axis.unit, _units(result, axis)

    def _join_view(self, op: ir.Operation) -> bool:
        source, result = op.operands[0], op.results[0]
        if source in self._axes:
            axis = below_view(op, self._axes[source])
            found = axis is not None and self._set(result, axis, _units(source, self._axes[source]))
        else:
            axis = above_view(op, self._axes[result])
            found = axis is not None and self._set(source, axis, _units(result, self._axes[result]))
        self.too_fine = self.too_fine or axis is None
        return found and (result in self._inner or self._inside(result))

    def _set(self, value: ir.Value, axis: Axis, units: int) -> bool:
        """Whether a value can be cut along an axis: it is not cut along another, and has as many units.

        What has no elements has no slices: MLIR refuses an offset of 0 in a dimension of size 0.
        """
        shape = shape_of(value.type)
        if self._axes.get(value, axis) != axis or 0 in shape:
            return False
        self._axes[value] = axis
        return shape[axis.dim] == units * axis.unit

    def _closes(self) -> bool:
        """Lets what stands between operations inside join in, such as the branch of a skip connection."""
        while (between := self._needed_early()) is not None:
            if not self._inside(between):
                return False
        return not self._is_fenced()

    def _is_convex(self) -> bool:
        """Whether nobody outside needs what is made inside before the last operation inside, and no fence is on the way there."""
        return self._needed_early() is None and not self._is_fenced()

    def _is_fenced(self) -> bool:
        return self._line.is_fenced(min(self._ops), max(self._ops))

    def _needed_early(self) -> ir.Value | None:
        """A value that is made inside and needed outside before the last operation inside."""
        last, line = max(self._ops), self._line
        made = (result for number in sorted(self._ops) for result in line.ops[number].results)
        early = (v for v in made if any(r <= last and r not in self._ops for r in line.readers.get(v, ())))
        return next(early, None)


def _units(value: ir.Value, axis: Axis) -> int:
    """The units of a value along an axis; 0 if they are not known."""
    return (shape_of(value.type)[axis.dim] or 0) // axis.unit
