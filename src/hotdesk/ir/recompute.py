"""Index values of a function computed again by its caller, from the operands of a call."""

from __future__ import annotations

from collections.abc import Sequence

from hotdesk._bindings import ir
from hotdesk.ir.walking import defining_op, entry_block

_DIALECTS = ("arith", "affine", "index")


def are_known(values: Sequence[ir.Value], function: ir.Operation) -> bool:
    """Whether values follow from arguments: they are scalars of those, sizes of those, or arithmetic of such."""
    return all(_is_known(value, function) for value in values)


def computed(values: Sequence[ir.Value], function: ir.Operation, call: ir.Operation) -> list[ir.Value]:
    """The same values in front of a call of the function, for that call. All of them have to be known (`are_known`)."""
    done: dict[ir.Value, ir.Value] = dict(zip(entry_block(function).arguments, call.operands, strict=False))
    return [_computed(value, call, done) for value in values]


def _is_known(value: ir.Value, function: ir.Operation) -> bool:
    op = defining_op(value)
    if op is None:
        return value.owner == entry_block(function)
    if op.name.split(".")[0] not in _DIALECTS and op.name != "memref.dim":
        return False
    return len(op.regions) == 0 and are_known(list(op.operands), function)


def _computed(value: ir.Value, call: ir.Operation, done: dict[ir.Value, ir.Value]) -> ir.Value:
    op = defining_op(value)
    if value not in done and op is not None:
        operands = [_computed(operand, call, done) for operand in op.operands]
        clone = op.clone(ir.InsertionPoint(call))
        for number, operand in enumerate(operands):
            clone.operands[number] = operand
        done.update(zip(op.results, clone.results, strict=True))
    return done[value]
