"""What freeing asks and copies at run time, as it stands in a program and as often as a run comes by.

An ownership check is

1. a condition on freeing or copying: an `scf.if` that was not in the program before and in which there is nothing but
   deallocations, or a copy of what is returned unless it is owned;
2. a comparison of addresses: an `arith.cmpi` of what `memref.extract_aligned_pointer_as_index` gave. MLIR's `@dealloc_helper`
   compares addresses that it loads; in the text each of its calls counts as one check, in a run each comparison does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from benchmarks.bufferization.count import copied_into
from hotdesk._bindings import ir
from hotdesk.ir.context import entered
from hotdesk.ir.functions import returns_of
from hotdesk.ir.walking import defined_functions, defining_op, main_function, nested_ops, symbol_name

_GIVEN = "benchmark.given"
_HELPER = "dealloc_helper"
_ADDRESS = "memref.extract_aligned_pointer_as_index"
_MANAGING = frozenset(
    {
        *("memref.dealloc", "memref.alloc", "memref.copy", "bufferization.clone", "linalg.copy"),
        *("memref.dim", "memref.cast", "memref.extract_strided_metadata", "arith.constant", "scf.yield"),
    }
)
_OWNING = frozenset({"memref.dealloc", "bufferization.clone", "memref.copy"})
_CHECKS, _COPIES = "executed_checks", "executed_copies"


@dataclass(frozen=True, slots=True)
class Asked:
    """Checks in the text of a module: conditions, and comparisons of addresses with calls of the helper."""

    conditions: int
    comparisons: int

    @property
    def all(self) -> int:
        return self.conditions + self.comparisons


def mark_given(module: ir.Module) -> None:
    """Marks the conditions that a program has of its own."""
    with entered(module.operation):
        for op in nested_ops(module.operation):
            if op.name == "scf.if":
                op.attributes[_GIVEN] = ir.UnitAttr.get()


def asked(module: ir.Module) -> Asked:
    """The checks in the text of a module that was marked before it was freed."""
    conditions = comparisons = 0
    for function in defined_functions(module):
        if symbol_name(function) == _HELPER:
            continue
        for op in nested_ops(function):
            conditions += _is_condition(op)
            comparisons += _compares(op) or _calls_helper(op)
    return Asked(conditions, comparisons)


def deallocations(module: ir.Module) -> int:
    """How many `memref.dealloc` a module has."""
    return sum(op.name == "memref.dealloc" for op in nested_ops(module.operation))


def copies(module: ir.Module) -> int:
    """How many copies a module has, in a loop too."""
    return sum(len(copied_into(op)) for op in nested_ops(module.operation))


def count_executed(module: ir.Module) -> None:
    """Lets the program count its checks and its copies: the numbers are two more results of `@main`, `i64`, the last ones."""
    with entered(module.operation):
        for function in defined_functions(module):
            helper = symbol_name(function) == _HELPER
            for op in list(nested_ops(function)):
                if (op.name == "arith.cmpi") if helper else (_is_condition(op) or _compares(op)):
                    _count(op, _CHECKS, 1)
                copied = len(copied_into(op))
                if copied:
                    _count(op, _COPIES, copied)
        _return_counters(main_function(module))
        for name in (_CHECKS, _COPIES):
            text = f'memref.global "private" @{name} : memref<i64> = dense<0>'
            module.body.append(ir.Operation.parse(text))


def _is_condition(op: ir.Operation) -> bool:
    if op.name != "scf.if" or _GIVEN in op.attributes:
        return False
    inside = {each.name for each in nested_ops(op)}
    return bool(inside & _OWNING) and inside <= _MANAGING | {"scf.if"}


def _compares(op: ir.Operation) -> bool:
    if op.name != "arith.cmpi":
        return False
    sources = (defining_op(value) for value in op.operands)
    return any(source is not None and source.name == _ADDRESS for source in sources)


def _calls_helper(op: ir.Operation) -> bool:
    return op.name == "func.call" and cast(Any, op.attributes["callee"]).value == _HELPER


def _count(op: ir.Operation, name: str, number: int) -> None:
    with ir.InsertionPoint(op), op.location:
        held, count = _read_counter(name)
        added = _made("arith.constant", [], [count.type], value=ir.IntegerAttr.get(count.type, number))
        more = _made("arith.addi", [count, added], [count.type])
        ir.Operation.create("memref.store", operands=[more, held])


def _return_counters(main: ir.Operation) -> None:
    for end in returns_of(main):
        with ir.InsertionPoint(end), end.location:
            counts = [_read_counter(name)[1] for name in (_CHECKS, _COPIES)]
            ir.Operation.create("func.return", operands=[*end.operands, *counts])
        end.erase()
    kind = cast(Any, main.attributes["function_type"]).value
    results = [*kind.results, *(2 * [ir.IntegerType.get_signless(64)])]
    main.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(list(kind.inputs), results))
    if "res_attrs" in main.attributes:
        del main.attributes["res_attrs"]


def _read_counter(name: str) -> tuple[ir.Value, ir.Value]:
    number = ir.IntegerType.get_signless(64)
    held = _made("memref.get_global", [], [ir.MemRefType.get([], number)], name=ir.FlatSymbolRefAttr.get(name))
    return held, _made("memref.load", [held], [number])


def _made(op: str, operands: list[ir.Value], types: list[ir.Type], **attributes: ir.Attribute) -> ir.Value:
    return ir.Operation.create(op, operands=operands, results=types, attributes=attributes).results[0]
