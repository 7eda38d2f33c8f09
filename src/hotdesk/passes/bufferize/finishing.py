"""What options ask of a function once it is on memrefs: alignment, layouts at calls, and loops without memory of their own."""

from __future__ import annotations

from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.errors import BufferizationError
from hotdesk.ir.building import create
from hotdesk.ir.functions import named_functions, signature
from hotdesk.ir.locations import python_line
from hotdesk.ir.types import dynamic_layout, is_memref
from hotdesk.ir.walking import defining_op, nested_ops

_LOOPS = ("scf.for", "scf.while", "scf.parallel", "scf.forall")


def align(function: ir.Operation, alignment: int) -> None:
    """Gives each allocation that says nothing of it an alignment, in bytes."""
    attribute = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), alignment)
    for op in nested_ops(function):
        if op.name == "memref.alloc" and "alignment" not in op.attributes:
            op.attributes["alignment"] = attribute


def refuse_allocations_from_loops(function: ir.Operation) -> None:
    """Raises BufferizationError if a loop yields memory that its body allocates."""
    for op in nested_ops(function):
        parent = cast(Any, op.parent)
        if op.name not in ("scf.yield", "scf.condition") or parent is None or parent.operation.name not in _LOOPS:
            continue
        for number, value in enumerate(op.operands):
            made = _allocation(value)
            if made is not None and made.parent == op.parent:
                raise BufferizationError(
                    f"operand {number} of `{op.name}`",
                    expected="memory from outside the loop",
                    got="an allocation of its body",
                    where=python_line(op.location) or None,
                    hint="Allow it with `allow-return-allocs-from-loops`.",
                )


def _allocation(value: ir.Value) -> ir.Operation | None:
    """The allocation that a value is, or is a view of."""
    op = defining_op(value)
    while op is not None and op.name != "memref.alloc" and len(op.operands) and is_memref(op.operands[0].type):
        op = defining_op(op.operands[0])
    return op if op is not None and op.name == "memref.alloc" else None


def loosen_declaration(function: ir.Operation) -> None:
    """Lets a declaration take memrefs of any layout."""
    inputs, results = signature(function)
    takes = [dynamic_layout(each) if is_memref(each) else each for each in inputs]
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(takes, list(results)))


def fit_calls(module: ir.Module) -> None:
    """Casts what calls pass to the layouts that functions take."""
    types = {name: signature(function)[0] for name, function in named_functions(module).items()}
    for op in list(nested_ops(module.operation)):
        if op.name != "func.call":
            continue
        for number, kind in enumerate(types[cast(Any, op.attributes["callee"]).value]):
            if op.operands[number].type != kind:
                op.operands[number] = create("memref.cast", [op.operands[number]], [kind], before=op).results[0]
