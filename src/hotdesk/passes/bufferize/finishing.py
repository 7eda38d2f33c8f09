"""Last steps of bufferization: declarations, layouts at calls, and the alignment that is asked for."""

from __future__ import annotations

from dataclasses import replace

from hotdesk._bindings import ir
from hotdesk.ir.building import cast_to
from hotdesk.ir.functions import find_uses, named_functions
from hotdesk.ir.locations import placed
from hotdesk.ir.signature import set_signature, signature
from hotdesk.ir.types import dynamic_layout, is_memref
from hotdesk.ir.walking import is_declaration, nested_ops
from hotdesk.models.callee import retype
from hotdesk.models.new_memory import ALLOC
from hotdesk.passes.bufferize.conventions import Conventions


def align(function: ir.Operation, alignment: int) -> None:
    """Gives each allocation that says nothing of it an alignment, in bytes."""
    attribute = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), alignment)
    for op in nested_ops(function):
        if op.name == ALLOC and "alignment" not in op.attributes:
            op.attributes["alignment"] = attribute


def retype_declarations(module: ir.Module, conventions: Conventions) -> None:
    """Lets functions without a body take memrefs, of any layout where all functions do."""
    for function in (op.operation for op in module.body.operations if is_declaration(op.operation)):
        with placed(function.location):
            retype(function, conventions.spaces.memref_of)
        if conventions.strided_arguments:
            _loosen(function)
    if conventions.strided_arguments:
        _fit_calls(module)


def _loosen(function: ir.Operation) -> None:
    """Lets a declaration take memrefs of any layout."""
    known = signature(function)
    loose = known.retyped(lambda kind: dynamic_layout(kind) if is_memref(kind) else kind)
    set_signature(function, replace(loose, results=known.results))


def _fit_calls(module: ir.Module) -> None:
    """Casts what calls pass to the layouts that functions take."""
    types = {name: signature(function).inputs for name, function in named_functions(module).items()}
    for name, uses in find_uses(module).items():
        for call in uses.calls:
            for number, kind in enumerate(types[name]):
                call.operands[number] = cast_to(call.operands[number], kind, call)
