"""Gives convolutions the scratch memory that their kernels ask for, as an allocation like any other.

    hotdesk.conv %x, %w, %y    ->    %s = memref.alloc() : memref<262144xi8>; hotdesk.conv %x, %w, %y, %s {spread = …}

Always legal. So scratch memory is planned, shared and reported; no kernel allocates. Transposed convolutions
ask for it; `spread` says how their work is cut to fit in there, for their kernels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, cast

import sympy

from hotdesk._bindings import ir
from hotdesk.errors import LoweringError
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.building import create, integers, remade
from hotdesk.ir.locations import source_in_model
from hotdesk.ir.types import shape_of
from hotdesk.ir.walking import attributes_of, defined_functions, ops_outside_payloads, runs_every_call
from hotdesk.models.convolution import sliding_of
from hotdesk.models.hotdesk import CONV, SPREAD, scratch_operands
from hotdesk.passes.base import Pass
from hotdesk.passes.lower.convolution.dispatch import may_be_cut
from hotdesk.passes.lower.named import scratch_wanted
from hotdesk.passes.lower.views import MemrefResolver, ResolvedMemref, seen_by_type
from hotdesk.passes.properties import NO_TENSORS, SCRATCH_GIVEN, Property
from hotdesk.program.symbolic import SymbolicSizes
from hotdesk.sizes.size import Size


@dataclass(frozen=True, slots=True)
class AllocateWorkspaces(Pass):
    """Allocates the workspace of every `hotdesk.conv` that asks for one."""

    name: ClassVar[str] = "hotdesk-allocate-workspaces"
    reasons: ClassVar[tuple[Reason, ...]] = (Reason.WORKSPACE,)

    def requires(self) -> tuple[Property, ...]:
        return (NO_TENSORS,)

    def ensures(self) -> tuple[Property, ...]:
        return (SCRATCH_GIVEN,)

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        decisions: list[Decision] = []
        for function in defined_functions(module):
            convolutions = [op for op in ops_outside_payloads(function) if op.name == CONV and _may_want(op)]
            if not convolutions:
                continue
            places = MemrefResolver(function, SymbolicSizes(function))
            reported = runs_every_call(function)
            for op in convolutions:
                allocated = self._allocate(op, places)
                decisions.extend(allocated if reported else ())
        return tuple(decisions)

    def _allocate(self, op: ir.Operation, places: MemrefResolver) -> list[Decision]:
        found = scratch_wanted(op, [_place(value, places) for value in op.operands])
        if found is None:
            return []
        cut, wanted = found
        source = source_in_model(op)
        memref = ir.MemRefType.get([wanted], ir.IntegerType.get_signless(8))
        attributes: dict[str, ir.Attribute] = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 0])}
        scratch = create("memref.alloc", [], [memref], attributes, before=op).results[0]
        remade(op, [*op.operands, scratch], [], {**attributes_of(op), SPREAD: integers(cut)})
        op.erase()
        return [Decision(_SUBJECT, Outcome.ALLOCATED, Reason.WORKSPACE, (source,), wanted)]


def _may_want(op: ir.Operation) -> bool:
    """Whether a convolution has no scratch memory yet, and may want some by its attributes."""
    sliding, taps = sliding_of(op), shape_of(op.operands[1].type)[2:]
    without = not scratch_operands(op)
    return without and may_be_cut(sliding.strides, sliding.dilations, sliding.input_dilations, taps)


def _place(value: ir.Value, places: MemrefResolver) -> ResolvedMemref:
    """Where a memref lies; with control flow, as far as its type tells, which is what the kernel is generated for then."""
    try:
        return places.of(value)
    except LoweringError:
        return seen_by_type(value, value, lambda number: cast(Size, sympy.Symbol(f"open{number}")))


_SUBJECT = "convolution workspace"
