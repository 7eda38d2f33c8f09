"""Whether the ops that use an allocation accept another memref in its place, maybe of another type.

1. The type is the same; then nothing but the value changes.
2. Both are rows without gaps, and differ in which sizes the types show: a `memref.cast` in between.
3. The layout differs, and each op that has the allocation takes any: loads, stores, copies, linalg ops, and slices, which are
   made anew for the other type if the ops that have them take any in turn.

In no case may an op count on the alignment of the allocation: `memref.assume_alignment`, a load or store that says so, or, if
what comes in its place is no allocation, `memref.view` of bytes as elements that need more than bytes do.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.analysis.allocations.types import counts_on_alignment, is_contiguous, natural_alignment
from hotdesk.analysis.allocations.uses import Allocation
from hotdesk.analysis.memrefs.buffer_program import BufferOp, BufferProgram, Kind
from hotdesk.explain import Reason
from hotdesk.ir.types import same_space, shape_of
from hotdesk.models.layouts import takes_any_layout
from hotdesk.models.memref import SUBVIEW


class TypeFit(Enum):
    """What it takes to put another memref in the place of an allocation."""

    SAME = "nothing"
    CAST = "a cast"
    RETYPED = "slices of it made anew"


def fit_of(program: BufferProgram, old: Allocation, new: int, *, stays: bool) -> TypeFit | tuple[Reason, int]:
    """How memref `new` fits in the place of an allocation, or why it does not, and because of which op.

    `stays` is whether the allocation is handed to no other block.
    """
    ops = program.ops
    for user in old.users:
        if counts_on_alignment(ops[user].operation) or _shows_larger(program, ops[user], old.buffer, new):
            return Reason.ALIGNMENT_ASSUMED, user
    a, b = (cast(Any, program.buffers[number].value.type) for number in (old.buffer, new))
    if a == b:
        return TypeFit.SAME
    pairs = list(zip(shape_of(a), shape_of(b), strict=True)) if a.rank == b.rank else []
    alike = (a.rank, a.element_type) == (b.rank, b.element_type) and same_space(a.memory_space, b.memory_space)
    if not alike or any(None not in pair and pair[0] != pair[1] for pair in pairs):
        return Reason.OTHER_TYPE, old.users[0]
    if is_contiguous(a) and is_contiguous(b):
        return TypeFit.CAST
    if not stays or shape_of(a) != shape_of(b):
        return Reason.OTHER_TYPE, old.users[0]
    refused = _not_taking(program, old.buffer)
    return TypeFit.RETYPED if refused is None else (Reason.OTHER_TYPE, refused)


def _shows_larger(program: BufferProgram, op: BufferOp, old: int, new: int) -> bool:
    """Whether an op shows memory as elements that need a stricter alignment than those of `old`, which `new` may not have."""
    if op.name != "memref.view" or program.buffers[new].kind is Kind.ALLOCATION:
        return False
    return natural_alignment(op.operation.results[0].type) > natural_alignment(program.buffers[old].value.type)


def _not_taking(program: BufferProgram, buffer: int) -> int | None:
    """The first op that has a memref, or a slice of it, and asks for a certain layout."""
    space: ir.Attribute | None = cast(Any, program.buffers[buffer].value.type).memory_space
    for user in program.users[buffer]:
        op = program.ops[user]
        if op.name == SUBVIEW and space is None:
            refused = _not_taking(program, op.results[0])
            if refused is not None:
                return refused
        elif not takes_any_layout(op.operation):
            return user
    return None
