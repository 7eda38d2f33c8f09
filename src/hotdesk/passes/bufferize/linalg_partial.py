"""Bufferizes structured ops alone (`linalg`, `tm_tensor` and Hotdesk's own); other ops keep their tensors.

    %r = linalg.map { math.exp } ins(%x) outs(%y)     ->     %m = bufferization.to_buffer %x
                                                             %a = memref.alloc()
                                                             linalg.map { math.exp } ins(%m) outs(%a)
                                                             %r = bufferization.to_tensor %a

Always legal.

1. Nothing is analysed, so every destination is a new buffer, with a copy of the contents that the op reads or leaves as they are
   (`not-analysed`).
2. What lies in other memory, or in another layout, than it has to is copied (`lies-elsewhere`, `different-layout`).

The order of partial passes does not matter. `hotdesk-finalizing-bufferize` ends what they began.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.explain import Decision, Reason
from hotdesk.ir.walking import dialect_of
from hotdesk.passes.base import Pass
from hotdesk.passes.bufferize.partial import bufferize_ops
from hotdesk.passes.properties import NO_STRUCTURED_TENSORS, Property


@dataclass(frozen=True, slots=True)
class LinalgBufferize(Pass):
    """Bufferizes structured ops (see the module docstring)."""

    name: ClassVar[str] = "hotdesk-linalg-bufferize"
    reasons: ClassVar[tuple[Reason, ...]] = (Reason.NOT_ANALYSED, Reason.DIFFERENT_LAYOUT, Reason.LIES_ELSEWHERE)

    def ensures(self) -> tuple[Property, ...]:
        return (NO_STRUCTURED_TENSORS,)

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        return bufferize_ops(module, lambda name: dialect_of(name) in ("linalg", "tm_tensor", "hotdesk"))
