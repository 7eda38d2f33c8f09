"""16-bit floats are widened in each op that reads them, so that they are never in memory in a wider type.

    %w = generic(%x) { extf }                            %s = generic(%x) { sum of extf }
    %s = generic(%w) { sum }                      ->     %r = generic(%x, %s) { truncf(extf - s) }
    %r = generic(%w, %s) { truncf(w - s) }

This pass gives each reader a widening of its own, right in front of it; fusing makes one op of both.

Legal iff

1. the op makes floats of more than 16 bits, element by element, of one tensor of 16-bit floats of as many elements, and of what
   it repeats along some loop;
2. it does little: it converts, adds, subtracts and multiplies; it divides only what it repeats;
3. several linalg ops of its block read the result, and nothing else does; none of them writes over it.

What it reads is needed for as long as the result was, and takes half of the bytes or less.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from hotdesk._bindings import ir
from hotdesk.elements import FLOAT_BITS, HALVES
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.locations import source_in_model
from hotdesk.ir.types import element_of, is_tensor
from hotdesk.ir.walking import nested_ops
from hotdesk.models.generics import GENERIC, Generic, is_linalg, read_generic
from hotdesk.models.purity import is_pure
from hotdesk.passes.base import FunctionPass

_LITTLE = ("arith.extf", "arith.truncf", "arith.addf", "arith.subf", "arith.mulf", "arith.negf", "linalg.yield")
_DIVISION = "arith.divf"


@dataclass(frozen=True, slots=True)
class WidenInReaders(FunctionPass):
    """Gives every reader of widened 16-bit floats a widening of its own."""

    name: ClassVar[str] = "hotdesk-widen-in-readers"
    reasons: ClassVar[tuple[Reason, ...]] = (Reason.CHEAP_TO_RECOMPUTE,)

    def run_on(self, function: ir.Operation) -> Iterator[Decision]:
        for op in [op for op in nested_ops(function) if op.name == GENERIC]:
            for user, operand in _readers(op)[1:] if _widens(op) else []:
                own = op.clone(ir.InsertionPoint(user))
                user.operands[operand] = own.results[0]
                yield Decision("widening", Outcome.FOLDED, Reason.CHEAP_TO_RECOMPUTE, (source_in_model(op),), 0)


def _readers(op: ir.Operation) -> list[tuple[ir.Operation, int]]:
    """Who reads the result, and as which operand; none unless rule 3 holds."""
    uses = [(cast(Any, use).owner.operation, use.operand_number) for use in op.results[0].uses]
    return uses if all(_reads_only(user, operand, op.block) for user, operand in uses) else []


def _reads_only(user: ir.Operation, operand: int, block: ir.Block) -> bool:
    generic = read_generic(user) if is_linalg(user) else None
    return generic is not None and operand < generic.inputs and user.block == block


def _widens(op: ir.Operation) -> bool:
    """Whether an op is a widening by rules 1 and 2."""
    generic = read_generic(op)
    if generic is None or len(op.results) != 1 or not all(generic.parallel) or not is_pure(op):
        return False
    (output,) = generic.outputs
    if FLOAT_BITS.get(element_of(op.results[0].type), 0) <= 16 or not generic.is_permutation(output):
        return False
    whole = [i for i in range(generic.inputs) if is_tensor(op.operands[i].type) and generic.is_permutation(i)]
    is_wider = len(whole) == 1 and element_of(op.operands[whole[0]].type) in HALVES
    return is_wider and not generic.reads(output) and _does_little(generic, whole[0])


def _does_little(generic: Generic, whole: int) -> bool:
    """Rule 2, where `whole` is the number of the operand that is not repeated."""
    block = generic.op.regions[0].blocks[0]
    by_element: set[ir.Value] = {block.arguments[whole]}
    for op in (each.operation for each in block.operations):
        is_by_element = any(value in by_element for value in op.operands)
        if op.name not in _LITTLE and (op.name != _DIVISION or is_by_element):
            return False
        if is_by_element:
            by_element.update(op.results)
    return True
