"""The sizes that a function states of its arguments: `hotdesk.shape` attributes."""

from __future__ import annotations

from typing import Any, cast

import sympy

from hotdesk._bindings import ir
from hotdesk.ir.sizes import OPAQUE, Size, parsed


def argument_shapes(function: ir.Operation) -> dict[int, tuple[Size, ...]]:
    """The sizes of arguments, by number; equal names are equal sizes."""
    shapes: dict[int, tuple[Size, ...]] = {}
    if "arg_attrs" not in function.attributes:
        return shapes
    for number, attributes in enumerate(cast(Any, function.attributes["arg_attrs"])):
        if "hotdesk.shape" in attributes:
            shapes[number] = tuple(
                int(entry.value) if entry.value.isdigit() else parsed(entry.value)
                for entry in attributes["hotdesk.shape"]
            )
    return shapes


def last_opaque(shapes: dict[int, tuple[Size, ...]]) -> int:
    """The greatest number of an opaque symbol among the sizes of arguments, so that new ones differ from them."""
    sizes = [size for shape in shapes.values() for size in shape if isinstance(size, sympy.Expr)]
    names = {str(symbol) for size in sizes for symbol in size.free_symbols}
    numbers = [name.removeprefix(OPAQUE) for name in names if name.startswith(OPAQUE)]
    return max((int(number) for number in numbers if number.isdigit()), default=0)
