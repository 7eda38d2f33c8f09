"""Bufferizes tensor constants alone; other ops keep their tensors.

    %c = arith.constant dense<…> : tensor<4xf32>     ->     memref.global "private" constant @constant_0 = dense<…>
                                                            %m = memref.get_global @constant_0
                                                            %c = bufferization.to_tensor %m

Always legal. Arithmetic on whole tensors has no form on buffers and is left alone: `convert-elementwise-to-linalg` first. The
order of partial passes does not matter. `hotdesk-finalizing-bufferize` ends what they began.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.explain import Decision
from hotdesk.passes.base import Pass
from hotdesk.passes.bufferize.partial import bufferize_ops
from hotdesk.passes.properties import NO_TENSOR_CONSTANTS, Property


@dataclass(frozen=True, slots=True)
class ArithBufferize(Pass):
    """Bufferizes tensor constants (see the module docstring)."""

    name: ClassVar[str] = "hotdesk-arith-bufferize"

    def ensures(self) -> tuple[Property, ...]:
        return (NO_TENSOR_CONSTANTS,)

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        return bufferize_ops(module, lambda name: name.startswith("arith."))
