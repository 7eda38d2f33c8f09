"""Names for new symbols: the symbols of a module are read once, and not for each name."""

from __future__ import annotations

from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.walking import symbol_name


class Symbols:
    """The names that symbols have in the modules of a program, as they were when the first name beside each was asked for."""

    def __init__(self) -> None:
        self._taken: dict[ir.Operation, set[str]] = {}
        self._next: dict[tuple[ir.Operation, str], int] = {}

    def unused(self, beside: ir.Operation, stem: str) -> str:
        """A name that no symbol beside an op has: the stem and a number, the lowest one that was not given yet."""
        table, taken = self._beside(beside)
        number = self._next.get((table, stem), 0)
        while f"{stem}_{number}" in taken:
            number += 1
        self._next[table, stem] = number + 1
        taken.add(f"{stem}_{number}")
        return f"{stem}_{number}"

    def named(self, beside: ir.Operation, wanted: str) -> str:
        """The name that is wanted, with a number from 1 on behind it if a symbol beside an op has it or it was given before."""
        _, taken = self._beside(beside)
        found, number = wanted, 0
        while found in taken:
            number += 1
            found = f"{wanted}_{number}"
        taken.add(found)
        return found

    def _beside(self, op: ir.Operation) -> tuple[ir.Operation, set[str]]:
        table = cast(Any, op.parent).operation
        if table not in self._taken:
            named = (op.operation for block in table.regions[0].blocks for op in block.operations)
            self._taken[table] = {symbol_name(op) for op in named if "sym_name" in op.attributes}
        return table, self._taken[table]
