"""What the terminators of blocks pass to one another."""

from __future__ import annotations

from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.walking import segment_sizes
from hotdesk.models.registry import model_of


def branched(op: ir.Operation) -> tuple[tuple[int, int, int], ...] | None:
    """What a terminator passes to other blocks: (operand, successor, argument there); None if that is not known."""
    model = model_of(op.name)
    if model is not None and model.branches is not None:
        return model.branches(op)
    if op.name == "cf.br":
        return tuple((i, 0, i) for i in range(len(op.operands)))
    if op.name == "cf.cond_br":
        counts: list[int] = list(segment_sizes(op)[1:])
    elif op.name == "cf.switch":
        counts = [segment_sizes(op)[1]]
        if "case_operand_segments" in op.attributes:
            counts += [int(n) for n in cast(Any, op.attributes["case_operand_segments"])]
    else:
        return None
    starts = [1 + sum(counts[:i]) for i in range(len(counts))]
    return tuple((start + i, to, i) for to, start in enumerate(starts) for i in range(counts[to]))
