"""Bufferizes structured control flow alone; what is in its regions keeps its tensors.

    %r = scf.for … iter_args(%p = %x) -> (tensor<4xf32>) {      %m = bufferization.to_buffer %x
      %s = tensor.insert_slice …                                %a = scf.for … iter_args(%b = %m) -> (memref<4xf32>) {
      scf.yield %s }                                     ->       %p = bufferization.to_tensor %b
                                                                  %s = tensor.insert_slice …
                                                                  %c = bufferization.to_buffer %s
                                                                  scf.yield %c }
                                                                %r = bufferization.to_tensor %a

1. What enters a loop, what regions yield, and what ops with regions return are memrefs, contiguous ones.
2. Nothing is copied, unless it lies in another layout or elsewhere: whoever writes makes a buffer first (`different-layout`,
   `lies-elsewhere`, `not-analysed`).
3. An op without a model, or with an unranked tensor, is left alone.

The order of partial passes does not matter. `hotdesk-finalizing-bufferize` ends what they began.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.explain import Decision, Reason
from hotdesk.passes.base import Pass
from hotdesk.passes.bufferize.partial import bufferize_ops
from hotdesk.passes.properties import NO_TENSORS_FROM_FLOW, Property


@dataclass(frozen=True, slots=True)
class ScfBufferize(Pass):
    """Bufferizes `scf` ops (rules in the module docstring)."""

    name: ClassVar[str] = "hotdesk-scf-bufferize"
    reasons: ClassVar[tuple[Reason, ...]] = (Reason.NOT_ANALYSED, Reason.DIFFERENT_LAYOUT, Reason.LIES_ELSEWHERE)

    def ensures(self) -> tuple[Property, ...]:
        return (NO_TENSORS_FROM_FLOW,)

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        return bufferize_ops(module, lambda name: name.startswith("scf."))
