"""Functions that one module declares and another text or library defines."""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.ir.context import entered
from hotdesk.ir.walking import symbol_name


def define(module: ir.Module, text: str) -> None:
    """Adds the functions and globals of a module text, in the place of declarations that `module` has of them."""
    with entered(module.operation):
        known = {symbol_name(op.operation): op.operation for op in module.body.operations}
        parsed = ir.Module.parse(text)
        for op in list(parsed.body.operations):
            declared = known.get(symbol_name(op.operation))
            if declared is not None:
                if _is_declared(op.operation):
                    continue
                declared.erase()
            op.operation.detach_from_parent()
            module.body.append(op)


def declared_names(module: ir.Module) -> tuple[str, ...]:
    """The functions that a module uses and does not define."""
    return tuple(symbol_name(op.operation) for op in module.body.operations if _is_declared(op.operation))


def _is_declared(operation: ir.Operation) -> bool:
    """Whether it is a function without a body, before or after its lowering."""
    return operation.name in ("func.func", "llvm.func") and not len(operation.regions[0].blocks)


def defined_names(module: ir.Module) -> tuple[str, ...]:
    """The functions that a module in the LLVM dialect defines and others may call."""
    with module.context:
        internal = ir.Attribute.parse("#llvm.linkage<internal>")
    functions = [op.operation for op in module.body.operations if op.operation.name == "llvm.func"]
    return tuple(
        symbol_name(function)
        for function in functions
        if not _is_declared(function) and function.attributes["linkage"] != internal
    )
