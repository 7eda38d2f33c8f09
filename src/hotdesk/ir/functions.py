"""Functions as callers see them: who calls them, and changing their signatures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from hotdesk._bindings import ir
from hotdesk.errors import BufferizationError
from hotdesk.ir.building import create, remade
from hotdesk.ir.locations import python_line
from hotdesk.ir.signature import set_signature, signature
from hotdesk.ir.walking import attributes_of, dialect_of, functions_of, symbol_name, text_of, walk

_TABLES = ("builtin.module", "gpu.module")
"""Ops inside of which symbols are others."""
_NAME_NO_FUNCTION = frozenset(
    (
        *("affine", "arith", "bufferization", "cf", "complex", "index", "linalg", "math", "memref", "ml_program"),
        *("scf", "tensor", "tm_tensor", "vector"),
    )
)
"""Dialects none of whose ops names a function."""


class Reference(NamedTuple):
    """An op that names a function, or what else has the name: a `func.call` that calls it, or another one.

    `within` is the op of the module that it is or is in.
    """

    name: str
    op: ir.Operation
    within: ir.Operation
    calls: bool


def references(module: ir.Module) -> Iterator[Reference]:
    """What names a function of a module, in order; inside of other modules names mean functions of theirs."""
    for view in module.body.operations:
        top = view.operation
        for op in _of_one_table(top):
            if dialect_of(op.name) in _NAME_NO_FUNCTION:
                continue
            for attribute in op.attributes:
                calls = op.name == "func.call" and attribute == "callee"
                for name in _symbols(op.attributes[attribute]):
                    yield Reference(name, op, top, calls)


def _of_one_table(top: ir.Operation) -> list[ir.Operation]:
    """An op of a module and all inside of it, but for what is inside of other modules."""
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        found.append(op.operation)
        return ir.WalkResult.SKIP if op.name in _TABLES else ir.WalkResult.ADVANCE

    walk(top, visit)
    return found


@dataclass(frozen=True, slots=True)
class Uses:
    """The `func.call`s of a function, in order, and the other ops that name it."""

    calls: tuple[ir.Operation, ...] = ()
    others: tuple[ir.Operation, ...] = ()


def find_uses(module: ir.Module) -> Mapping[str, Uses]:
    """The uses of every function that is named in a module."""
    found: dict[str, tuple[list[ir.Operation], list[ir.Operation]]] = {}
    for each in references(module):
        found.setdefault(each.name, ([], []))[not each.calls].append(each.op)
    return {name: Uses(tuple(calls), tuple(others)) for name, (calls, others) in found.items()}


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


def keep_results(function: ir.Operation, kept: Sequence[int]) -> None:
    """Has a function return those of its results that have these numbers, and no others."""
    for op in returns_of(function):
        create("func.return", [op.operands[i] for i in kept], [], before=op)
        op.erase()
    set_signature(function, signature(function).keeping(kept))


def rebuild_call(call: ir.Operation, operands: Iterable[int | ir.Value], kept: Sequence[int]) -> ir.Operation:
    """A call with other operands, and of its results those with these numbers, in place of an old one.

    An operand is the number that it has in the old call, or a new value. The uses of kept results follow; the old call stays, for
    the caller to replace its other results and to erase it.
    """
    given = list(operands)
    values = [call.operands[each] if isinstance(each, int) else each for each in given]
    numbers = [each if isinstance(each, int) else None for each in given]
    types = [call.results[i].type for i in kept]
    new = create(call.name, values, types, call_attributes(call, numbers, kept), before=call)
    for position, number in enumerate(kept):
        call.results[number].replace_all_uses_with(new.results[position])
    return new


def call_attributes(
    call: ir.Operation, operands: Sequence[int | None], results: Sequence[int | None]
) -> dict[str, ir.Attribute]:
    """The attributes of a call with other operands and results: each has what is said of the one with that number before.

    Of those that are None, which were not there, nothing is said.
    """
    found = attributes_of(call)
    for name, numbers in (("arg_attrs", operands), ("res_attrs", results)):
        if name in found:
            said = list(cast(Any, found[name]))
            nothing = ir.DictAttr.get({}, call.context)
            found[name] = ir.ArrayAttr.get([nothing if i is None else said[i] for i in numbers], call.context)
    return found


def widened(old: ir.Operation, operands: Sequence[ir.Value], types: Sequence[ir.Type]) -> ir.Operation:
    """The same op in front of the old one, which stays without its regions, with more operands and results.

    Of those that are new, behind the others, a call says nothing.
    """
    attributes = call_attributes(
        old,
        [number if number < len(old.operands) else None for number in range(len(operands))],
        [number if number < len(old.results) else None for number in range(len(types))],
    )
    return remade(old, operands, types, attributes)


def _symbols(attribute: ir.Attribute) -> list[str]:
    if isinstance(attribute, ir.FlatSymbolRefAttr):
        return [attribute.value]
    if isinstance(attribute, ir.ArrayAttr):
        return [name for each in attribute for name in _symbols(each)]
    return []


def private_copy(function: ir.Operation, name: str) -> ir.Operation:
    """A private copy of a function, of that name, behind it."""
    copy = function.clone(ir.InsertionPoint.after(function)).operation
    copy.attributes["sym_name"] = ir.StringAttr.get(name)
    copy.attributes["sym_visibility"] = ir.StringAttr.get("private")
    return copy


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
