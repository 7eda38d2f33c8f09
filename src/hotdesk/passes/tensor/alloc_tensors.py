"""Undefined tensors as allocations of their own.

    %e = tensor.empty(%n) : tensor<?xf32>     ->     %e = bufferization.alloc_tensor(%n) : tensor<?xf32>

Always legal. MLIR's bufferization makes one buffer of each `bufferization.alloc_tensor`, and none of a `tensor.empty`; Hotdesk's
own passes read `tensor.empty`, so this one is for pipelines that end in MLIR's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.explain import Decision
from hotdesk.ir.building import create, replace
from hotdesk.ir.walking import nested_ops
from hotdesk.models.tensor import EMPTY
from hotdesk.passes.base import FunctionPass
from hotdesk.passes.properties import NO_UNDEFINED_TENSORS, Property


@dataclass(frozen=True, slots=True)
class EmptyTensorToAllocTensor(FunctionPass):
    """Turns every `tensor.empty` into a `bufferization.alloc_tensor`."""

    name: ClassVar[str] = "hotdesk-empty-tensor-to-alloc-tensor"

    def ensures(self) -> tuple[Property, ...]:
        return (NO_UNDEFINED_TENSORS,)

    def run_on(self, function: ir.Operation) -> Iterable[Decision]:
        for op in [op for op in nested_ops(function) if op.name == EMPTY]:
            sizes = list(op.operands)
            attributes: dict[str, ir.Attribute] = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(sizes), 0, 0])}
            replace(op, create("bufferization.alloc_tensor", sizes, [op.results[0].type], attributes, before=op))
        return ()
