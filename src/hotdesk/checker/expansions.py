"""Structured ops as `linalg.generic`, and those of `tm_tensor` as loops, each in a function of its own.

MLIR's passes that do so also fold and erases what has no use, which a checker may not: a load that nobody needs may still read
memory that was freed. So the program stays as it is, and only copies of its structured ops go through the pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from hotdesk._bindings import PassManager, ir
from hotdesk.errors import PassError
from hotdesk.ir.op_maps import OpMap
from hotdesk.ir.signature import FunctionSignature, formals, new_function
from hotdesk.ir.walking import captured_operands, dialect_of, entry_block, nested_ops
from hotdesk.models.generics import GENERIC

_AS_THEY_ARE = frozenset({GENERIC, "linalg.index", "linalg.yield", "tm_tensor.yield"})
_PASSES = "linalg-generalize-named-ops,tm-tensor-to-loops"


@dataclass(frozen=True, slots=True)
class Expansion:
    """What an op was turned into.

    Attributes:
        function: a function that does what the op does.
        generic: the `linalg.generic` in it, if there is one; it does all.
        values: the value in the program that each argument of the function stands for.
    """

    function: ir.Operation
    generic: ir.Operation | None
    values: tuple[tuple[ir.Value, ir.Value], ...]


@dataclass(frozen=True, slots=True)
class Expansions:
    """What the structured ops of a module became. Keeps the module alive that they are in."""

    found: OpMap[Expansion]
    module: ir.Module


def expanded(ops: Sequence[ir.Operation]) -> Expansions:
    """Expands each structured op on memrefs; what MLIR has no expansion for is not among the results."""
    scratch = ir.Module.create()
    named = [op for op in ops if _is_structured(op)]
    made = [(op, _alone(op, scratch, number)) for number, op in enumerate(named)]
    if made:
        try:
            PassManager.parse(f"builtin.module(func.func({_PASSES}))").run(scratch.operation)
        except ir.MLIRError as error:
            raise PassError("preparing a module for the memory checker", got=str(error)) from error
    found = OpMap[Expansion]()
    for op, (function, values) in made:
        inside = nested_ops(function)
        generic = next((each for each in inside if each.name == GENERIC), None)
        if generic is not None or all(each.name != op.name for each in inside):
            found[op] = Expansion(function, generic, tuple(zip(entry_block(function).arguments, values, strict=True)))
    return Expansions(found, scratch)


def _is_structured(op: ir.Operation) -> bool:
    dialect = dialect_of(op.name)
    return not len(op.results) and dialect in ("linalg", "tm_tensor") and op.name not in _AS_THEY_ARE


def _alone(op: ir.Operation, module: ir.Module, number: int) -> tuple[ir.Operation, list[ir.Value]]:
    """A function that holds a copy of an op, and the values that its arguments stand for: each operand has its own."""
    captured = captured_operands(op)
    values = [*op.operands, *(value for _, _, value in captured)]
    takes = FunctionSignature(formals(value.type for value in values), ())
    function, block = new_function(f"op{number}", takes, ir.InsertionPoint(module.body), op.location)
    copy = cast(Any, op).clone(ir.InsertionPoint(block))
    with ir.InsertionPoint(block):
        ir.Operation.create("func.return")
    arguments = list(block.arguments)
    for i in range(len(op.operands)):
        copy.operands[i] = arguments[i]
    inner = zip(nested_ops(op), nested_ops(copy.operation), strict=True)
    copies = OpMap(inner if captured else ())
    for argument, (user, position, _) in zip(arguments[len(op.operands) :], captured, strict=True):
        copies[user].operands[position] = argument
    return function, values
