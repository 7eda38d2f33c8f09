"""Writes of constant globals, which are refused: what a store, a call or a loop may lead to counts, in all functions of a module.

    %m = arith.select %c, %constant, %x : memref<4xf32>
    memref.store %v, %m[%i]                                  ->    global @constant: expected ops that read it, got memref.store …

What an op may write is told by `function_memory`; one of which nothing is known may write all that it is given.
"""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.errors import InvalidIRError
from hotdesk.frontends.mlir.function_memory import FunctionMemory, summaries
from hotdesk.ir.locations import python_line
from hotdesk.ir.walking import defined_functions, globals_of, symbol_name


def refuse_written_constants(module: ir.Module) -> None:
    """Raises InvalidIRError for an op that may write a constant global."""
    constants = {name for name, op in globals_of(module).items() if "constant" in op.attributes}
    if not constants:
        return
    functions = {symbol_name(function): FunctionMemory(function) for function in defined_functions(module)}
    known = summaries(functions)
    for function in functions.values():
        for op, roots in function.writes(known):
            names = sorted(name for name in roots if name in constants)
            if names:
                does = "which writes it" if len(roots) == 1 else "which may write it"
                raise InvalidIRError(
                    f"global @{names[0]}", expected="ops that read it: it is constant", got=f"{op.name}, {does}",
                    where=python_line(op.operation.location),
                    hint="Copy it to memory of its own, or declare the global without `constant`.",
                )  # fmt: skip
