"""What the terminators of blocks pass to one another."""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.models import cf
from hotdesk.models.registry import model_of


def branched(op: ir.Operation) -> tuple[tuple[int, int, int], ...] | None:
    """What a terminator passes to other blocks: (operand, successor, argument there); None if that is not known."""
    model = model_of(op.name)
    if model is None or model.branches is None:
        model = cf.MODELS.get(op.name)
    return None if model is None or model.branches is None else model.branches(op)
