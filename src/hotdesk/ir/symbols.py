"""Names for new symbols: the symbols of a module are read once, and not for each name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.op_maps import OpMap
from hotdesk.ir.walking import symbol_name


@dataclass(slots=True)
class _Table:
    """The names in a module: those that are taken, and the number to try next behind each stem."""

    taken: set[str]
    next: dict[str, int] = field(default_factory=dict[str, int])


class Symbols:
    """The names that symbols have in the modules of a program, as they were when the first name beside each was asked for."""

    def __init__(self) -> None:
        self._tables = OpMap[_Table]()

    def unused(self, beside: ir.Operation, stem: str) -> str:
        """A name that no symbol beside an op has: the stem and a number, the lowest one that was not given yet."""
        table = self._beside(beside)
        number = table.next.get(stem, 0)
        while f"{stem}_{number}" in table.taken:
            number += 1
        table.next[stem] = number + 1
        table.taken.add(f"{stem}_{number}")
        return f"{stem}_{number}"

    def named(self, beside: ir.Operation, wanted: str) -> str:
        """The name that is wanted, with a number from 1 on behind it if a symbol beside an op has it or it was given before."""
        taken = self._beside(beside).taken
        found, number = wanted, 0
        while found in taken:
            number += 1
            found = f"{wanted}_{number}"
        taken.add(found)
        return found

    def _beside(self, op: ir.Operation) -> _Table:
        module = cast(Any, op.parent).operation
        if module not in self._tables:
            named = (op.operation for block in module.regions[0].blocks for op in block.operations)
            self._tables[module] = _Table({symbol_name(op) for op in named if "sym_name" in op.attributes})
        return self._tables[module]
