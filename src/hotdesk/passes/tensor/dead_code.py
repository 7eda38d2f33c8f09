"""Erases ops whose results nobody uses; MLIR's own clean-up does not know that `hotdesk` ops have no side effects.

    %c = hotdesk.contract …; %y = hotdesk.contract …; return %y     ->     %y = hotdesk.contract …; return %y

An op is erased iff

1. it has results, and none of them has a use: users go first, so that what only they use goes too;
2. it does nothing but compute them (`models.purity`): an op of `linalg`, `tensor`, `arith`, `math`, `tm_tensor` or `hotdesk`;
3. it stands at the top of a function's body: ops inside of others stay.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.explain import Decision
from hotdesk.ir.walking import top_level_ops
from hotdesk.models.purity import is_computation
from hotdesk.passes.base import FunctionPass
from hotdesk.passes.properties import NO_UNUSED_TENSORS, Property


@dataclass(frozen=True, slots=True)
class EraseDead(FunctionPass):
    """Erases unused top-level ops without side effects (rules in the module docstring)."""

    name: ClassVar[str] = "hotdesk-erase-dead"

    def ensures(self) -> tuple[Property, ...]:
        return (NO_UNUSED_TENSORS,)

    def run_on(self, function: ir.Operation) -> Iterable[Decision]:
        for op in reversed(top_level_ops(function)):
            if is_computation(op) and all(next(iter(result.uses), None) is None for result in op.results):
                op.erase()
        return ()
