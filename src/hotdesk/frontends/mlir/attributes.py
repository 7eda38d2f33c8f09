"""Checks of the `hotdesk.*` attributes that users write: what is misspelled, misplaced or contradicts a type is refused.

    func.func @f(%x: tensor<?x4xf32> {hotdesk.shape = ["n", "4"], hotdesk.donated}) attributes {hotdesk.bounds = {n = [1, 64]}}

1. `hotdesk.shape` and `hotdesk.donated` are for arguments that are tensors or memrefs. The first has a size for each dim, the
   other no value; what is donated lies together. A size that the type fixes has no name.
2. `hotdesk.bounds` is for functions, and has ranges of sizes that arguments of the function have.
3. `hotdesk.roll_back` is for functions that can be called from outside the module, and is `true` or `false`.
4. Others that begin with `hotdesk.` are those that passes write, where they write them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from hotdesk._bindings import ir
from hotdesk.errors import InvalidIRError
from hotdesk.frontends.mlir.layouts import has_own_layout
from hotdesk.ir.argument_sizes import BOUNDS, argument_name, argument_shapes, declared_bounds
from hotdesk.ir.dialect import FIRST_WANTED
from hotdesk.ir.functions import is_private, named_functions
from hotdesk.ir.locations import CHECKED_OP, python_line
from hotdesk.ir.signature import ARGUMENT_ATTRIBUTES, DONATED, SHAPE, Formal, signature
from hotdesk.ir.types import is_any_tensor, is_buffer
from hotdesk.ir.walking import entry_block, is_declaration, nested_ops, symbol_name
from hotdesk.models.hotdesk import ROLL_BACK
from hotdesk.passes.tensor.inplace_calls import ANALYSED
from hotdesk.sizes.size import symbols_of

_OF_OPS = (FIRST_WANTED, CHECKED_OP)
_OF_FUNCTIONS = (BOUNDS, ROLL_BACK, *ANALYSED)
_OF_RESULTS = tuple(name for name in ARGUMENT_ATTRIBUTES if name not in (SHAPE, DONATED))
_NONE_OF_RESULTS = "none: their sizes follow from those of the arguments"


def refuse_misplaced(module: ir.Module, entry: ir.Operation, names: Sequence[str]) -> None:
    """Raises InvalidIRError where a program, as it was written, breaks a rule above; `require_known_sizes` is for the ranges.

    Args:
        module: the program.
        entry: the function that is called.
        names: of its arguments.
    """
    functions = named_functions(module).values()
    for function in functions:
        given, where = signature(function), python_line(function.location)
        arguments: Iterable[Any] = () if is_declaration(function) else entry_block(function).arguments
        places = [python_line(each.location) for each in arguments] or [where] * len(given.arguments)
        called = names if function == entry else [argument_name(number) for number in range(len(places))]
        _require_known(function.attributes, _OF_FUNCTIONS, "a function", f"{BOUNDS} or {ROLL_BACK}", where)
        _check_roll_back(function, function == entry, where)
        for formal, name, place in zip(given.arguments, called, places, strict=True):
            _check_argument(formal, f"argument '{name}'", place)
        for number, formal in enumerate(given.results):
            _require_known(formal.attributes, _OF_RESULTS, f"result {number}", _NONE_OF_RESULTS, where)
        argument_shapes(function)
    for op in nested_ops(module.operation):
        if op.name != "func.func":
            _require_known(op.attributes, _OF_OPS, f"`{op.name}`", "none", python_line(op.location))


def require_known_sizes(main: ir.Operation, where: str) -> None:
    """Raises InvalidIRError for a range of a size that no argument of a function has, once all their sizes have names."""
    known = sorted({name for shape in argument_shapes(main).values() for size in shape for name in symbols_of(size)})
    for name in declared_bounds(main):
        if name not in known:
            listed = ", ".join(f"'{each}'" for each in known)
            expected = f"ranges of sizes of arguments: {listed}" if known else "none: all sizes are fixed"
            raise InvalidIRError(
                f"attribute '{BOUNDS}'", expected=expected, got=f"'{name}'", where=where, hint=_near(name, known)
            )


def _check_roll_back(function: ir.Operation, is_entry: bool, where: str) -> None:
    if ROLL_BACK not in function.attributes:
        return
    given = function.attributes[ROLL_BACK]
    if not isinstance(given, ir.BoolAttr):
        raise InvalidIRError(f"attribute '{ROLL_BACK}'", expected="true or false", got=str(given), where=where)
    if not is_entry and (is_declaration(function) or is_private(function)):
        expected, got = "on a function that calls can run", f"on @{symbol_name(function)}, which others call"
        hint = "What a call puts back is said by the function that it runs."
        raise InvalidIRError(f"attribute '{ROLL_BACK}'", expected=expected, got=got, where=where, hint=hint)


def _check_argument(formal: Formal, what: str, where: str) -> None:
    _require_known(formal.attributes, ARGUMENT_ATTRIBUTES, what, f"{SHAPE} or {DONATED}", where)
    for name in (SHAPE, DONATED):
        if name in formal.attributes and not (is_any_tensor(formal.type) or is_buffer(formal.type)):
            got = str(formal.type)
            raise InvalidIRError(f"attribute '{name}' of {what}", expected="a tensor or a memref", got=got, where=where)
    if formal.donated and has_own_layout(formal.type):
        expected, got = "a tensor, or a memref that is contiguous", str(formal.type)
        raise InvalidIRError(f"attribute '{DONATED}' of {what}", expected=expected, got=got, where=where)
    if formal.donated and not isinstance(formal.attributes[DONATED], ir.UnitAttr):
        got = f"{DONATED} = {formal.attributes[DONATED]}"
        hint = "Leave it out where the argument is not donated."
        raise InvalidIRError(what, expected=f"{DONATED} without a value", got=got, where=where, hint=hint)


def _require_known(given: Iterable[str], known: Collection[str], what: str, of_users: str, where: str) -> None:
    """Raises InvalidIRError for an attribute of Hotdesk's that is none of those known there; `of_users` says what users write."""
    for name in given:
        if name.startswith("hotdesk.") and name not in known:
            hint = _near(name, known)
            raise InvalidIRError(f"attributes of {what}", expected=of_users, got=name, where=where, hint=hint)


def _near(name: str, known: Collection[str]) -> str | None:
    near = get_close_matches(name, known, n=1, cutoff=0.8)
    return f"Did you mean '{near[0]}'?" if near else None
