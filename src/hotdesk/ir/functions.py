"""Functions as callers see them: who calls them, and changing their signatures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.errors import BufferizationError
from hotdesk.ir.locations import python_line
from hotdesk.ir.walking import attributes_of, functions_of, symbol_name, text_of, walk

_TABLES = ("builtin.module", "gpu.module")
"""Ops inside of which symbols are others."""


@dataclass(frozen=True, slots=True)
class Uses:
    """The `func.call`s of a function, in order, and the other ops that name it."""

    calls: tuple[ir.Operation, ...] = ()
    others: tuple[ir.Operation, ...] = ()


def find_uses(module: ir.Module) -> Mapping[str, Uses]:
    """The uses of every function that is named in a module, but for modules in it, where names mean functions of theirs."""
    calls: dict[str, list[ir.Operation]] = {}
    others: dict[str, list[ir.Operation]] = {}
    for op in _of_one_table(module):
        for name in op.attributes:
            for symbol in _symbols(op.attributes[name]):
                found = calls if op.name == "func.call" and name == "callee" else others
                found.setdefault(symbol, []).append(op)
    names = dict.fromkeys((*calls, *others))
    return {name: Uses(tuple(calls.get(name, ())), tuple(others.get(name, ()))) for name in names}


def _of_one_table(module: ir.Module) -> list[ir.Operation]:
    """The ops whose symbols are those of a module: all in it, but for what is inside of other modules."""
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        found.append(op.operation)
        is_other = op.name in _TABLES and len(found) > 1
        return ir.WalkResult.SKIP if is_other else ir.WalkResult.ADVANCE

    walk(module.operation, visit)
    return found[1:]


def is_private(function: ir.Operation) -> bool:
    """Whether nobody outside the module can call a function; those that are `nested` can be named from around their module."""
    attributes = function.attributes
    visibility = cast(Any, attributes["sym_visibility"]).value if "sym_visibility" in attributes else "public"
    return visibility == "private" or (visibility == "nested" and cast(Any, function.parent).operation.parent is None)


def callee_name(call: ir.Operation) -> str:
    """The name of the function that a `func.call` calls."""
    return text_of(call, "callee")


def called_name(op: ir.Operation) -> str | None:
    """The name of the function that an op calls; None if it is no `func.call`."""
    return callee_name(op) if op.name == "func.call" else None


def returns_of(function: ir.Operation) -> list[ir.Operation]:
    """The `func.return`s of a function, one for each block that ends in one; none for a declaration."""
    last = [list(block.operations)[-1].operation for block in function.regions[0].blocks]
    return [op for op in last if op.name == "func.return"]


def single_exit(function: ir.Operation) -> None:
    """Gives a function that returns from several blocks one more block, which they all branch to and which returns."""
    returns = returns_of(function) if len(function.regions[0].blocks) > 1 else []
    if len(returns) < 2:
        return
    types = [value.type for value in returns[0].operands]
    last = function.regions[0].blocks.append(*types, arg_locs=[returns[0].location] * len(types))
    with ir.InsertionPoint(last), returns[-1].location:
        ir.Operation.create("func.return", operands=list(last.arguments))
    for old in returns:
        with ir.InsertionPoint(old), old.location:
            ir.Operation.create("cf.br", operands=list(old.operands), successors=[last])
        old.erase()


def rebuild_call(call: ir.Operation, operands: Sequence[ir.Value], kept: Sequence[int]) -> ir.Operation:
    """A call with other operands, and of its results those with these numbers, in place of an old one.

    The uses of kept results follow; the old call stays, for the caller to replace its other results and to erase it.
    """
    with ir.InsertionPoint(call), call.location:
        new = ir.Operation.create(
            call.name,
            operands=list(operands),
            results=[call.results[i].type for i in kept],
            attributes=attributes_of(call),
        ).operation
    for position, number in enumerate(kept):
        call.results[number].replace_all_uses_with(new.results[position])
    return new


def _symbols(attribute: ir.Attribute) -> list[str]:
    if isinstance(attribute, ir.FlatSymbolRefAttr):
        return [attribute.value]
    if isinstance(attribute, ir.ArrayAttr):
        return [name for each in attribute for name in _symbols(each)]
    return []


def named_functions(module: ir.Module) -> dict[str, ir.Operation]:
    """The `func.func`s of a module by name, declarations too."""
    return {symbol_name(function): function for function in functions_of(module)}


def require_calls_alone(module: ir.Module, changing: Iterable[str]) -> None:
    """Raises `BufferizationError` where another op than `func.call` names a function whose signature is to change."""
    uses = find_uses(module)
    for name in changing:
        for other in uses[name].others if name in uses else ():
            raise BufferizationError(
                f"function @{name}", expected="calls of it alone", got=f"`{other.name}`",
                where=python_line(other.location),
            )  # fmt: skip
