"""Concatenations that grow: each holds the one before as a whole, so that all of them can lie in the last one's memory.

    %c1 = concat(%a, %b)        %c2 = concat(%c1, %d), or concat(%a, %b, %d)        %c3 = concat(%e, %c2)

A concatenation lies in a later one iff

1. both are along one axis, all sizes are static, and the dims in front of the axis are of size 1, so that a part is contiguous;
2. it is an operand of the later one, or that begins with the same operands;
3. both stand in one block, and the function does not return the first of them;
4. it lies in no other one.

A chain of them takes the memory of the last one from the beginning. That must not take more than where one is
copied into the next, by the estimate of `raised_peak`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import accumulate

from hotdesk._bindings import ir
from hotdesk.analysis.insertion.concatenation import axis_of
from hotdesk.analysis.insertion.raised_peak import RaisedPeak
from hotdesk.ir.op_maps import OpMap, OpSet
from hotdesk.ir.types import shape_of
from hotdesk.ir.walking import defining_op, users
from hotdesk.models.func import RETURN

Growth = tuple[tuple[ir.Operation, int], ...]
"""A chain of concatenations, each with its first element along the axis of the last one."""


@dataclass(slots=True)
class _Prefix:
    """Operands with which concatenations begin: the one of exactly these, and what may come next."""

    whole: ir.Operation | None = None
    longer: dict[ir.Value, _Prefix] = field(default_factory=dict[ir.Value, "_Prefix"])


def find_growths(concats: Iterable[ir.Operation], held: RaisedPeak) -> list[Growth]:
    """The chains among concatenations of one block, which come in order."""
    begin: dict[tuple[int, tuple[int | None, ...]], _Prefix] = {}
    inside, outside = OpMap[tuple[ir.Operation, int]](), OpSet()
    fitting = [op for op in concats if _is_contiguous_in_parts(op)]
    known = OpSet(fitting)
    for op in fitting:
        found = _longest(op, begin.setdefault(_frame(op), _Prefix()), known)
        if found is not None and found[0] not in outside:
            inside[op] = found
            outside.add(found[0])
    chains = [_chain(op, inside) for op in fitting if op in inside and op not in outside]
    return [chain for chain in chains if held.holds_from_beginning([op.results[0] for op, _ in chain])]


def _frame(op: ir.Operation) -> tuple[int, tuple[int | None, ...]]:
    """The axis, and the sizes of all other dims."""
    axis, shape = axis_of(op), shape_of(op.results[0].type)
    return axis, (*shape[:axis], None, *shape[axis + 1 :])


def _is_contiguous_in_parts(op: ir.Operation) -> bool:
    shapes = [shape_of(value.type) for value in (*op.operands, *op.results)]
    return all(None not in shape and 0 not in shape for shape in shapes) and set(shapes[-1][: axis_of(op)]) <= {1}


def _longest(op: ir.Operation, begin: _Prefix, known: OpSet) -> tuple[ir.Operation, int] | None:
    """The largest concatenation in `op`, with its first element there; notes what `op` begins with."""
    axis = axis_of(op)
    starts = list(accumulate((shape_of(value.type)[axis] or 0 for value in op.operands), initial=0))
    found: list[tuple[int, ir.Operation, int]] = []
    node = begin
    for value, start in zip(op.operands, starts, strict=False):
        if node.whole is not None:
            found.append((start, node.whole, 0))
        node = node.longer.setdefault(value, _Prefix())
        maker = defining_op(value)
        if maker is not None and maker in known and _frame(maker) == _frame(op) and maker.block == op.block:
            found.append((shape_of(value.type)[axis] or 0, maker, start))
    if node.whole is None and len(op.operands) > 1:
        node.whole = op
    found = [each for each in found if not _is_returned(each[1])]
    return max(found, key=lambda each: each[0])[1:] if found else None


def _is_returned(op: ir.Operation) -> bool:
    return any(user.name == RETURN for user in users(op.results[0]))


def _chain(last: ir.Operation, inside: OpMap[tuple[ir.Operation, int]]) -> Growth:
    """The concatenations in `last`, from the first, each with its first element there."""
    found, start = [(last, 0)], 0
    while found[0][0] in inside:
        inner, offset = inside[found[0][0]]
        start += offset
        found.insert(0, (inner, start))
    return tuple(found)
