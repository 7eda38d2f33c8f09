"""Tensors of memory that is written later are made of a copy, taken where the tensor is made.

    %t = bufferization.to_tensor %m restrict      ->    %c = memref.alloc(); memref.copy %m, %c
    memref.store %v, %m[%i]                             %t = bufferization.to_tensor %c restrict
    %r = linalg.exp ins(%t)                             memref.store %v, %m[%i]; %r = linalg.exp ins(%t)

A tensor is left as it is iff rules 1 and 2 of `analysis.memrefs.tensors_of_memory` hold. For programs that write memory of which
tensors are made: in front of all other passes, those of MLIR too, which take `bufferization.to_tensor` for a value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.tensors_of_memory import read_behind_writes
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.building import alloc, create, dynamic_dims
from hotdesk.ir.locations import source_of
from hotdesk.ir.types import memref_with, shape_of
from hotdesk.models.bufferization import TO_TENSOR
from hotdesk.passes.base import FunctionPass
from hotdesk.program.symbolic import SymbolicSizes


@dataclass(frozen=True, slots=True)
class SnapshotTensors(FunctionPass):
    """Copies memory that is written while a tensor of it is read (rules in `analysis.memrefs.tensors_of_memory`).

    Options:
        arguments_apart: no two arguments of a function share memory.
    """

    name: ClassVar[str] = "hotdesk-snapshot-tensors"
    reasons: ClassVar[tuple[Reason, ...]] = (Reason.READ_LATER,)
    arguments_apart: bool = False

    def run_on(self, function: ir.Operation) -> list[Decision]:
        return take_snapshots(function, arguments_apart=self.arguments_apart)


def take_snapshots(function: ir.Operation, *, arguments_apart: bool) -> list[Decision]:
    """What the pass does, for one function."""
    found = read_behind_writes(function, arguments_apart=arguments_apart)
    if not found:
        return []
    sizes = SymbolicSizes(function)
    decisions = [_decision(op, sizes) for op in found]
    for op in found:
        _copy(op)
    return decisions


def _decision(op: ir.Operation, sizes: SymbolicSizes) -> Decision:
    source = source_of(op)
    return Decision(f"result of {op.name}", Outcome.COPIED, Reason.READ_LATER, (source,), sizes.bytes(op.results[0]))


def _copy(op: ir.Operation) -> None:
    with op.location:
        source, promises = op.operands[0], {name: ir.UnitAttr.get() for name in ("restrict", "writable")}
        copied = alloc(memref_with(shape_of(source.type), source.type), dynamic_dims(source, op), op)
        create("memref.copy", [source, copied], [], before=op)
        new = create(TO_TENSOR, [copied], [op.results[0].type], promises, before=op)
    op.results[0].replace_all_uses_with(new.results[0])
    op.erase()
