"""Values that need never be there as a whole because one operation combines them with another, which dies there, or rounds them.

    %v = wide(%m)
    %r = add(%v, %x)        %r, %v and %x are as large: %r can lie where %x does, one row after the other
    %r = round(%v)          %v is of f32, %r of 16 bits: %r can be there from the first row of %v on

1. `%r` is made element by element, from `%v` and from `%x` at the same place and nowhere else, and is as large as each; or it is
   of 16 bits, and `%v` the result of a convolution in f32. Its destination is not read.
2. `%v` is read by that operation alone, and rows of it are made from rows of what it is made of: nothing is computed twice, and
   nothing else is done in parts for it (`analysis.order.splitting`).
3. `%x`, if there is one, is the result of an operation, which no view shows, and nobody reads it later. What makes `%v` does
   not read it.
4. More is held while `%v` is there than anywhere if no such value were: else the peak would be no lower.

All sizes are known. What is held is the estimate of `analysis.order.bytes_at_steps`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from hotdesk._bindings import ir
from hotdesk.analysis.order.axes import Loops, cut_dims
from hotdesk.analysis.order.bytes_at_steps import read_held
from hotdesk.analysis.order.halos import SplitPart, bytes_again, largest_part, parts_of
from hotdesk.analysis.order.splitting import Split, find_alone
from hotdesk.analysis.order.straight_line import StraightLine
from hotdesk.elements import HALVES
from hotdesk.graphs import reached
from hotdesk.ir.types import element_of, is_tensor, shape_of
from hotdesk.models.generics import is_linalg
from hotdesk.models.hotdesk import CONV
from hotdesk.models.tensor import has_contents_of_its_own

_ASSUMED = 1  # for symbols, of which there are none


@dataclass(frozen=True, slots=True)
class Combination:
    """`value`, its maker and its reader, which are done in `parts`; the result of the reader is put where `over` is, if given.

    `bytes` are those of the value, `part` those of its largest part.
    """

    value: ir.Value
    over: ir.Value | None
    split: Split
    parts: tuple[SplitPart, ...]
    bytes: int
    part: int

    @property
    def result(self) -> ir.Value:
        return self.split.outputs[0]


@dataclass(frozen=True, slots=True)
class _Candidate:
    value: ir.Value
    over: ir.Value | None
    split: Split
    maker: int
    reader: int


def find_combinations(
    line: StraightLine, least_bytes: int, least_part: int, scratch: Callable[[ir.Operation], int] = lambda _: 0
) -> list[Combination]:
    """What is to be done in rows, in the order of the text; of values that overlap, the first.

    Args:
        line: the operations of a block.
        least_bytes: values of fewer bytes stay as they are.
        least_part: parts have at least about so many bytes.
        scratch: the bytes of scratch memory that an operation will have.
    """
    if not _is_static(line):
        return []
    found = [each for number in range(len(line.ops)) if (each := _candidate(line, number, least_bytes)) is not None]
    if not found:
        return []
    held = [number + scratch(op) for number, op in zip(_held(line), line.ops, strict=True)]
    rest = list(held)
    for each in found:
        for number in range(each.maker, each.reader + 1):
            rest[number] -= line.bytes(each.value)
        for number in range(each.maker, each.reader) if each.over is None else ():
            rest[number] += line.bytes(each.split.outputs[0])
    combinations = (_combination(line, each, held, rest, least_part) for each in found)
    return [each for each in combinations if each is not None]


def _is_static(line: StraightLine) -> bool:
    return all(None not in shape_of(value.type) for op in line.ops for value in op.results if is_tensor(value.type))


def _candidate(line: StraightLine, reader: int, least_bytes: int) -> _Candidate | None:
    """The value that an operation combines with one that dies there, by rules 1 to 3."""
    op, loops = line.ops[reader], line.loops(reader)
    if loops is None or not _is_combining(line, op, loops):
        return None
    large = line.bytes(op.results[0]) >= least_bytes
    aligned = [value for value in _aligned(op, loops) if value in line.makers] if large else []
    overwritten = [value for value in aligned if _dies(line, value, reader)]
    for value in sorted(aligned, key=line.makers.__getitem__, reverse=True):  # the one that is made last
        maker = line.makers[value]
        if line.readers[value] != [reader] or line.loops(maker) is None:
            continue
        over = next((each for each in overwritten if each not in (value, *line.ops[maker].operands)), None)
        split = None if over is None else _in_rows(line, value, maker, reader)
        if over is not None and split is not None:
            return _Candidate(value, over, split, maker, reader)
    return _rounded(line, reader, loops, least_bytes)


def _rounded(line: StraightLine, reader: int, loops: Loops, least_bytes: int) -> _Candidate | None:
    """The result of a convolution in f32 that an operation makes 16-bit floats of."""
    op = line.ops[reader]
    if element_of(op.results[0].type) not in HALVES:
        return None
    for value, row in zip(op.operands, loops.operands, strict=True):
        maker = line.makers.get(value)
        if maker is None or line.ops[maker].name != CONV or line.bytes(value) < least_bytes:
            continue
        alone = line.readers[value] == [reader] and list(op.operands).count(value) == 1
        split = _in_rows(line, value, maker, reader) if alone and row == loops.results[0] else None
        if split is not None:
            return _Candidate(value, None, split, maker, reader)
    return None


def _is_combining(line: StraightLine, op: ir.Operation, loops: Loops) -> bool:
    """Whether an operation is a loop over elements that reads nothing of its destination."""
    if not is_linalg(op) or len(op.results) != 1 or not loops.is_elementwise:
        return False
    return line.is_empty(op.operands[loops.inits[0]])


def _aligned(op: ir.Operation, loops: Loops) -> Iterator[ir.Value]:
    """What an elementwise operation reads at the place where it writes, and nowhere else, of the type of its result."""
    rows: dict[ir.Value, set[tuple[int, ...]]] = {}
    for number, (value, row) in enumerate(zip(op.operands, loops.operands, strict=True)):
        if number not in loops.inits:
            rows.setdefault(value, set()).add(row)
    for value, found in rows.items():
        if found == {loops.results[0]} and value.type == op.results[0].type:
            yield value


def _dies(line: StraightLine, value: ir.Value, reader: int) -> bool:
    """Whether a value is the result of an operation with memory of its own, read here last, and never through views."""
    maker = line.makers[value]
    if line.loops(maker) is None or line.ops[maker].name.startswith("tensor."):
        return False
    readers = line.readers[value]
    return readers[-1] == reader and not any(line.ops[each].name.startswith("tensor.") for each in readers)


def _in_rows(line: StraightLine, value: ir.Value, maker: int, reader: int) -> Split | None:
    """How a value can be made and read in parts, with nothing computed twice and nobody else joining in."""
    for dim in cut_dims(value):
        split = find_alone(line, value, dim)
        if split is None or [each.number for each in split.ops] != [maker, reader]:
            continue
        parts = parts_of(split, split.units)
        if parts is not None and not bytes_again(split, parts) and split.inner == (value,):
            return split
    return None


def _combination(
    line: StraightLine, found: _Candidate, held: list[int], rest: list[int], least_part: int
) -> Combination | None:
    """In the fewest parts that bring what is held down to what `rest` says is held at its peak, without any of the values.

    In parts that are as small as they may be, if that does not; None if the peak is no lower for it.
    """
    floor, span = max(rest), slice(found.maker, found.reader + 1)
    if max(held[span]) <= floor:
        return None
    longer = (
        line.bytes(each)
        for each in dict.fromkeys(line.ops[found.maker].operands)
        if each in line.makers
        and _has_memory(line, line.makers[each])
        and found.maker <= _last_use(line, each) < found.reader
    )
    room = max(floor - rest[found.reader] - sum(longer), least_part)
    for count in range(2, found.split.units + 1):
        parts = parts_of(found.split, count)
        if parts is None:
            return None
        part = largest_part(found.split, parts, found.value)
        if part <= room or count == found.split.units:
            return Combination(found.value, found.over, found.split, parts, line.bytes(found.value), part)
    return None


def _held(line: StraightLine) -> list[int]:
    """The bytes that are held while each operation runs, about; 0 while one runs that makes no buffer."""
    found, held = read_held(line.function, _ASSUMED, returned=True), [0] * len(line.ops)
    for position, step in () if found is None else zip(found.stretch.tasks, found.steps, strict=True):
        held[position] = step.held
    return held


def _has_memory(line: StraightLine, maker: int) -> bool:
    """Whether what an operation makes has memory of its own: views and destinations without contents do not."""
    return has_contents_of_its_own(line.ops[maker].name)


def _last_use(line: StraightLine, value: ir.Value) -> int:
    """The number of the last operation that reads a value, a view of it, or what is inserted into it: all that lies there."""

    def lying_there(each: ir.Value) -> Iterator[ir.Value]:
        for reader in line.readers.get(each, ()):
            if not _has_memory(line, reader):
                yield from line.ops[reader].results

    readers = (reader for each in reached([value], lying_there) for reader in line.readers.get(each, ()))
    return max(readers, default=line.makers.get(value, -1))
