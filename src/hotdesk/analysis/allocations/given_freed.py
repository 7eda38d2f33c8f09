"""Which calls may free memory that they are given: those of functions of the module that free an argument, or call such a one.

Deallocation never makes such functions, but whoever brings memrefs of their own may. Of a function that is only declared it is
assumed that it frees nothing (docs/buffer-passes.md).
"""

from __future__ import annotations

from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.analysis.allocations.new_memory import allocated, freed
from hotdesk.analysis.memrefs.buffer_program import Kind
from hotdesk.analysis.memrefs.buffer_reading import read_buffers
from hotdesk.analysis.memrefs.memref_views import view_source
from hotdesk.analysis.memrefs.origins import Origins
from hotdesk.ir.walking import defining_op, nested_ops

_CALL, _REALLOC = "func.call", "memref.realloc"


class GivenFreed:
    """Answers for the calls in one function."""

    def __init__(self) -> None:
        self._known: dict[str, bool] = {}

    def by(self, call: ir.Operation) -> bool:
        """Whether a call of a function may free what it gets."""
        if call.name != _CALL:
            return False
        name = _callee(call)
        if name not in self._known:
            self._known[name] = _frees(name, call)
        return self._known[name]


def _frees(name: str, call: ir.Operation) -> bool:
    symbols = ir.SymbolTable(_module(call))
    seen, waiting = {name}, [name]
    while waiting:
        found = waiting.pop()
        if found not in symbols:
            continue
        function = symbols[found].operation
        ops = nested_ops(function)
        if any(map(_may_free_another, ops)) and _frees_arguments(function):
            return True
        called = {_callee(op) for op in ops if op.name == _CALL} - seen
        seen |= called
        waiting += sorted(called)
    return False


def _may_free_another(op: ir.Operation) -> bool:
    """Whether an op frees memory that its function has not made right there, views aside."""
    for number in {0} if op.name == _REALLOC else freed(op):
        made, position = _made(op.operands[number])
        while made is not None and (source := view_source(made.name, position)) is not None:
            made, position = _made(made.operands[source])
        if made is None or not (made.name == _CALL or position in allocated(made)):
            return True
    return False


def _made(value: ir.Value) -> tuple[ir.Operation | None, int]:
    """The op that makes a value, and the number of its result."""
    made = defining_op(value)
    return made, -1 if made is None else int(cast(Any, value).result_number)


def _frees_arguments(function: ir.Operation) -> bool:
    """Whether an op of a function frees what may be one of its arguments."""
    program = read_buffers(function)
    origins = Origins(program)
    return any(
        program.buffers[origin].kind is Kind.ARGUMENT
        for op in program.ops
        for number in ({0} if op.name == _REALLOC else freed(op.operation))
        if op.operands[number] >= 0
        for origin in origins.of[op.operands[number]]
    )


def _module(op: ir.Operation) -> ir.Operation:
    while op.name != "builtin.module":
        op = cast(Any, op.parent).operation
    return op


def _callee(call: ir.Operation) -> str:
    return str(cast(Any, call.attributes["callee"]).value)
