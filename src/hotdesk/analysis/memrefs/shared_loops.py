"""Parallel loops on memrefs that threads share: which do, the bounds of each, and what it has to do as far as that is known.

A loop is shared iff

1. it is a `scf.forall`, or a `scf.parallel` without a reduction, and in no other loop that is shared;
2. nothing in it takes or frees memory, on the stack neither, nor calls a function: what an iteration allocates has one place in
   the plan, and another thread would have the same;
3. what it reads from outside can be passed to a function: memrefs whose layout strides tell, and numbers of at most 64 bits;
4. its work is worth two threads, as far as it is known;
5. nothing in it changes memory atomically so that the order counts: it is by one operation on integers, and the old value is
   not used.

Work is counted through loops and branches (`scf.while`, `scf.if`) whose bounds are known, or at most so large (`arith.minsi`).
`analysis.allocations.privatization` says where rule 2 can be made to hold, and which loops that reduce become one that does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import cast

from hotdesk._bindings import ir
from hotdesk.ir.loops import LoopBounds, bounds_of, for_bounds
from hotdesk.ir.op_maps import OpSet
from hotdesk.ir.types import is_memref, is_strided, shape_of
from hotdesk.ir.walking import captured_operands, constant_of, integer_of, made_by, nested_ops
from hotdesk.models.control_flow import SHAREABLE
from hotdesk.models.func import CALL
from hotdesk.models.generics import DEAR, is_dear
from hotdesk.models.hotdesk import FOREIGN
from hotdesk.models.memref import COPY, LOAD, STORE
from hotdesk.models.new_memory import manages_memory
from hotdesk.models.scf import FOR, WHILE

GRAIN = 1 << 18
"""Operations, an access to memory counting as two, that are worth a thread: some ten microseconds."""

CALLS = (CALL, FOREIGN)

_ATOMIC = "memref.atomic_rmw"
_CHANGES = (_ATOMIC, "memref.generic_atomic_rmw")
_IN_ANY_ORDER = frozenset({1, 2, 6, 7, 10, 11, 13, 14, 15})
"""`addi`, `andi`, `maxs`, `maxu`, `mins`, `minu`, `muli`, `ori`, `xori`, by their numbers in `arith.AtomicRMWKind` (rule 5)."""
_KERNELS = ("linalg.", "hotdesk.", "tm_tensor.", COPY)
_ENOUGH = 16  # iterations of a dimension that is cut for its place
_SOME = 16  # iterations, or elements of a dimension, of which nothing is known
_WIDEST = 64  # bits that a number may have


@dataclass(frozen=True, slots=True)
class SharedLoop:
    """A loop that threads share.

    Attributes:
        op: the loop.
        cut: its dimension that is cut into ranges.
        weight: operations of an iteration, or of one of the innermost loop `within`, as far as they are known.
        within: the loops, one in the other, that are all there is to do in an iteration, as far as their bounds are known in
            front of the parallel loop.
    """

    op: ir.Operation
    cut: int
    weight: int
    within: tuple[LoopBounds, ...]


def find_shared_loops(ops: Sequence[ir.Operation]) -> list[SharedLoop]:
    """Those among the ops of a function, in order (rules 1 to 5)."""
    found: list[SharedLoop] = []
    inside = OpSet()
    for op in ops:
        if op.name not in SHAREABLE or op in inside or len(op.results):
            continue
        nested = nested_ops(op)
        if any(map(is_hindrance, nested)) or ordered_change(op) is not None:
            continue
        if not can_be_outlined(op) or not is_worth_it(op):
            continue
        innermost, within = _only_loops(op)
        found.append(SharedLoop(op, cut_dimension(op), weight(innermost), within))
        inside.update(nested)
    return found


def is_hindrance(op: ir.Operation) -> bool:
    """Whether a loop that an op is in is not shared as it is (rule 2)."""
    return op.name in CALLS or manages_memory(op)


def ordered_change(loop: ir.Operation) -> ir.Operation | None:
    """What changes memory atomically so that the order of iterations counts (rule 5)."""
    changes = [op for op in nested_ops(loop) if op.name in _CHANGES]
    kinds = {integer_of(op, "kind") if op.name == _ATOMIC else None for op in changes}
    in_any_order = len(kinds) == 1 and kinds <= _IN_ANY_ORDER
    return next((op for op in changes if not in_any_order or list(op.results[0].uses)), None)


def can_be_outlined(loop: ir.Operation) -> bool:
    """Whether all that a loop reads from outside can be passed to a function (rule 3)."""
    return all(_can_be_passed(value.type) for _, _, value in captured_operands(loop))


def _can_be_passed(kind: ir.Type) -> bool:
    if is_memref(kind):
        return is_strided(kind)
    if isinstance(kind, ir.IntegerType):
        return kind.width <= _WIDEST
    return isinstance(kind, (ir.IndexType, ir.F16Type, ir.BF16Type, ir.F32Type, ir.F64Type))


def cut_dimension(loop: ir.Operation) -> int:
    """The dimension to be cut into ranges: the outermost that is long enough, or else the longest."""
    trips = [each.trips for each in bounds_of(loop)]
    long = [place for place, count in enumerate(trips) if count is None or count >= _ENOUGH]
    return long[0] if long else max(range(len(trips)), key=lambda place: trips[place] or 0)


# Work


def is_worth_it(loop: ir.Operation) -> bool:
    """Whether the work of a parallel loop is worth two threads, or may be, where its sizes are not known (rule 4).

    One iteration is not. What is known only when it runs is counted then, if it is in bounds `within` (`SharedLoop`).
    """
    (innermost, within), bounds = _only_loops(loop), bounds_of(loop)
    if all(each.trips in (0, 1) for each in bounds):
        return False
    trips = [each.trips for each in (*bounds, *within)]
    return None in trips or prod(cast("list[int]", trips)) * weight(innermost) >= 2 * GRAIN


def weight(loop: ir.Operation) -> int:
    """Operations of an iteration, an access to memory counting as two, as far as they are known."""
    return sum(map(_cost, _body(loop)))


def weight_with_others(loop: ir.Operation, cut: int) -> int:
    """Operations of what has one place in a dimension: an iteration for each place in the others, as far as that is known."""
    others = [each.trips for dim, each in enumerate(bounds_of(loop)) if dim != cut]
    return weight(loop) * prod(_SOME if trips is None else trips for trips in others)


def _body(loop: ir.Operation) -> list[ir.Operation]:
    return [op.operation for op in loop.regions[0].blocks[0].operations]


def _only_loops(loop: ir.Operation) -> tuple[ir.Operation, tuple[LoopBounds, ...]]:
    """The `scf.for`s with bounds from outside, one in the other, that are all an iteration does but arithmetic, conditions, and
    stores of what a loop carries: the innermost loop, and the bounds of each. An upper bound may have one from outside as its
    limit (`arith.minsi`), and that counts."""
    inside = {value for op in (loop, *nested_ops(loop)) for value in _made_in(op)} - set(loop.results)
    innermost, found = loop, list[LoopBounds]()
    op = _only_inside(loop)
    while op is not None:
        if op.name == FOR:
            lower, upper, step = list(op.operands)[:3]
            bounds = [lower, _limit(upper, inside), step]
            if any(constant_of(value) is None and value in inside for value in bounds):
                break
            innermost = op
            found.append(LoopBounds.of(*bounds))
        op = _only_inside(op)
    return innermost, tuple(found)


def _limit(upper: ir.Value, inside: set[ir.Value]) -> ir.Value:
    """What an upper bound is at most, as far as that comes from outside."""
    least = made_by(upper, "arith.minsi")
    given = (
        []
        if least is None
        else [value for value in least.operands if value not in inside or constant_of(value) is not None]
    )
    return given[0] if upper in inside and given else upper


def _only_inside(op: ir.Operation) -> ir.Operation | None:
    """The `scf.for`, or `scf.if` of one way, that is all that the region of an op does but arithmetic and storing its results."""
    *body, _ = _body(op)
    others = [each for each in body if not each.name.startswith("arith.")]
    if not others or others[0].name not in (FOR, "scf.if"):
        return None
    if any(each.name != STORE or each.operands[0] not in others[0].results for each in others[1:]):
        return None
    return None if any(len(region.blocks) for region in list(others[0].regions)[1:]) else others[0]


def _made_in(op: ir.Operation) -> list[ir.Value]:
    arguments = [value for region in op.regions for block in region.blocks for value in block.arguments]
    return [*op.results, *arguments]


def _cost(op: ir.Operation) -> int:
    if op.name.startswith(_KERNELS):
        elements = max((_elements(value.type) for value in op.operands if is_memref(value.type)), default=1)
        return elements * (sum(map(_weight, nested_ops(op))) + 2 * len(op.operands))
    inner = sum(_cost(each.operation) for region in op.regions for block in region.blocks for each in block.operations)
    if op.name in SHAREABLE:
        return inner * prod(_SOME if each.trips is None else each.trips for each in bounds_of(op))
    if op.name == FOR:
        trips = for_bounds(op).trips
        return inner * (_SOME if trips is None else trips)
    if op.name == WHILE:
        return inner * _SOME
    return inner + _weight(op)


def _weight(op: ir.Operation) -> int:
    if is_dear(op):
        return DEAR
    return 2 if op.name in (LOAD, STORE) else 1


def _elements(kind: ir.Type) -> int:
    return prod(_SOME if size is None else size for size in shape_of(kind))
