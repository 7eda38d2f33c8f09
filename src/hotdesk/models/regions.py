"""The rewrite shared by ops with control flow: the same op on buffers, its regions moved over, and their terminators."""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.ir.building import create
from hotdesk.ir.types import is_tensor
from hotdesk.models.flow import Flow
from hotdesk.models.model import Buffers


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
    attributes = {each: op.attributes[each] for each in op.attributes}
    new = create(name or op.name, operands, results, attributes, regions=len(op.regions), before=op)
    for old_region, new_region in zip(op.regions, new.regions, strict=True):
        for block in list(old_region.blocks):
            block.append_to(new_region)
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
    attributes = {each: op.attributes[each] for each in op.attributes}
    return create(name or op.name, operands, [], attributes, before=op)
