"""Bufferizes the `tensor` dialect alone; other ops keep their tensors.

    %s = tensor.extract_slice %x[1] [2] [1]     ->     %m = bufferization.to_buffer %x
                                                       %v = memref.subview %m[1] [2] [1]
                                                       %s = bufferization.to_tensor %v

1. `tensor.empty` and `bufferization.alloc_tensor` become allocations.
2. Slices, reshapes and casts become views; an insertion is made into a copy of its destination, since nothing is analysed
   (`not-analysed`). What lies in other memory, or in another layout, than it has to is copied (`lies-elsewhere`,
   `different-layout`).
3. An op without a model, with an unranked tensor, or inside a payload where it does more than read, is left alone.

The order of partial passes does not matter. `hotdesk-finalizing-bufferize` ends what they began.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.explain import Decision, Reason
from hotdesk.models.bufferization import ALLOC_TENSOR
from hotdesk.passes.base import Pass
from hotdesk.passes.bufferize.partial import bufferize_ops
from hotdesk.passes.properties import NO_TENSOR_OPS, Property


@dataclass(frozen=True, slots=True)
class TensorBufferize(Pass):
    """Bufferizes `tensor` ops (rules in the module docstring)."""

    name: ClassVar[str] = "hotdesk-tensor-bufferize"
    reasons: ClassVar[tuple[Reason, ...]] = (Reason.NOT_ANALYSED, Reason.DIFFERENT_LAYOUT, Reason.LIES_ELSEWHERE)

    def ensures(self) -> tuple[Property, ...]:
        return (NO_TENSOR_OPS,)

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        return bufferize_ops(module, lambda name: name.startswith("tensor.") or name == ALLOC_TENSOR)
