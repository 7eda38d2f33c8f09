"""Which calls may free memory that they are given: those of functions of the module that free an argument, or call such a one.

Deallocation never makes such functions, but whoever brings memrefs of their own may. Of a function that is only declared it is
assumed that it frees nothing (docs/buffer-passes.md).
"""

from __future__ import annotations

from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.buffer_program import Kind
from hotdesk.analysis.memrefs.buffer_reading import read_buffers
from hotdesk.analysis.memrefs.origins import Origins
from hotdesk.graphs import reached
from hotdesk.ir.functions import callee_name, named_functions
from hotdesk.ir.op_maps import OpMap
from hotdesk.ir.walking import defining_op, module_around, nested_ops
from hotdesk.models.func import CALL
from hotdesk.models.memref import viewed
from hotdesk.models.new_memory import REALLOC, allocated, freed


class FreeingCalls:
    """Answers for the calls in a module and in those nested in it; each is read once, when a call in it is first asked about."""

    def __init__(self) -> None:
        self._freeing = OpMap[frozenset[str]]()

    def include(self, call: ir.Operation) -> bool:
        """Whether a call of a function may free what it gets."""
        if call.name != CALL:
            return False
        module = module_around(call)
        if module not in self._freeing:
            self._freeing[module] = _freeing(cast(ir.Module, module.opview))
        return callee_name(call) in self._freeing[module]


def _freeing(module: ir.Module) -> frozenset[str]:
    """The functions of a module that may free an argument, or call one that may."""
    callers: dict[str, list[str]] = {}
    found: set[str] = set()
    for name, function in named_functions(module).items():
        ops = nested_ops(function)
        if any(map(_may_free_another, ops)) and _frees_arguments(function):
            found.add(name)
        for op in ops:
            if op.name == CALL:
                callers.setdefault(callee_name(op), []).append(name)
    return frozenset(reached(found, lambda name: callers.get(name, ())))


def _may_free_another(op: ir.Operation) -> bool:
    """Whether an op frees memory that its function has not made right there, views aside."""
    for number in {0} if op.name == REALLOC else freed(op):
        memref = viewed(op.operands[number])
        made = defining_op(memref)
        if made is None or not (made.name == CALL or int(cast(Any, memref).result_number) in allocated(made)):
            return True
    return False


def _frees_arguments(function: ir.Operation) -> bool:
    """Whether an op of a function frees what may be one of its arguments."""
    program = read_buffers(function)
    origins = Origins(program)
    return any(
        program.buffers[origin].kind is Kind.ARGUMENT
        for op in program.ops
        for number in ({0} if op.name == REALLOC else freed(op.operation))
        if op.operands[number] >= 0
        for origin in origins.of[op.operands[number]]
    )
