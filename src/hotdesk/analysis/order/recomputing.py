"""Values that can be made again where they are read later, so that they need not be kept until then.

1. The value is the one result of an operation that makes each of its elements by itself, from single elements of its operands:
   every loop is parallel, and runs over a dimension of the result.
2. It is read on both sides of a place, directly or through views, or element by element in regions; what is read behind it is
   read of a value made anew there.
   Nothing in between works on memory or is unknown (`analysis.order.schedules`), and such views need no index made later.
3. The operands are kept until there anyway, being arguments that nobody overwrites or read later still; or those that are not are
   smaller, together, than the value itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from hotdesk._bindings import ir
from hotdesk.analysis.order.axes import FOLLOWED_VIEWS
from hotdesk.analysis.order.straight_line import StraightLine, ValueRead
from hotdesk.ir.types import is_tensor
from hotdesk.models.generics import is_linalg
from hotdesk.models.tensor import EMPTY


@dataclass(frozen=True, slots=True)
class Rematerialization:
    """Operations to do again, by number and in order, in front of operation number `before`, so that a value need not be kept.

    Attributes:
        number: of the operation that makes the value.
        operations: that one, what it is made of that is not there any more, and the views of it that are read.
        before: the first that reads the value late.
        reads: the late reads of it.
        bytes: that need not be kept for it.
    """

    number: int
    operations: tuple[int, ...]
    before: int
    reads: tuple[ValueRead, ...]
    bytes: int


def find_rematerialization(line: StraightLine, number: int, across: int | None = None) -> Rematerialization | None:
    """How the result of an operation can be made again behind a place; None if it cannot, or does not help.

    Args:
        line: the operations of a block.
        number: the operation.
        across: the operation that the value need not be kept during; by default one in the longest stretch between two reads.
    """
    op, loops = line.ops[number], line.loops(number)
    if loops is None or not is_linalg(op) or not loops.is_elementwise:
        return None
    value = op.results[0]
    size = line.bytes(value)
    uses = line.reads(value)
    reads = sorted({use.reader for use in uses})
    if not reads:
        return None
    if across is None:
        steps = [(_distance(line, a, b), -a) for a, b in pairwise(reads)]
        longest = max(steps, default=(0, 0))
        if not longest[0]:
            return None
        across = 1 - longest[1]
    late = [use for use in uses if use.reader > across]
    if not late or reads[0] >= across or any(reader == across for reader in reads):
        return None
    before = min(use.reader for use in late)
    views = views_read(line, value, late, before)
    if line.is_fenced(number, before) or views is None:
        return None
    operands = [each for each in dict.fromkeys(op.operands) if is_tensor(each.type)]
    empty = [line.makers[each] for each in operands if line.is_empty(each)]
    kept = (line.bytes(each) for each in operands if not line.is_empty(each) and not _is_there(line, each, before))
    return (
        Rematerialization(number, (*sorted(empty), number, *views), before, tuple(late), size)
        if sum(kept) < size
        else None
    )


def views_read(line: StraightLine, value: ir.Value, reads: Iterable[ValueRead], before: int) -> list[int] | None:
    """The operations that make the views of a value which are read, by number and in order.

    None if one cannot be done in front of operation number `before`, since what it needs, such as an offset, is not there.
    """
    found: set[int] = set()
    for read in reads:
        view = read.value
        while view != value:
            maker = line.makers[view]
            view, *others = line.ops[maker].operands
            if any(line.makers.get(each, -1) >= before for each in others):
                return None
            found.add(maker)
    return sorted(found)


def _is_there(line: StraightLine, value: ir.Value, before: int) -> bool:
    """Whether the memory of a value is kept until operation number `before` anyway (rule 3)."""
    root, _ = line.root(value)
    is_argument = root not in line.makers and root not in line.overwritten
    return is_argument or line.last_read(root) >= before


def _distance(line: StraightLine, first: int, second: int) -> int:
    """How many operations between two make tensors that are no views."""
    between = (op for op in line.ops[first + 1 : second] if op.name not in FOLLOWED_VIEWS and op.name != EMPTY)
    return sum(any(is_tensor(result.type) for result in op.results) for op in between)
