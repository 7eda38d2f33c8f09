"""Memory spaces, and clones between them, of programs in MLIR: a processor has one memory.

    memref<4xf32, 3>                                     ->   memref<4xf32>
    %b = memref.memory_space_cast %a                     ->   %a, or a memref.cast of it
    %b = bufferization.clone %a                          ->   %b = memref.alloc(); memref.copy %a, %b

A memory space that is a number is taken for a part of the one memory; what another one means, only its target knows.
"""

from __future__ import annotations

from typing import Any

from hotdesk._bindings import ir
from hotdesk.frontends.mlir.retyping import retype
from hotdesk.ir.building import alloc, create, dynamic_dims
from hotdesk.ir.types import is_memref, memref_with, shape_of
from hotdesk.ir.walking import nested_ops
from hotdesk.models.bufferization import ALLOC_TENSOR

_SPACE = "memory_space"
_CHANGE = "memref.memory_space_cast"
CLONE = "bufferization.clone"


def forget_memory_spaces(module: ir.Module) -> None:
    """Puts every memref into the default memory space whose own is a number."""
    ops = list(nested_ops(module.operation))
    values = [value for op in ops for value in op.results]
    values += [value for op in ops for region in op.regions for block in region.blocks for value in block.arguments]
    if not any(_is_elsewhere(value.type) for value in values) and not any(_SPACE in op.attributes for op in ops):
        return
    retype(module, _here)
    for op in ops:
        if op.name == ALLOC_TENSOR and isinstance(_space(op), ir.IntegerAttr):
            del op.attributes[_SPACE]
        elif op.name == _CHANGE:
            _replace_change(op)


def clones_as_copies(module: ir.Module) -> None:
    """Makes an allocation and a copy of each clone."""
    for op in [op for op in nested_ops(module.operation) if op.name == CLONE and is_memref(op.results[0].type)]:
        source, made = op.operands[0], op.results[0]
        kind = memref_with(shape_of(source.type), source.type)
        room = alloc(kind, dynamic_dims(source, op), op)
        create("memref.copy", [source, room], [], before=op)
        made.replace_all_uses_with(_as(room, made.type, op))
        op.erase()


def _space(op: ir.Operation) -> ir.Attribute | None:
    return op.attributes.get(_SPACE, None)


def _is_elsewhere(kind: ir.Type) -> bool:
    shaped: Any = kind
    return isinstance(kind, (ir.MemRefType, ir.UnrankedMemRefType)) and isinstance(shaped.memory_space, ir.IntegerAttr)


def _here(kind: ir.Type) -> ir.Type:
    """A type in the default memory space."""
    if not _is_elsewhere(kind):
        return kind
    shaped: Any = kind
    if isinstance(kind, ir.UnrankedMemRefType):
        return ir.UnrankedMemRefType.get(shaped.element_type, None)
    return ir.MemRefType.get(shaped.shape, shaped.element_type, shaped.layout, None)


def _replace_change(op: ir.Operation) -> None:
    made = op.results[0]
    made.replace_all_uses_with(_as(op.operands[0], made.type, op))
    op.erase()


def _as(memref: ir.Value, kind: ir.Type, before: ir.Operation) -> ir.Value:
    return memref if memref.type == kind else create("memref.cast", [memref], [kind], before=before).results[0]
