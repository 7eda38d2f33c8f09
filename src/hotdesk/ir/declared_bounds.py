"""Ranges of symbols that a function declares: `hotdesk.bounds = {s0 = [1, 512], s1 = [2]}`, the least and the greatest value.

The symbols are those in `hotdesk.shape` of the arguments. It is a promise of whoever calls; nothing checks it.
"""

from __future__ import annotations

from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.errors import InvalidIRError
from hotdesk.ir.locations import python_line

BOUNDS = "hotdesk.bounds"


def declared_bounds(function: ir.Operation) -> dict[str, tuple[int, int | None]]:
    """The least and the greatest value of symbols, by name, None where no greatest one is declared.

    Raises:
        InvalidIRError: the attribute is no such dictionary, or a range is empty or begins below 0.
    """
    if BOUNDS not in function.attributes:
        return {}
    given: Any = function.attributes[BOUNDS]
    if not isinstance(given, ir.DictAttr):
        raise _invalid(function, str(given))
    found: dict[str, tuple[int, int | None]] = {}
    for entry in cast(Any, given):
        ends = list(entry.attr) if isinstance(entry.attr, ir.ArrayAttr) else []
        numbers = [int(cast(Any, end).value) for end in ends if isinstance(end, ir.IntegerAttr)]
        if len(numbers) != len(ends) or len(numbers) not in (1, 2) or sorted([0, *numbers]) != [0, *numbers]:
            raise _invalid(function, f"{entry.name} = {entry.attr}")
        found[str(entry.name)] = (numbers[0], numbers[1] if len(numbers) == 2 else None)
    return found


def _invalid(function: ir.Operation, got: str) -> InvalidIRError:
    return InvalidIRError(
        f"attribute '{BOUNDS}'",
        expected="a dictionary of ranges such as {s0 = [1, 512], s1 = [2]}",
        got=got,
        where=python_line(function.location) or None,
    )
