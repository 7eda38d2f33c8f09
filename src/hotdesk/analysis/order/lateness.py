"""Operations that may wait until their results are read, so that these need not be kept until then.

An operation waits in front of the first operation that reads its result if

1. it is pure, its results are tensors, and no result is read by the block's terminator first: what a function returns is not
   put off;
2. something that is no view stands in between;
3. nothing in between works on memory or is unknown (`analysis.order.schedules`);
4. what it reads is kept until there anyway, by others; or what is not is smaller, together, than its results. Views, constants
   and `tensor.empty` keep nothing, and a fill that nobody else reads waits with its reader. Arguments that may be overwritten
   count like results of operations;
5. it stays in front of the last reader of an argument that may be overwritten and that it reads itself: that reader may be what
   overwrites it, as an update does a parameter, and would need memory until the end if the old value were read behind it.

Operations are looked at from the last one to the first, so that what a waiting operation alone reads waits with it. Those that
wait in front of the same one keep their order.
"""

from __future__ import annotations

from dataclasses import dataclass

from hotdesk._bindings import ir
from hotdesk.analysis.order.axes import FOLLOWED_VIEWS
from hotdesk.analysis.order.straight_line import StraightLine
from hotdesk.ir.types import is_tensor
from hotdesk.models.purity import is_pure
from hotdesk.models.tensor import KEEPS_NOTHING


@dataclass(frozen=True, slots=True)
class Wait:
    """An operation that moves in front of another one, both by number; `bytes` are those of its results."""

    number: int
    before: int
    bytes: int


def find_waits(line: StraightLine) -> list[Wait]:
    """The operations that wait, the last one first; moved in this order each stands where it belongs."""
    homes = list(range(len(line.ops)))
    front: dict[int, int] = {}  # the first of those that wait in front of an operation
    waits: list[Wait] = []
    for number in reversed(range(len(line.ops) - 1)):
        reader = _first_reader(line, number, homes)
        if reader is None or reader == len(line.ops) - 1 or _are_neighbours(line, number, homes[reader]):
            continue
        if line.is_fenced(number, homes[reader]):
            continue
        size = sum(line.bytes(result) for result in line.ops[number].results)
        light = _is_light(line.ops[number])
        if not light and (kept := _kept_for(line, number, homes, homes[reader])) and kept >= size:
            continue
        if _is_overwritten_before(line, number, homes, homes[reader]):
            continue
        home = homes[number] = homes[reader]
        waits.append(Wait(number, front.get(home, home), 0 if light else size))
        front[home] = number
    return waits


def _first_reader(line: StraightLine, number: int, homes: list[int]) -> int | None:
    """The operation that reads a result first (rule 1)."""
    op = line.ops[number]
    if not len(op.results) or not all(is_tensor(result.type) for result in op.results) or not is_pure(op):
        return None
    readers = [reader for result in op.results for reader in line.readers.get(result, ())]
    return min(readers, key=homes.__getitem__, default=None)


def _are_neighbours(line: StraightLine, number: int, place: int) -> bool:
    """Rule 2."""
    return all(_is_light(line.ops[each]) for each in range(number + 1, place))


def _is_light(op: ir.Operation) -> bool:
    return op.name in FOLLOWED_VIEWS or op.name in KEEPS_NOTHING


def _kept_for(line: StraightLine, number: int, homes: list[int], place: int) -> int:
    """Bytes of operands that would be kept until a place for this operation alone (rule 4)."""
    kept = 0
    for root in dict.fromkeys(line.root(operand)[0] for operand in line.read_by(number)):
        maker = line.makers.get(root)
        if maker is not None and (line.ops[maker].name in KEEPS_NOTHING or _waits_too(line, maker)):
            continue
        if maker is None and root not in line.overwritten:
            continue
        if _last_read(line, root, number, homes) < place:
            kept += line.bytes(root)
    return kept


def _is_overwritten_before(line: StraightLine, number: int, homes: list[int], place: int) -> bool:
    """Whether an argument that may be overwritten, and that an operation reads, is read by others, in front of a place alone
    (rule 5)."""
    roots = {line.root(operand)[0] for operand in line.read_by(number)}
    return any(0 <= _last_read(line, root, number, homes) < place for root in roots & line.overwritten)


def _waits_too(line: StraightLine, maker: int) -> bool:
    """Whether an operation reads nothing that is computed, and one operation alone reads it."""
    op = line.ops[maker]
    empty = all(line.is_empty(value) for value in line.read_by(maker))
    return empty and is_pure(op) and all(len(line.readers.get(result, ())) == 1 for result in op.results)


def _last_read(line: StraightLine, value: ir.Value, leaving_out: int, homes: list[int]) -> int:
    """The place of the last operation that reads a value or a view of it, one operation left out; -1 if no other does."""
    return max((homes[read.reader] for read in line.reads(value) if read.reader != leaving_out), default=-1)
