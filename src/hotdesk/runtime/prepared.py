"""What `@prepare` hands to `@main`, as the arguments of `@main` state it."""

from __future__ import annotations

from typing import Any, cast

import sympy

from hotdesk._bindings import ir
from hotdesk.ir.context import entered
from hotdesk.ir.types import element_of, shape_of
from hotdesk.ir.walking import entry_block, main_function
from hotdesk.passes.tensor.prepare import KIND

_SHAPE = "hotdesk.shape"
_sympify: Any = sympy.sympify


def prepared_types(module: ir.Module) -> list[tuple[tuple[int, ...], str]]:
    """Shape and element type of each prepared argument of `@main`; sizes that its type leaves open are in `hotdesk.shape`."""
    with entered(module.operation):
        main = main_function(module)
        given: list[Any] = list(cast(Any, main.attributes["arg_attrs"])) if "arg_attrs" in main.attributes else []
        pairs = zip(entry_block(main).arguments, given, strict=False)
        return [
            (_shape(argument.type, entry), element_of(argument.type))
            for argument, entry in pairs
            if KIND in entry and entry[KIND].value == "prepared"
        ]


def _shape(kind: ir.Type, entry: Any) -> tuple[int, ...]:
    sizes = shape_of(kind)
    if None not in sizes:
        return cast("tuple[int, ...]", sizes)
    return tuple(int(_sympify(each.value)) for each in entry[_SHAPE])
