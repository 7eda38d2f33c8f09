"""Computes values right in front of what reads them first, instead of keeping them until then.

    %p = pad(%x)                    use %x
    use %x                          %w = wide(%y)
    %w = wide(%y)            ->     %n = narrow(%w)
    %n = narrow(%w)                 %p = pad(%x)
    %r = add(%p, %n, %x)            %r = add(%p, %n, %x)

Legal iff rules 1 to 3 of `analysis.order.lateness` hold; done where rules 4 and 5 do, too. Nothing is computed twice. Goes behind
fusion and in front of `hotdesk-choose-destinations`. A step of training has many such values: what only the backward pass reads,
such as padded images, stands in the forward pass once common subexpressions are merged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.analysis.order.lateness import find_waits
from hotdesk.analysis.order.straight_line import StraightLine
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.locations import source_of
from hotdesk.ir.walking import straight_functions
from hotdesk.passes.base import Pass


@dataclass(frozen=True, slots=True)
class ComputeLate(Pass):
    """Moves operations to their first readers (rules in `analysis.order.lateness`).

    Options:
        assumed_size: what a size that is not known counts as, in elements.
    """

    name: ClassVar[str] = "hotdesk-compute-late"
    reasons: ClassVar[tuple[Reason, ...]] = (Reason.ONLY_READ_LATER,)

    assumed_size: int = 256

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        """The bytes of a decision are those that need not be kept between the old place and the new one."""
        decisions: list[Decision] = []
        for function in straight_functions(module):
            line = StraightLine(function, self.assumed_size)
            for wait in find_waits(line):
                op, reader = line.ops[wait.number], line.ops[wait.before]
                op.move_before(reader)
                if wait.bytes:
                    decisions.append(_decision(op, reader, wait.bytes))
        return tuple(reversed(decisions))


def _decision(op: ir.Operation, reader: ir.Operation, size: int) -> Decision:
    sources = (source_of(op), source_of(reader))
    return Decision(f"result of {op.name}", Outcome.REORDERED, Reason.ONLY_READ_LATER, sources, size)
