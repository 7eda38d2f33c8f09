"""Rewrites that models share: destination-passing ops on buffers, and ops with control flow and their terminators."""

from __future__ import annotations

from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.building import create, remade
from hotdesk.ir.op_maps import OpSet
from hotdesk.ir.types import is_tensor
from hotdesk.ir.walking import captured_operands
from hotdesk.models.facts import Flow
from hotdesk.models.model import Buffers

_ON_BUFFERS = {"tensor.extract": "memref.load", "tensor.dim": "memref.dim"}


def bufferize_destination_style(op: ir.Operation, buffers: Buffers) -> ir.Operation:
    """Creates `op` on memrefs without results. Reads of captured tensors in its region become loads."""
    tied = dict(buffers.facts.ties)
    operands: list[ir.Value] = []
    for number, value in enumerate(op.operands):
        if number in tied:
            operands.append(buffers.destination(op, number))
        else:
            operands.append(buffers.buffer(value) if is_tensor(value.type) else value)
    for _, _, value in captured_operands(op) if buffers.captures else ():
        if is_tensor(value.type):
            buffers.buffer(value)  # in front of the op, if it is made only now
    new = remade(op, operands, [])
    if buffers.captures:
        _captured_to_buffers(new, buffers)
    for operand, result in tied.items():
        buffers.assign(op.results[result], operands[operand])
    return new


def _captured_to_buffers(op: ir.Operation, buffers: Buffers) -> None:
    for nested in list(OpSet(nested for nested, _, value in captured_operands(op) if is_tensor(value.type))):
        operands = [buffers.buffer(v) if is_tensor(v.type) else v for v in nested.operands]
        name = _ON_BUFFERS.get(nested.name, nested.name)
        new = create(name, operands, [r.type for r in nested.results], before=nested)
        for before, after in zip(nested.results, new.results, strict=True):
            before.replace_all_uses_with(after)
        cast(Any, nested).erase()


def bufferize_region_op(op: ir.Operation, flow: Flow, buffers: Buffers, name: str | None = None) -> ir.Operation:
    """Creates `op`, or the op of that name, with buffers in the place of tensors.

    Its regions move over, and what is in them is bufferized after it. What enters them is copied where the analysis says so.
    """
    entering = {operand for operand, *_ in flow.entries}
    operands = [
        (buffers.entering(op, i) if i in entering else buffers.buffer(v)) if is_tensor(v.type) else v
        for i, v in enumerate(op.operands)
    ]
    results = [buffers.passed_type(v) if is_tensor(v.type) else v.type for v in op.results]
    new = remade(op, operands, results, name=name)
    for block in [block for region in new.regions for block in region.blocks]:
        buffers.rebuild_arguments(block)
    for before, after in zip(op.results, new.results, strict=True):
        if is_tensor(before.type):
            buffers.assign(before, after)
        else:
            before.replace_all_uses_with(after)
    buffers.replaced_by(new)
    return new


def bufferize_terminator(op: ir.Operation, buffers: Buffers, name: str | None = None) -> ir.Operation:
    """Creates `op`, or the op of that name, with the buffers that it passes on."""
    operands = [buffers.leaving(op, i) if is_tensor(v.type) else v for i, v in enumerate(op.operands)]
    return remade(op, operands, [], name=name)
