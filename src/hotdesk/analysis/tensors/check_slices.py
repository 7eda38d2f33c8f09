"""What checks in a loop or a branch are computed from: a backward slice (M. Weiser, Program Slicing, ICSE 1981), if it is small.

Of a loop or branch in the entry block, the *root*, a check can be computed apart iff

1. each `scf.for`, `scf.while` and `scf.if` around it, and around what the slice has, is part of the slice with its condition or
   bounds; nothing else is around them;
2. what is carried from one iteration to the next is part of the slice where that reads it: its first value, and what is yielded;
3. all else that the slice computes inside of the root is arithmetic that cannot fail, views, sizes (`tensor.dim`), elements at
   places that are numbers (`tensor.extract`, `tensor.insert`), or work on no more than 1,024 elements, in as many
   iterations at most; of integers, which are
   the same however often and by which code they are computed; views and places lie inside, whatever the checks in front say;
4. of a `linalg.generic` with checks in it, these can be loops of their own, and load nothing from computed places.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, cast

from hotdesk._bindings import indexing_maps, ir
from hotdesk.ir.divisions import may_fail_early
from hotdesk.ir.op_maps import OpMap, OpSet
from hotdesk.ir.types import is_tensor, scalar_of, shape_of
from hotdesk.ir.walking import (
    captured_operands,
    constant_of,
    defining_op,
    dialect_of,
    is_constant,
    nested_ops,
    ops_around,
)
from hotdesk.models.cf import ASSERT
from hotdesk.models.dialects import SCALAR_DIALECTS
from hotdesk.models.generics import GENERIC
from hotdesk.models.payloads import LOADS
from hotdesk.models.scf import FOR, WHILE
from hotdesk.models.tensor import CAST, EMPTY, EXPAND, VIEWS
from hotdesk.models.tensor_slices import EXTRACT_SLICE, INSERT_SLICE, slice_entries

IF = "scf.if"
SLICED = (FOR, WHILE, IF)
"""The loops and branches that a slice may have."""
_ELEMENTS = 1024
_SMALL = ("linalg.fill", GENERIC, EMPTY, "tensor.from_elements", "tensor.splat", "tensor.insert", "tensor.insert_slice")


@dataclass(slots=True)
class CheckSlice:
    """The checks of a root that can be computed apart, and what that takes.

    Attributes:
        checks: `cf.assert`s outside of payloads, and `linalg.generic`s with some inside.
        kept: the ops inside of the root that the slice has, those of `carried` and `handed` included, and the root.
        carried: by loop, the numbers of the values that iterations of it hand on: of `scf.for`, and of the first region of
            `scf.while`.
        handed: by `scf.while` and `scf.if`, the numbers of the results that are read, or of the arguments of the second region.
    """

    checks: list[ir.Operation] = field(default_factory=list[ir.Operation])
    kept: OpSet = field(default_factory=OpSet)
    carried: OpMap[set[int]] = field(default_factory=OpMap[set[int]])
    handed: OpMap[set[int]] = field(default_factory=OpMap[set[int]])

    def join(self, other: CheckSlice) -> None:
        """Adds another slice of the same root."""
        self.checks += other.checks
        self.kept.update(other.kept)
        for mine, others in ((self.carried, other.carried), (self.handed, other.handed)):
            for op, numbers in others.items():
                mine.setdefault(op, set()).update(numbers)


def slice_of_checks(
    root: ir.Operation, checks: Sequence[ir.Operation], read_by: Mapping[ir.Operation, Sequence[ir.Value]]
) -> CheckSlice:
    """The slice of those checks in a root that can be computed apart; `read_by` are the values that each is computed from."""
    found, inside = CheckSlice(), OpSet(nested_ops(root))
    for check in checks:
        one = _Slicing(root, inside)
        if one.follows(check, read_by[check]):
            found.join(one.slice)
    return found


def is_small(op: ir.Operation) -> bool:
    """Whether an op may be computed once more, also in front of checks: it cannot fail, and does next to nothing."""
    if not _stays_inside(op):
        return False
    if is_constant(op) or op.name in VIEWS or op.name in ("tensor.dim", "tensor.extract"):
        return True
    if any(_may_differ(each) or each.name in LOADS or may_fail_early(each) for each in (op, *nested_ops(op))):
        return False
    if dialect_of(op.name) in SCALAR_DIALECTS and not len(op.regions):
        return all(map(_has_few, op.results))
    if op.name not in _SMALL or not all(map(_has_few, (*op.operands, *op.results))):
        return False
    return op.name != GENERIC or _iterations(op) <= _ELEMENTS


def _stays_inside(op: ir.Operation) -> bool:
    """Whether an op reads and writes inside of its tensors without a check in front of it, as its types and attributes say."""
    if op.name in ("tensor.extract", "tensor.insert"):
        tensor, *places = list(op.operands)[op.name == "tensor.insert" :]
        known = zip(map(constant_of, places), shape_of(tensor.type), strict=True)
        return all(at is not None and 0 <= at < (size or 0) for at, size in known)
    if op.name in (EXTRACT_SLICE, INSERT_SLICE):
        inserts = op.name == INSERT_SLICE
        entries = zip(*slice_entries(op), shape_of(op.operands[inserts].type), strict=True)
        fixed = len(op.operands) == 1 + inserts and None not in shape_of(op.operands[0].type)
        return fixed and all(
            not count or (first >= 0 and first + (count - 1) * step < (size or 0))
            for first, count, step, size in cast("Iterable[tuple[int, int, int, int | None]]", entries)
        )
    if op.name in (EXPAND, CAST):
        ranked = all(is_tensor(each.type) for each in (op.operands[0], op.results[0]))
        return ranked and None not in shape_of(op.operands[0].type)
    return True


def _may_differ(op: ir.Operation) -> bool:
    """Whether an op is a check, or computes with floats, which are rounded as the code is made."""
    if op.name == ASSERT or is_constant(op):
        return op.name == ASSERT
    return any(isinstance(_scalar(value.type), (ir.FloatType, ir.ComplexType)) for value in (*op.operands, *op.results))


def _scalar(kind: ir.Type) -> ir.Type:
    """The type of a tensor's or a vector's elements; another type as it is."""
    return cast(Any, kind).element_type if is_tensor(kind) else scalar_of(kind)


def _has_few(value: ir.Value) -> bool:
    if not is_tensor(value.type):
        return True
    sizes = shape_of(value.type)
    return None not in sizes and prod(size or 0 for size in sizes) <= _ELEMENTS


def _iterations(op: ir.Operation) -> int:
    """How often the payload of a `linalg.generic` on tensors of known sizes is computed."""
    maps = cast("list[ir.AffineMap]", indexing_maps(op))
    sizes = {
        cast(Any, at).position: size or 0
        for value, read in zip(op.operands, maps, strict=True)
        for at, size in zip(read.results, shape_of(value.type), strict=True)
        if isinstance(at, ir.AffineDimExpr)
    }
    return prod(sizes.values())


def ends_of(op: ir.Operation) -> list[ir.Operation]:
    """The terminators of the regions of a loop or branch that have a block."""
    return [list(region.blocks[0].operations)[-1].operation for region in op.regions if len(region.blocks)]


class _Slicing:
    """Follows what one check is computed from."""

    def __init__(self, root: ir.Operation, inside: OpSet) -> None:
        self.slice = CheckSlice()
        self._root, self._inside = root, inside

    def follows(self, check: ir.Operation, read: Sequence[ir.Value]) -> bool:
        """Whether the check can be computed apart; then the slice has all that it takes."""
        self.slice.checks.append(check)
        around = self._around(check)
        if around is None:
            return False
        work, seen = [*read, *around], set[ir.Value]()
        while work:
            value = work.pop()
            if value in seen:
                continue
            seen.add(value)
            sources = self._sources(value)
            if sources is None:
                return False
            work += sources
        return True

    def _sources(self, value: ir.Value) -> Iterable[ir.Value] | None:
        """What a value is computed from inside of the root; None if it cannot be computed once more."""
        op = defining_op(value)
        if op is None:
            return self._of_argument(value)
        if op not in self._inside:
            return ()
        found = self._of_result(op, cast(Any, value).result_number)
        around = self._around(op)
        return None if found is None or around is None else [*found, *around]

    def _of_argument(self, argument: Any) -> Iterable[ir.Value] | None:
        block, number = argument.owner, argument.arg_number
        op = cast(ir.Operation, block.owner.operation)
        if op != self._root and op not in self._inside:
            return ()
        if op.name == FOR:
            return self._control(op) if number == 0 else self._of_carried(op, number - 1)
        if op.name != WHILE:
            return None
        return self._of_carried(op, number) if block == op.regions[0].blocks[0] else self._of_handed(op, number)

    def _of_result(self, op: ir.Operation, number: int) -> Iterable[ir.Value] | None:
        if op.name == FOR:
            return [*self._of_carried(op, number), *self._control(op)]
        if op.name in (WHILE, IF):
            return [*self._of_handed(op, number), *self._control(op)]
        if not is_small(op):
            return None
        self.slice.kept.add(op)
        return [*op.operands, *(value for _, _, value in captured_operands(op))]

    def _of_carried(self, loop: ir.Operation, number: int) -> list[ir.Value]:
        self.slice.carried.setdefault(loop, set()).add(number)
        first = loop.operands[number + (3 if loop.name == FOR else 0)]
        return [first, ends_of(loop)[-1].operands[number]]

    def _of_handed(self, op: ir.Operation, number: int) -> list[ir.Value]:
        self.slice.handed.setdefault(op, set()).add(number)
        ends = ends_of(op)
        return [ends[0].operands[1 + number]] if op.name == WHILE else [end.operands[number] for end in ends]

    def _control(self, op: ir.Operation) -> list[ir.Value]:
        """What says how often, or whether, the regions of a loop or branch run; it is part of the slice."""
        self.slice.kept.add(op)
        if op.name == WHILE:
            return [ends_of(op)[0].operands[0]]
        return list(op.operands)[: 3 if op.name == FOR else 1]

    def _around(self, op: ir.Operation) -> list[ir.Value] | None:
        """What decides whether, and how often, an op inside of the root runs; None if that cannot be computed once more."""
        found: list[ir.Value] = []
        for each in ops_around(op):
            if each.name not in SLICED:
                return None
            found += self._control(each)
            if each == self._root:
                break
        return found
