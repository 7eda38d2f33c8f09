"""Calls that return memory of the caller's, of functions that are not inlined: results become memory of their own, by copies.

func private @f(%k, %a, %b) -> memref<4xf32>         a result that is one argument, all of it, whichever way the function
  … call @f(%k1, %a, %b) …                           ends, is that argument;
%r = call @f(%k, %a, %b)                             one that may be several, or memory of its own too, is a copy, which
linalg.fill … outs(%r)                               nobody may tell from what it is copied from: else it is refused
"""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.errors import UnsupportedOpError
from hotdesk.frontends.mlir.function_memory import OTHER, FunctionMemory, summaries, whole_arguments
from hotdesk.ir.functions import Uses, called_name, find_uses
from hotdesk.ir.locations import python_line
from hotdesk.ir.signature import signature
from hotdesk.ir.types import is_memref
from hotdesk.ir.walking import defined_functions, symbol_name
from hotdesk.passes.bufferize.equivalent_results import drop_results


def settle_returned_memory(module: ir.Module, entry: ir.Operation) -> None:
    """Has callers use their own memory in place of results that are it.

    Raises:
        UnsupportedOpError: a copy of a result that may be the caller's memory could be told from it: one of both is written.
    """
    _use_own(module, entry)
    functions = {symbol_name(each): FunctionMemory(each) for each in defined_functions(module)}
    known = summaries(functions)
    for name, function in functions.items():
        for call in function.calls():
            callee = called_name(call.operation) or ""
            for result, roots in zip(call.results, known[callee].returned if callee in known else (), strict=False):
                writer = function.shared_by(result, known, is_entry=name == symbol_name(entry)) if roots else None
                if writer is not None:
                    raise UnsupportedOpError(
                        f"result {list(call.results).index(result)} of @{callee}, which is called and not inlined",
                        expected="new memory, or one argument, whichever way the function ends",
                        got=f"memory that may be the caller's, and {writer.name}, which may write it",
                        where=python_line(call.operation.location),
                        hint=f"Have @{callee} write to an argument in place of returning one.",
                    )


def _use_own(module: ir.Module, entry: ir.Operation) -> None:
    """Replaces results that are one argument, all of it."""
    functions = {symbol_name(each): each for each in defined_functions(module)}
    found = whole_arguments({name: FunctionMemory(each) for name, each in functions.items()})
    for name, function in functions.items():
        uses = find_uses(module).get(name, Uses())
        kinds = signature(function).outputs
        same = {
            number: next(iter(arguments))
            for number, arguments in enumerate(found[name])
            if is_memref(kinds[number]) and len(arguments) == 1 and OTHER not in arguments
        }
        if function != entry and same and uses.calls and not uses.others:
            drop_results(function, uses.calls, same)
