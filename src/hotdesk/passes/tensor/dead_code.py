"""Erases ops whose results nobody uses; MLIR's own clean-up does not know that `hotdesk` ops have no side effects.

    %c = hotdesk.contract …; %y = hotdesk.contract …; return %y     ->     %y = hotdesk.contract …; return %y

An op is erased iff

1. it has results, and none of them has a use: users go first, so that what only they use goes too;
2. it has no side effects, by its dialect: `linalg`, `tensor`, `arith`, `math`, `tm_tensor` or `hotdesk`;
3. it stands at the top of a function's body: ops inside of others stay.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.explain import Decision
from hotdesk.ir.walking import top_level_ops
from hotdesk.passes.base import FunctionPass
from hotdesk.passes.properties import NO_UNUSED_TENSORS, Property

_PURE = ("linalg", "tensor", "arith", "hotdesk", "tm_tensor", "math")


@dataclass(frozen=True, slots=True)
class EraseDead(FunctionPass):
    """Erases unused top-level ops without side effects (rules in the module docstring)."""

    name: ClassVar[str] = "hotdesk-erase-dead"

    def ensures(self) -> tuple[Property, ...]:
        return (NO_UNUSED_TENSORS,)

    def run_on(self, function: ir.Operation) -> Iterable[Decision]:
        for op in reversed(top_level_ops(function)):
            unused = len(op.results) > 0 and all(next(iter(r.uses), None) is None for r in op.results)
            if unused and op.name.split(".")[0] in _PURE:
                op.erase()
        return ()
