"""Calls, of functions that are not inlined, that return memory of their caller's.

    %r = call @f(%k, %a, %b)
    linalg.fill … outs(%r)

1. A result that is all of one argument, whichever way the function ends, is that argument: callers use what they passed.
2. Any other becomes memory of its own (`memrefs.results_as_arguments`), by a copy where it may be the caller's: one of several
   arguments, a part of one, or new memory at times. The program is refused where that could be noticed: where the result, or
   what it may be, may be written behind the call.
"""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.errors import UnsupportedOpError
from hotdesk.frontends.mlir.function_memory import OTHER, FunctionMemory, summaries, whole_arguments
from hotdesk.ir.functions import Uses, called_name, find_uses
from hotdesk.ir.locations import python_line
from hotdesk.ir.walking import defined_functions, symbol_name
from hotdesk.passes.bufferize.equivalent_results import drop_results


def settle_returned_memory(module: ir.Module, entry: ir.Operation) -> None:
    """Does this with the calls of a module, whose function `entry` is called by nobody in it.

    Raises:
        UnsupportedOpError: by rule 2.
    """
    _use_own(module)
    functions = {symbol_name(each): FunctionMemory(each) for each in defined_functions(module)}
    known = summaries(functions)
    for name, function in functions.items():
        for call in function.calls():
            callee = called_name(call.operation)
            returned = known[callee].returned if callee in known else ()
            for number, (result, roots) in enumerate(zip(call.operation.results, returned, strict=False)):
                if roots <= {OTHER}:
                    continue
                writer = function.writer_of(result, known, is_entry=name == symbol_name(entry))
                if writer is not None:
                    raise UnsupportedOpError(
                        f"result {number} of @{callee}, which is called and not inlined",
                        expected="new memory, or one argument, whichever way the function ends",
                        got=f"memory that may be the caller's, and {writer.name}, which may write it",
                        where=python_line(call.operation.location),
                        hint=f"Have @{callee} write to an argument in place of returning one.",
                    )


def _use_own(module: ir.Module) -> None:
    """Rule 1."""
    functions = {symbol_name(each): each for each in defined_functions(module)}
    found = whole_arguments({name: FunctionMemory(each) for name, each in functions.items()})
    uses = find_uses(module)
    for name, function in functions.items():
        single = {number: next(iter(roots)) for number, roots in enumerate(found[name]) if len(roots) == 1}
        same = {number: root for number, root in single.items() if isinstance(root, int) and root != OTHER}
        used = uses.get(name, Uses())
        if same and used.calls and not used.others:
            drop_results(function, used.calls, same)
