"""Recomputes what is cheaper to make again than to keep or copy.

    %f = fill 0; use %f; use %f     ->     %f0 = fill 0; use %f0; %f1 = fill 0; use %f1

Made again is

1. a `tensor.empty`;
2. an elementwise op without tensor operands (a fill, an iota);
3. a reshape of either.

Each user gets its own, right in front of it, so no buffer is copied because two accumulators began from the same zeros, and none
lives from the start of the program. A user that overwrites all of it unread gets what a fill would write into.

A constant of one repeated element that an op would overwrite becomes such a fill:

    %c = constant dense<0.0>; matmul outs(%c)     ->     %f = fill 0.0; matmul outs(%f)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from hotdesk._bindings import ir
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.building import create, empty_like, fill
from hotdesk.ir.locations import source_in_model
from hotdesk.ir.types import is_tensor
from hotdesk.ir.walking import (
    captured_operands,
    defining_op,
    dialect_of,
    is_constant,
    ops_around,
    segment_sizes,
    top_level_ops,
)
from hotdesk.models.dialects import DESTINATION_DIALECTS
from hotdesk.models.facts import Facts
from hotdesk.models.generics import GENERIC
from hotdesk.models.linalg import FILL
from hotdesk.models.registry import model_of
from hotdesk.models.tensor import EMPTY, WHOLE_VIEWS
from hotdesk.passes.base import FunctionPass
from hotdesk.passes.properties import ONE_USE_EACH, Property


@dataclass(frozen=True, slots=True)
class RematerializeCheapOps(FunctionPass):
    """Gives every user of a cheap definition its own copy of it."""

    name: ClassVar[str] = "hotdesk-rematerialize-cheap-ops"
    reasons: ClassVar[tuple[Reason, ...]] = (Reason.CHEAP_TO_RECOMPUTE,)

    def ensures(self) -> tuple[Property, ...]:
        return (ONE_USE_EACH,)

    def run_on(self, function: ir.Operation) -> Iterator[Decision]:
        for op in reversed(top_level_ops(function)):
            if is_cheap(op):
                yield from _separate(op)
            elif is_constant(op):
                yield from _filled(op)


def is_cheap(op: ir.Operation) -> bool:
    """Whether the op defines a tensor from no other tensor's contents."""
    if op.name in (EMPTY, FILL):
        return len(op.results) == 1
    if op.name in WHOLE_VIEWS:
        source = defining_op(op.operands[0])
        return source is not None and is_cheap(source)
    if op.name != GENERIC or segment_sizes(op)[0] != 0 or len(op.results) != 1:
        return False
    arguments = op.regions[0].blocks[0].arguments
    reads = any(next(iter(argument.uses), None) is not None for argument in arguments)
    return not reads and not any(is_tensor(value.type) for _, _, value in captured_operands(op))


def _separate(op: ir.Operation) -> list[Decision]:
    decisions: list[Decision] = []
    wanted: list[tuple[ir.Operation, int]] = []
    for use in list(op.results[0].uses):
        user, operand = cast(Any, use.owner).operation, use.operand_number
        if op.name != EMPTY and _is_unread(user, operand):
            user.operands[operand] = _destination(op, _around(user, op))
        else:
            wanted.append((user, operand))
    for user, operand in wanted[:-1]:
        clone = op.clone(ir.InsertionPoint(_around(user, op)))
        user.operands[operand] = clone.results[0]
        if op.name != EMPTY:
            decisions.append(_recomputed(op))
    if wanted:
        op.move_before(_around(wanted[-1][0], op))
    else:
        op.erase()
    return decisions


def _destination(op: ir.Operation, before: ir.Operation) -> ir.Value:
    """What a cheap op writes into, in the shape of its result."""
    if op.name in WHOLE_VIEWS:
        source = _destination(cast(ir.Operation, defining_op(op.operands[0])), before)
        clone = op.clone(ir.InsertionPoint(before))
        clone.operands[0] = source
        return clone.results[0]
    if op.name == EMPTY:
        return op.clone(ir.InsertionPoint(before)).results[0]
    made = defining_op(op.operands[-1])
    return _destination(made, before) if made is not None and is_cheap(made) else op.operands[-1]


def _filled(op: ir.Operation) -> list[Decision]:
    """Gives users that would overwrite a constant of one repeated element a fill of their own."""
    value = op.attributes["value"]
    if not isinstance(value, ir.DenseElementsAttr) or not value.is_splat or not is_tensor(op.results[0].type):
        return []
    decisions: list[Decision] = []
    for user, operand in [(cast(Any, use.owner).operation, use.operand_number) for use in op.results[0].uses]:
        if not _is_overwritten(user, operand):
            continue
        before = _around(user, op)
        element = value.get_splat_value()
        name = "complex.constant" if isinstance(element, ir.ArrayAttr) else "arith.constant"
        scalar = create(name, [], [cast(Any, value.type).element_type], {"value": element}, before=before).results[0]
        user.operands[operand] = fill(scalar, empty_like(op.results[0], before), before)
        decisions.append(_recomputed(op))
    if next(iter(op.results[0].uses), None) is None:
        op.erase()
    return decisions


def _is_overwritten(op: ir.Operation, operand: int) -> bool:
    """Whether an op writes into an operand, and wants what it holds."""
    facts = _destination_facts(op)
    return any(operand == tied for tied, _ in facts.ties) and facts.needs(operand)


def _is_unread(op: ir.Operation, operand: int) -> bool:
    """Whether an op overwrites all of an operand, and does not want what it holds."""
    return not _destination_facts(op).needs(operand)


def _destination_facts(op: ir.Operation) -> Facts:
    """What is known of an op in destination-passing style; nothing of others."""
    model = model_of(op.name)
    styled = model is not None and dialect_of(op.name) in DESTINATION_DIALECTS
    return model.facts(op) if model is not None and styled else Facts()


def _around(user: ir.Operation, op: ir.Operation) -> ir.Operation:
    """What uses a result of `op`, or the op around it that is in the same region as `op`."""
    return next(each for each in (user, *ops_around(user)) if each.parent == op.parent)


def _recomputed(op: ir.Operation) -> Decision:
    source = source_in_model(op)
    return Decision("fill", Outcome.FOLDED, Reason.CHEAP_TO_RECOMPUTE, (source,), 0)
