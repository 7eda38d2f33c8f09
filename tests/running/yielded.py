"""Which `scf.for` loops of a bufferized module yield memory that an iteration allocated, or that a call in it returned."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hotdesk.ir.walking import nested_ops

_MAKES = ("memref.alloc", "func.call")
_VIEWS = ("memref.cast", "memref.subview")


def new_memory(module: Any) -> list[str]:
    """The ops whose memory a loop around them yields, as text."""
    loops = [op for op in nested_ops(module.operation) if op.name == "scf.for"]
    return [
        str(made)
        for loop in loops
        for value in _yielded(loop.regions[0])
        for made in _origins(value, loop)
        if made.name in _MAKES
    ]


def _yielded(region: Any) -> list[Any]:
    block = region.blocks[0]
    return list(block.operations[len(block.operations) - 1].operation.operands)


def _origins(value: Any, loop: Any) -> Iterator[Any]:
    """The ops of an iteration that a value may come from, through branches, inner loops and views."""
    seen: set[Any] = set()
    waiting = [value]
    while waiting:
        each = waiting.pop()
        op = getattr(each.owner, "operation", each.owner)
        if each in seen or not hasattr(op, "regions") or not _is_inside(op, loop):
            continue
        seen.add(each)
        yield op
        number = each.result_number
        if op.name == "scf.if":
            waiting.extend(_yielded(region)[number] for region in op.regions)
        elif op.name == "arith.select":
            waiting.extend(list(op.operands)[1:])
        elif op.name == "scf.for":
            waiting.extend((_yielded(op.regions[0])[number], op.operands[3 + number]))
        elif op.name in _VIEWS:
            waiting.append(op.operands[0])


def _is_inside(op: Any, loop: Any) -> bool:
    parent = op.parent
    while parent is not None and parent.operation != loop:
        parent = parent.operation.parent
    return parent is not None
