"""Parallel loops on memrefs that threads share: which do, the bounds of each, and what it has to do as far as that is known.

A loop is shared iff

1. it is a `scf.forall`, or a `scf.parallel` without a reduction, and in no other loop that is shared;
2. nothing in it takes or frees memory, on the stack neither, nor calls a function: what an iteration allocates has one place in
   the plan, and another thread would have the same;
3. what it reads from outside can be passed to a function: memrefs whose layout strides tell, and numbers of at most 64 bits;
4. its work is worth two threads, as far as it is known.

`analysis.allocations.privatization` says where rule 2 can be made to hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import cast

from hotdesk._bindings import ir
from hotdesk.ir.types import DYNAMIC, is_memref, is_strided, shape_of
from hotdesk.ir.walking import captured_operands, constant_of, int_array, nested_ops
from hotdesk.models.generics import is_dear

GRAIN = 1 << 18
"""Operations, an access to memory counting as two, that are worth a thread: some ten microseconds."""

SHAREABLE = ("scf.forall", "scf.parallel")
MEMORY = ("memref.alloc", "memref.alloca", "memref.dealloc", "memref.realloc", "memref.alloca_scope")
"""What takes and frees memory (rule 2)."""
CALLS = ("func.call", "hotdesk.foreign")

_KERNELS = ("linalg.", "hotdesk.", "tm_tensor.", "memref.copy")
_ENOUGH = 16  # iterations of a dimension that is cut for its place
_SOME = 16  # iterations, or elements of a dimension, of which nothing is known
_DEAR = 10  # operations that an elementary function stands for
_WIDEST = 64  # bits that a number may have


@dataclass(frozen=True, slots=True)
class LoopBounds:
    """Where one dimension of a loop begins and ends, and its step: each an integer or a value."""

    lower: int | ir.Value
    upper: int | ir.Value
    step: int | ir.Value

    @property
    def trips(self) -> int | None:
        """How many iterations it has; None where that is known only when it runs."""
        match self:
            case LoopBounds(int(lower), int(upper), int(step)) if step > 0:
                return max(0, -((lower - upper) // step))
            case _:
                return None


@dataclass(frozen=True, slots=True)
class SharedLoop:
    """A loop that threads share.

    Attributes:
        op: the loop.
        cut: its dimension that is cut into ranges.
        weight: operations of an iteration, or of one of the loop `within`, as far as they are known.
        within: the loop that is all there is to do in an iteration, and whose bounds are known in front of the parallel loop;
            None if there is no such one.
    """

    op: ir.Operation
    cut: int
    weight: int
    within: LoopBounds | None


def find_shared_loops(ops: Sequence[ir.Operation]) -> list[SharedLoop]:
    """Those among the ops of a function, in order (rules 1 to 4)."""
    found: list[SharedLoop] = []
    inside: set[ir.Operation] = set()
    for op in ops:
        if op.name not in SHAREABLE or op in inside or len(op.results):
            continue
        nested = nested_ops(op)
        if any(each.name in (*MEMORY, *CALLS) for each in nested) or not can_be_outlined(op) or not is_worth_it(op):
            continue
        inner = _only_loop(op)
        within = None if inner is None else _for_bounds(inner)
        found.append(SharedLoop(op, cut_dimension(op), weight(op if inner is None else inner), within))
        inside.update(nested)
    return found


def can_be_outlined(loop: ir.Operation) -> bool:
    """Whether all that a loop reads from outside can be passed to a function (rule 3)."""
    return all(_can_be_passed(value.type) for _, _, value in captured_operands(loop))


def _can_be_passed(kind: ir.Type) -> bool:
    if is_memref(kind):
        return is_strided(kind)
    if isinstance(kind, ir.IntegerType):
        return kind.width <= _WIDEST
    return isinstance(kind, (ir.IndexType, ir.F16Type, ir.BF16Type, ir.F32Type, ir.F64Type))


# Bounds


def bounds_of(loop: ir.Operation) -> list[LoopBounds]:
    """The bounds of each dimension of a parallel loop."""
    segments = int_array(loop.attributes["operandSegmentSizes"])
    groups: list[list[int | ir.Value]] = []
    if loop.name == "scf.parallel":
        values, rank = [_number(value) for value in loop.operands], segments[0]
        groups = [values[rank * i : rank * (i + 1)] for i in range(3)]
    else:
        rest = iter(list(loop.operands))
        for name in ("staticLowerBound", "staticUpperBound", "staticStep"):
            entries = int_array(loop.attributes[name])
            groups.append([_number(next(rest)) if entry == DYNAMIC else entry for entry in entries])
    return [LoopBounds(*each) for each in zip(*groups, strict=True)]


def _for_bounds(loop: ir.Operation) -> LoopBounds:
    return LoopBounds(*(_number(value) for value in list(loop.operands)[:3]))


def _number(value: ir.Value) -> int | ir.Value:
    known = constant_of(value)
    return known if isinstance(known, int) else value


def cut_dimension(loop: ir.Operation) -> int:
    """The dimension to be cut into ranges: the outermost that is long enough, or else the longest."""
    trips = [each.trips for each in bounds_of(loop)]
    long = [place for place, count in enumerate(trips) if count is None or count >= _ENOUGH]
    return long[0] if long else max(range(len(trips)), key=lambda place: trips[place] or 0)


# Work


def is_worth_it(loop: ir.Operation) -> bool:
    """Whether the work of a parallel loop is worth two threads, or may be, where its sizes are not known (rule 4)."""
    trips = [each.trips for each in bounds_of(loop)]
    return None in trips or prod(cast("list[int]", trips)) * weight(loop) >= 2 * GRAIN


def weight(loop: ir.Operation) -> int:
    """Operations of an iteration, an access to memory counting as two, as far as they are known."""
    return sum(map(_cost, _body(loop)))


def _body(loop: ir.Operation) -> list[ir.Operation]:
    return [op.operation for op in loop.regions[0].blocks[0].operations]


def _only_loop(loop: ir.Operation) -> ir.Operation | None:
    """The `scf.for` that is all that an iteration does but arithmetic, and whose bounds are from outside."""
    loops = [op for op in _body(loop)[:-1] if len(op.regions)]
    if len(loops) != 1 or loops[0].name != "scf.for":
        return None
    if any(not op.name.startswith("arith.") for op in _body(loop)[:-1] if op != loops[0]):
        return None
    bounds = [value for value in list(loops[0].operands)[:3] if constant_of(value) is None]
    inside = {value for op in (loop, *nested_ops(loop)) for value in _made_in(op)} - set(loop.results)
    return None if inside.intersection(bounds) else loops[0]


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
    if op.name == "scf.for":
        trips = _for_bounds(op).trips
        return inner * (_SOME if trips is None else trips)
    if op.name == "scf.while":
        return inner * _SOME
    return inner + _weight(op)


def _weight(op: ir.Operation) -> int:
    if is_dear(op):
        return _DEAR
    return 2 if op.name in ("memref.load", "memref.store") else 1


def _elements(kind: ir.Type) -> int:
    return prod(_SOME if size is None else size for size in shape_of(kind))
