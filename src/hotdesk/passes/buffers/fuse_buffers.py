"""Loops over memory become one where the second reads what the first has just written.

    linalg.generic ins(%x) outs(%a) { exp }
    linalg.generic ins(%a, %y) outs(%r) { add }     ->     linalg.generic ins(%x, %y) outs(%a, %r) { e = exp(x); e, add(e, y) }

Legal iff rules 1 to 7 of `analysis.buffer_fusion` hold, which ask `analysis.aliasing` what two views have in common. An
allocation that nothing touches any more goes, with its views and deallocations. What is not fused is reported with the reason;
where two views forbid it, both are named.

With `arguments-overlap=false`, memrefs that are arguments never overlap one another: a promise of whoever calls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.analysis.buffer_fusion import BufferFusion, BufferFusions
from hotdesk.analysis.generics import read_generic
from hotdesk.explain import Decision
from hotdesk.ir.types import is_memref
from hotdesk.ir.walking import defined_functions, defining_op, nested_ops, users
from hotdesk.passes.base import Pass
from hotdesk.passes.fusing import fuse


@dataclass(frozen=True, slots=True)
class FuseBuffers(Pass):
    """Fuses `linalg.generic`s on memrefs (rules in `analysis.buffer_fusion`)."""

    name: ClassVar[str] = "hotdesk-fuse-buffers"
    arguments_overlap: bool = True

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        decisions: list[Decision] = []
        for function in defined_functions(module):
            fusions = BufferFusions(function, self.arguments_overlap)
            for op in [op for op in nested_ops(function) if _is_on_memory(op)]:
                consumer: ir.Operation = op
                while isinstance(found := _first(fusions, consumer), BufferFusion):
                    decisions.append(found.decision)
                    consumer = _fuse(found)
                    fusions = BufferFusions(function, self.arguments_overlap)
                decisions.extend(found)
        return tuple(decisions)


def _is_on_memory(op: ir.Operation) -> bool:
    return op.name == "linalg.generic" and len(op.results) == 0


def _first(fusions: BufferFusions, consumer: ir.Operation) -> BufferFusion | list[Decision]:
    """The nearest producer in front of an op that may be fused into it, or why each one may not."""
    reader = read_generic(consumer)
    refused: list[Decision] = []
    before = [op.operation for op in consumer.block.operations]
    for op in reversed(before[: before.index(consumer)]):
        writer = read_generic(op) if _is_on_memory(op) else None
        found = fusions.find(writer, reader) if writer is not None and reader is not None else None
        if isinstance(found, BufferFusion):
            return found
        if found is not None:
            refused.append(found)
    return refused


def _fuse(fusion: BufferFusion) -> ir.Operation:
    new = fuse(fusion.consumer, fusion.producer, dict(fusion.uses), fusion.loops, fusion.keep)
    for base in fusion.unused:
        _erase_unused(base)
    return new


def _erase_unused(value: ir.Value) -> None:
    """Erases a memref that nothing but views and deallocations use."""
    for user in users(value):
        for result in user.results:
            if is_memref(result.type):
                _erase_unused(result)
    left = users(value)
    owner = defining_op(value)
    if owner is None or any(user.name != "memref.dealloc" for user in left):
        return
    for user in left:
        user.erase()
    owner.erase()
