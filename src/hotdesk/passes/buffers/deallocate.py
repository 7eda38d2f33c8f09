"""Frees each allocation right after the last op that touches any alias of it.

    %a = memref.alloc; use %a; %v = subview %a; use %v; other   ->   … use %v; memref.dealloc %a; other

1. A view keeps its buffer alive: the last use of any alias counts.
2. An allocation that nothing touches is erased with its views instead.
3. Arguments, results and globals are never freed: they belong to someone else.

Covers functions of one block.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.analysis.buffers import VIEW_OPS, find_buffers
from hotdesk.explain import Decision, Outcome, Reason, Source
from hotdesk.ir.building import create
from hotdesk.ir.locations import python_line
from hotdesk.ir.walking import defining_op, runs_every_call, top_level_ops, users
from hotdesk.passes.base import Pass


@dataclass(frozen=True, slots=True)
class DeallocateAfterLastUse(Pass):
    """Inserts `memref.dealloc` at last uses (rules in the module docstring)."""

    name: ClassVar[str] = "hotdesk-buffer-deallocation"

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        decisions: list[Decision] = []
        for function in module.body.operations:
            if function.operation.name == "func.func" and len(function.operation.regions[0].blocks):
                freed = _deallocate(function.operation)
                decisions.extend(freed if runs_every_call(function.operation) else ())
        return tuple(decisions)


def _deallocate(function: ir.Operation) -> list[Decision]:
    ops = top_level_ops(function)
    decisions: list[Decision] = []
    for buffer in find_buffers(function):
        if buffer.kind != "alloc":
            continue
        if not buffer.users:
            _erase_unused(buffer.base)
            continue
        last = ops[buffer.users[-1]]
        create("memref.dealloc", [buffer.base], [], before=ops[buffer.users[-1] + 1])
        source = Source(last.name, python_line(last.location))
        decisions.append(Decision("allocation", Outcome.FREED, Reason.LIVE_RANGE_ENDED, (source,), buffer.bytes))
    return decisions


def _erase_unused(value: ir.Value) -> None:
    for user in users(value):
        if user.name in VIEW_OPS:
            _erase_unused(user.results[0])
    op = defining_op(value)
    if op is not None and next(iter(value.uses), None) is None:
        op.erase()
