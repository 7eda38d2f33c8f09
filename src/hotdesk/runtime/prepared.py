"""What `@prepare` hands to `@main`, as the arguments of `@main` state it."""

from __future__ import annotations

from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.context import entered
from hotdesk.ir.signature import SHAPE, Formal, signature
from hotdesk.ir.types import element_of, shape_of
from hotdesk.ir.walking import defined_functions, symbol_name
from hotdesk.sizes.reading import parsed


def prepared_types(module: ir.Module) -> list[tuple[tuple[int, ...], str]]:
    """Shape and element type of each argument of `@main` that `@prepare` makes; sizes that its type leaves open are in
    `hotdesk.shape`. A program may have prepared arguments of its own, before them."""
    with entered(module.operation):
        functions = {symbol_name(function): function for function in defined_functions(module)}
        if "prepare" not in functions:
            return []
        found = [each for each in signature(functions["main"]).arguments if each.kind == "prepared"]
        made = found[len(found) - _result_count(functions["prepare"]) :]
        return [(_shape(each), element_of(each.type)) for each in made]


def _result_count(function: ir.Operation) -> int:
    """How many results a function has, in memory of the caller's or returned."""
    known = signature(function)
    return sum(each.result is not None for each in known.arguments) + len(known.results)


def _shape(argument: Formal) -> tuple[int, ...]:
    sizes = shape_of(argument.type)
    if None not in sizes:
        return cast("tuple[int, ...]", sizes)
    return tuple(int(parsed(each.value)) for each in cast(Any, argument.attributes[SHAPE]))
