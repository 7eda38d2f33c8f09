"""Ends partial bufferization: materializations go, and no tensor is left.

    %t = bufferization.to_tensor %m
    %b = bufferization.to_buffer %t; use %b     ->     use %m

Legal iff

1. every op that has tensors and is not dead is a materialization between two buffer ops; otherwise the first op that is not is
   named in the error.

2. Nothing is copied where the two memrefs have one layout; else %m is used as it is by ops that take any layout, and copied into
   a buffer of the other layout for all others (`different-layout`).

Allocations that nobody uses go too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.explain import Decision, Outcome, Reason, Source
from hotdesk.ir.building import create
from hotdesk.ir.locations import python_line
from hotdesk.ir.types import is_any_tensor, is_memref, layout_of, shape_of
from hotdesk.ir.walking import all_functions, defining_op, dialect_of, nested_ops, symbol_name, users
from hotdesk.models.bufferization import TO_BUFFER, TO_TENSOR
from hotdesk.models.layouts import takes_any_layout
from hotdesk.models.new_memory import ALLOC
from hotdesk.passes.base import Pass
from hotdesk.passes.bufferize.leftover_tensors import refuse_elsewhere, still_has, tensor_at
from hotdesk.passes.bufferize.materializing import copied_as
from hotdesk.passes.properties import NO_TENSORS, Property
from hotdesk.program.symbolic import byte_size

_ERASED_IF_UNUSED = ("tensor", "linalg", "arith", "hotdesk", "tm_tensor", "bufferization")


@dataclass(frozen=True, slots=True)
class FinalizingBufferize(Pass):
    """Folds materializations away (rules in the module docstring)."""

    name: ClassVar[str] = "hotdesk-finalizing-bufferize"
    reasons: ClassVar[tuple[Reason, ...]] = (Reason.DIFFERENT_LAYOUT,)

    def ensures(self) -> tuple[Property, ...]:
        return (NO_TENSORS,)

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        decisions: list[Decision] = []
        for function in all_functions(module):
            _erase_dead(function)
            _refuse_tensors(function)
        refuse_elsewhere(module)
        for function in all_functions(module):
            for op in [op for op in nested_ops(function) if op.name == TO_BUFFER]:
                decisions.extend(_fold(op, function))
            _erase_dead(function)
        return tuple(decisions)


def _erase_dead(function: ir.Operation) -> None:
    for op in reversed(list(nested_ops(function))):
        dead = len(op.results) > 0 and all(next(iter(result.uses), None) is None for result in op.results)
        tensors = any(is_any_tensor(result.type) for result in op.results) or op.name == TO_BUFFER
        if dead and (op.name == ALLOC or (tensors and dialect_of(op.name) in _ERASED_IF_UNUSED)):
            op.erase()


def _refuse_tensors(function: ir.Operation) -> None:
    for block in function.regions[0].blocks:
        for argument in block.arguments:
            if is_any_tensor(argument.type):
                raise still_has(f"function @{symbol_name(function)}", function, argument.type, _hint(function))
    for op in nested_ops(function):
        found = None if op.name in (TO_BUFFER, TO_TENSOR) else tensor_at(op)
        if found is not None:
            raise still_has(f"op `{op.name}`", op, found, _hint(op))


def _hint(op: ir.Operation) -> str | None:
    dialect = dialect_of(op.name)
    known = dialect in ("tensor", "linalg", "arith", "func", "scf")
    return f"Does hotdesk-{dialect}-bufferize run before, and has the op a model?" if known else None


def _fold(op: ir.Operation, function: ir.Operation) -> list[Decision]:
    made = defining_op(op.operands[0])
    assert made is not None  # a materialization, as nothing else has tensors
    memref, wanted = made.operands[0], op.results[0].type
    decisions: list[Decision] = []
    if memref.type != wanted:
        for use in list(op.results[0].uses):
            user = use.owner.operation
            if takes_any_layout(user) or dialect_of(user.name) in ("hotdesk", "tm_tensor"):
                user.operands[use.operand_number] = memref
        if users(op.results[0]):
            memref, copies = _with_layout(memref, wanted, op)
            if copies:
                source = Source(users(op.results[0])[0].name, python_line(users(op.results[0])[0].location))
                size = byte_size(memref, function)
                decisions.append(Decision("materialization", Outcome.COPIED, Reason.DIFFERENT_LAYOUT, (source,), size))
    if users(op.results[0]):
        op.results[0].replace_all_uses_with(memref)
    op.erase()
    return decisions


def _with_layout(memref: ir.Value, wanted: ir.Type, before: ir.Operation) -> tuple[ir.Value, bool]:
    """A memref of the type, and whether it is a copy; where all strides and offsets that are asked for are given, a cast does."""
    if is_memref(wanted) and shape_of(memref.type) == shape_of(wanted):
        (strides, offset), (asked, start) = layout_of(memref.type), layout_of(wanted)
        pairs = zip((*strides, offset), (*asked, start), strict=True)
        if all(b is None or a == b for a, b in pairs):
            return create("memref.cast", [memref], [wanted], before=before).results[0], False
    return copied_as(memref, wanted, before), True
