"""Tensors that are left after bufferization, refused by name: no later pass may take them to be in memory."""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.errors import BufferizationError
from hotdesk.ir.locations import python_line
from hotdesk.ir.types import is_any_tensor
from hotdesk.ir.walking import is_function, is_module, nested_ops


def tensor_at(op: ir.Operation) -> ir.Type | None:
    """The first type that is a tensor among those of an op's operands, its results and the arguments of its blocks."""
    inside = [argument for region in op.regions for block in region.blocks for argument in block.arguments]
    kinds = (value.type for value in (*op.operands, *op.results, *inside))
    return next((kind for kind in kinds if is_any_tensor(kind)), None)


def still_has(what: str, op: ir.Operation, found: ir.Type, hint: str | None) -> BufferizationError:
    """The error of an op that has tensors where only buffers may be."""
    where = python_line(op.location)
    return BufferizationError(
        f"{what} still has tensors", expected="buffers only", got=str(found), where=where, hint=hint
    )


def refuse_elsewhere(module: ir.Module) -> None:
    """Raises BufferizationError if an op that is neither in a `func.func` of the module nor in a module in it has a tensor.

    Functions of other dialects (`gpu.func`, `llvm.func`, …) are not bufferized.
    """
    for view in module.body.operations:
        place = view.operation
        if is_function(place) or is_module(place):
            continue
        for op in (place, *nested_ops(place)):
            found = tensor_at(op)
            if found is not None:
                around = "the module" if op == place else f"`{place.name}`"
                hint = "Only the `func.func`s of a `builtin.module` are bufferized: move it into one."
                raise still_has(f"op `{op.name}` in {around}", op, found, hint)
