"""Makes values again where they are read later, instead of keeping them.

    %a = exp(%x)                    %a = exp(%x)
    use %a                          use %a
    %w = wide(%y)            ->     %w = wide(%y)
    %n = narrow(%w)                 %n = narrow(%w)
    %r = add(%a, %n)                %b = exp(%x)
                                    %r = add(%b, %n)

Legal iff the value is made element by element (rule 1 of `analysis.order.recomputing`); done where memory is to be gained (rules
2 and 3). The bytes of the decision are those that are written once more. Goes in front of `hotdesk-choose-destinations`; MLIR's
`cse` behind it would undo it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.analysis.order.recomputing import Rematerialization, find_rematerialization
from hotdesk.analysis.order.straight_line import StraightLine
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.building import clone_with, let_read
from hotdesk.ir.locations import source_of
from hotdesk.passes.base import StraightPass


@dataclass(frozen=True, slots=True)
class Recompute(StraightPass):
    """Makes values again in front of their later readers (rules in `analysis.order.recomputing`).

    Options:
        least_bytes: values of fewer bytes are kept.
        only: the number of one operation of each function, counted from 0: only its result is made again. -1 stands for all.
        assumed_size: what a size that is not known counts as, in elements.
        across: the number of an operation during which it is not to be kept. -1 stands for one in the longest stretch between two
            reads.
    """

    name: ClassVar[str] = "hotdesk-recompute"
    reasons: ClassVar[tuple[Reason, ...]] = (Reason.NOT_KEPT_AT_PEAK,)

    least_bytes: int = 1 << 20
    only: int = -1
    across: int = -1
    assumed_size: int = 256

    def run_on(self, function: ir.Operation) -> list[Decision]:
        line = StraightLine(function, self.assumed_size)
        found: list[Rematerialization] = []
        for number in range(len(line.ops)):
            if self.only in (-1, number):
                again = find_rematerialization(line, number, None if self.across < 0 else self.across)
                if again is not None and again.bytes >= self.least_bytes:
                    found.append(again)
        for again in found:
            make_again(line, again)
        return [decide_again(line, again, f"result of {line.ops[again.number].name}") for again in found]


def make_again(line: StraightLine, again: Rematerialization) -> None:
    """Does operations again, and lets what reads the value late read the new one."""
    point, made = ir.InsertionPoint(line.ops[again.before]), dict[ir.Value, ir.Value]()
    for number in again.operations:
        clone_with(line.ops[number], made, point)
    for read in again.reads:
        let_read(line.ops[read.reader], {read.value: made[read.value]})


def decide_again(line: StraightLine, again: Rematerialization, subject: str) -> Decision:
    """The decision to make a value again."""
    sources = (source_of(line.ops[again.number]), source_of(line.ops[again.before]))
    return Decision(subject, Outcome.RECOMPUTED, Reason.NOT_KEPT_AT_PEAK, sources, again.bytes)
