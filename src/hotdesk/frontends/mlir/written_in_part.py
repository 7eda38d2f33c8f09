"""`linalg.generic` on tensors whose output maps leave gaps, made `linalg.generic` on memrefs: the gaps stay what they were.

    %r = linalg.generic {… (i) -> (i * 2)} ins(%x) outs(%y)
    ->
    %m = memref.alloc(); bufferization.materialize_in_destination %y in %m
    linalg.generic {… (i) -> (i * 2)} ins(%b) outs(%m)          // %b: bufferization.to_buffer %x read_only
    %r = bufferization.to_tensor %m

On tensors MLIR's fusion takes such a result for one of which nothing is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from hotdesk._bindings import indexing_maps, ir
from hotdesk.ir.building import alloc, create, dynamic_dims, remade
from hotdesk.ir.types import is_tensor, memref_of, shape_of
from hotdesk.ir.walking import nested_ops
from hotdesk.models.bufferization import TO_BUFFER, TO_TENSOR, materialize
from hotdesk.models.generics import GENERIC


def write_parts_in_memory(module: ir.Module) -> None:
    """Has the ops that write a result in part write memory."""
    for op in [op for op in nested_ops(module.operation) if partly_written(op) is not None]:
        _write_memory(op)


def partly_written(op: ir.Operation) -> ir.AffineMap | None:
    """The map of a result of `linalg.generic` that keeps elements of its init; None if there is none."""
    if op.name != GENERIC or not len(op.results):
        return None
    inits = list(op.operands)[len(op.operands) - len(op.results) :]
    maps = cast("Sequence[ir.AffineMap]", indexing_maps(op))[-len(inits) :]
    found = (each for each, init in zip(maps, inits, strict=True) if not _is_all_written(each, shape_of(init.type)))
    return next(found, None)


def _is_all_written(output: ir.AffineMap, sizes: Sequence[int | None]) -> bool:
    """Whether an output map reaches every element: by dimensions, each once, and by 0 where there is one element."""
    reached = list[int]()
    for expression, size in zip(cast("Sequence[Any]", output.results), sizes, strict=True):
        if isinstance(expression, ir.AffineDimExpr):
            reached.append(expression.position)
        elif not (isinstance(expression, ir.AffineConstantExpr) and expression.value == 0 and size == 1):
            return False
    return len(set(reached)) == len(reached)


def _write_memory(op: ir.Operation) -> None:
    alone = {"restrict": ir.UnitAttr.get(), "writable": ir.UnitAttr.get()}
    first = len(op.operands) - len(op.results)
    operands: list[ir.Value] = []
    for number, value in enumerate(op.operands):
        if not is_tensor(value.type):
            operands.append(value)
            continue
        kind = memref_of(value.type)
        if number < first:
            seen = create(TO_BUFFER, [value], [kind], {"read_only": ir.UnitAttr.get()}, before=op)
            operands.append(seen.results[0])
            continue
        room = alloc(kind, dynamic_dims(value, op), op)
        materialize(value, room, op)
        operands.append(room)
    remade(op, operands, [])
    for result, room in zip(op.results, operands[first:], strict=True):
        result.replace_all_uses_with(create(TO_TENSOR, [room], [result.type], alone, before=op).results[0])
    op.erase()
