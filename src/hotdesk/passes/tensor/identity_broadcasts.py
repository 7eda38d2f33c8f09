"""Broadcasts to sizes known only when the program runs, which turn out to be the sizes that the tensor has.

    %r = linalg.generic outs(%e : tensor<?x4xf32>) { %i = linalg.index 0; %j = linalg.index 1
           %one = arith.cmpi eq, %n, 1; %k = arith.select %one, 0, %i          ->    %x
           linalg.yield (tensor.extract %x[%k, %j]) }

Legal iff

1. the payload does nothing but extract the element of a tensor of the result's type,
2. whose place along each dimension is the number of the loop, or 0 where a size is 1,
3. and tensor and result have the same size along each dimension, for all sizes of the arguments; so has that size.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from hotdesk._bindings import ir
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.locations import source_of
from hotdesk.ir.walking import (
    constant_of,
    defining_op,
    integer_of,
    made_by,
    segment_sizes,
    top_level_ops,
)
from hotdesk.models.control_flow import CHOICE
from hotdesk.models.generics import GENERIC, NUMBER
from hotdesk.passes.base import FunctionPass
from hotdesk.program.symbolic import SymbolicSizes
from hotdesk.sizes.size import Size


@dataclass(frozen=True, slots=True)
class DropIdentityBroadcasts(FunctionPass):
    """Replaces broadcasts that change no size by what they broadcast (see the module docstring)."""

    name: ClassVar[str] = "hotdesk-drop-identity-broadcasts"
    reasons: ClassVar[tuple[Reason, ...]] = (Reason.VIEW_OF_OPERAND,)

    def run_on(self, function: ir.Operation) -> Iterator[Decision]:
        sizes = SymbolicSizes(function)
        for op in top_level_ops(function):
            source = _broadcast(op, sizes)
            if source is not None:
                at = source_of(op)
                yield Decision("broadcast", Outcome.FOLDED, Reason.VIEW_OF_OPERAND, (at,), 0)
                op.results[0].replace_all_uses_with(source)
                op.erase()


def _broadcast(op: ir.Operation, sizes: SymbolicSizes) -> ir.Value | None:
    """What an op broadcasts to the sizes that it has; None for any other op."""
    if op.name != GENERIC or segment_sizes(op) != (0, 1) or len(op.results) != 1:
        return None
    result = op.results[0]
    rank = cast(Any, result.type).rank
    if cast(Any, op.attributes["indexing_maps"])[0].value != ir.AffineMap.get_identity(rank):
        return None
    extract = made_by(list(op.regions[0].blocks[0].operations)[-1].operands[0], "tensor.extract")
    if extract is None or extract.operands[0].type != result.type:
        return None
    source, *places = extract.operands
    shape = sizes.shape(result)
    if sizes.shape(source) != shape:
        return None
    same = all(_is_place(place, dim, size, sizes) for dim, (place, size) in enumerate(zip(places, shape, strict=True)))
    return source if same else None


def _is_place(place: ir.Value, dim: int, size: Size, sizes: SymbolicSizes) -> bool:
    """Whether an index is the number of the loop wherever that dimension, which has a size, is not of size 1."""
    op = defining_op(place)
    if op is None:
        return False
    if op.name == NUMBER:
        return integer_of(op, "dim") == dim
    if op.name != CHOICE or constant_of(op.operands[1]) != 0 or not _is_place(op.operands[2], dim, size, sizes):
        return False
    test = made_by(op.operands[0], "arith.cmpi")
    if test is None or integer_of(test, "predicate") != 0:
        return False
    return constant_of(test.operands[1]) == 1 and {sizes.value(test.operands[0])} == {size}
