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
from hotdesk.analysis.order.axes import VIEWS
from hotdesk.analysis.order.straight_line import StraightLine, ValueRead
from hotdesk.ir.types import is_tensor
from hotdesk.ir.walking import made_by
from hotdesk.models.generics import is_linalg


@dataclass(frozen=True, slots=True)
class Again:
    """An operation to do again in front of operation number `before`, for what is read of it or of views of it.

    `bytes` are those of its result, `kept` those of operands that are kept longer for it.
    """

    operation: ir.Operation
    before: int
    uses: tuple[ValueRead, ...]
    bytes: int
    kept: int


def find_again(line: StraightLine, number: int, across: int | None = None) -> Again | None:
    """How the result of an operation can be made again behind a place; None if it cannot, or does not help.

    Args:
        line: the operations of a block.
        number: the operation.
        across: the operation that the value need not be kept during; by default one in the longest stretch between two reads.
    """
    op = line.ops[number]
    if not is_elementwise(line, number):
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
    if line.is_fenced(number, before) or views_read(line, value, late, before) is None:
        return None
    kept = 0
    for operand in dict.fromkeys(op.operands):
        if not is_tensor(operand.type) or line.is_empty(operand) or _last_use(line, operand) >= before:
            continue
        kept += line.bytes(operand)
    return Again(op, before, tuple(late), size, kept) if kept < size else None


def is_elementwise(line: StraightLine, number: int) -> bool:
    """Whether an operation has one result and makes each of its elements by itself (rule 1)."""
    loops, op = line.loops(number), line.ops[number]
    if loops is None or not is_linalg(op) or len(op.results) != 1:
        return False
    row = loops.operands[loops.inits[0]]
    every = {loop for operand in loops.operands for loop in operand if loop >= 0}
    return every == set(row) and set(row) <= loops.free and len(set(row)) == len(row)


def clones(line: StraightLine, again: Again) -> list[ir.Operation]:
    """The operations to do again, in order: the destination, the operation itself and the views of it that are read."""
    op = again.operation
    found = [maker for value in op.operands if (maker := made_by(value, "tensor.empty")) is not None]
    views = views_read(line, op.results[0], again.uses, again.before) or ()
    return [*dict.fromkeys(found), op, *(line.ops[maker] for maker in views)]


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


def _last_use(line: StraightLine, value: ir.Value) -> int:
    """The last operation that reads a value, or whatever it is a view of; behind all for arguments that nobody overwrites."""
    maker = line.makers.get(value)
    if maker is None:
        uses = line.reads(value) if value in line.overwritten else ()
        return max((use.reader for use in uses), default=len(line.ops))
    op = line.ops[maker]
    own = max((use.reader for use in line.reads(value)), default=maker)
    return max(own, _last_use(line, op.operands[0])) if op.name in VIEWS else own


def _distance(line: StraightLine, first: int, second: int) -> int:
    """How many operations between two make tensors that are no views."""
    between = (op for op in line.ops[first + 1 : second] if op.name not in VIEWS and op.name != "tensor.empty")
    return sum(any(is_tensor(result.type) for result in op.results) for op in between)
