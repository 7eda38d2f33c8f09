"""What `@prepare` hands to `@main`, as the arguments of `@main` state it."""

from __future__ import annotations

from typing import Any, cast

import sympy

from hotdesk._bindings import ir
from hotdesk.ir.context import entered
from hotdesk.ir.types import element_of, shape_of
from hotdesk.ir.walking import defined_functions, entry_block, symbol_name
from hotdesk.passes.bufferize.results import RESULT
from hotdesk.passes.tensor.prepare import KIND

_SHAPE = "hotdesk.shape"
_sympify: Any = sympy.sympify


def prepared_types(module: ir.Module) -> list[tuple[tuple[int, ...], str]]:
    """Shape and element type of each argument of `@main` that `@prepare` makes; sizes that its type leaves open are in
    `hotdesk.shape`. A program may have prepared arguments of its own, before them."""
    with entered(module.operation):
        functions = {symbol_name(function): function for function in defined_functions(module)}
        if "prepare" not in functions:
            return []
        main = functions["main"]
        pairs = zip(entry_block(main).arguments, _entries(main), strict=False)
        found = [(a.type, entry) for a, entry in pairs if KIND in entry and entry[KIND].value == "prepared"]
        made = found[len(found) - _result_count(functions["prepare"]) :]
        return [(_shape(kind, entry), element_of(kind)) for kind, entry in made]


def _entries(function: ir.Operation) -> list[Any]:
    return list(cast(Any, function.attributes["arg_attrs"])) if "arg_attrs" in function.attributes else []


def _result_count(function: ir.Operation) -> int:
    """How many results a function has, in memory of the caller's or returned."""
    returned: Any = cast(Any, function.attributes["function_type"]).value.results
    return sum(RESULT in entry for entry in _entries(function)) + len(returned)


def _shape(kind: ir.Type, entry: Any) -> tuple[int, ...]:
    sizes = shape_of(kind)
    if None not in sizes:
        return cast("tuple[int, ...]", sizes)
    return tuple(int(_sympify(each.value)) for each in entry[_SHAPE])
