"""Frees each allocation right after the last op that touches any alias of it.

    %a = memref.alloc; use %a; %v = subview %a; use %v; other   ->   … use %v; memref.dealloc %a; other

1. A view keeps its buffer alive: the last use of any alias counts.
2. An allocation that nothing touches is erased with its views instead.
3. Arguments, results and globals are never freed: they belong to someone else, and so does an allocation that is returned.
4. Deallocations that are there already are dropped first, so running the pass twice changes nothing.

Covers functions of one block.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.analysis.buffers import VIEW_OPS, find_buffers
from hotdesk.explain import Decision, Outcome, Reason, Source
from hotdesk.ir.building import create, index_constant
from hotdesk.ir.locations import python_line
from hotdesk.ir.types import shape_of
from hotdesk.ir.walking import constant_of, defined_functions, defining_op, runs_every_call, top_level_ops, users
from hotdesk.passes.base import Pass


@dataclass(frozen=True, slots=True)
class DeallocateAfterLastUse(Pass):
    """Inserts `memref.dealloc` at last uses (rules in the module docstring)."""

    name: ClassVar[str] = "hotdesk-buffer-deallocation"

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        decisions: list[Decision] = []
        for function in defined_functions(module):
            freed = _deallocate(function)
            decisions.extend(freed if runs_every_call(function) else ())
        return tuple(decisions)


def _deallocate(function: ir.Operation) -> list[Decision]:
    for op in top_level_ops(function):
        if op.name == "memref.dealloc":
            op.erase()
    ops = top_level_ops(function)
    decisions: list[Decision] = []
    for buffer in find_buffers(function):
        if buffer.kind != "alloc":
            continue
        if not buffer.users:
            _erase_unused(buffer.base)
            continue
        last = ops[buffer.users[-1]]
        if last.name == "func.return":
            continue
        create("memref.dealloc", [buffer.base], [], before=ops[buffer.users[-1] + 1])
        source = Source(last.name, python_line(last.location))
        decisions.append(Decision("allocation", Outcome.FREED, Reason.LIVE_RANGE_ENDED, (source,), buffer.bytes))
    return decisions


def _erase_unused(value: ir.Value) -> None:
    for user in users(value):
        if user.name in VIEW_OPS:
            _erase_unused(user.results[0])
        elif user.name == "memref.dim":
            _replace_dim(user)
    op = defining_op(value)
    if op is not None and next(iter(value.uses), None) is None:
        op.erase()


def _replace_dim(op: ir.Operation) -> None:
    """Replaces a size of an allocation by the operand that gave it."""
    position, alloc = constant_of(op.operands[1]), defining_op(op.operands[0])
    if position is None or alloc is None or alloc.name != "memref.alloc":
        return
    sizes = shape_of(alloc.results[0].type)
    known = sizes[int(position)]
    size = alloc.operands[sizes[: int(position)].count(None)] if known is None else index_constant(known, op)
    op.results[0].replace_all_uses_with(size)
    op.erase()
