"""Makes values again behind one operation, so that they are not kept while it runs: those that cost least for their bytes.

    %a = product(%x, %w)            %a = product(%x, %w)
    %b = exp(%a)                    %b = exp(%a)
    %c = wide(%b)                   %c = wide(%b)
    %d = narrow(%c)          ->     %d = narrow(%c)
    %r = add(%b, %d)                %a2 = product(%x, %w)
                                    %b2 = exp(%a2)
                                    %r = add(%b2, %d)

Legal iff rules 1 and 2 of `analysis.order.chains` hold; chosen by rules 3 to 5. The bytes of a decision are those that need not
be kept. Goes in front of `hotdesk-choose-destinations`; MLIR's `cse` behind it would undo it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.analysis.order.chains import RecomputeChain, find_chains
from hotdesk.analysis.order.straight_line import StraightLine
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.building import clone_with, let_read
from hotdesk.ir.locations import source_of
from hotdesk.passes.base import StraightPass


@dataclass(frozen=True, slots=True)
class RecomputeAcross(StraightPass):
    """Makes values again behind an operation (rules in `analysis.order.chains`).

    Options:
        across: the number of an operation of each function that has so many, counted from 0.
        least_bytes: values that save fewer bytes are kept.
        only: the number of one operation: only its result is made again. -1 stands for all.
        elementwise: whether only operations that make each element by itself are done again.
        most_cost: elements read and written again at most, with what products take as long as; -1 for any number.
        assumed_size: what a size that is not known counts as, in elements.
    """

    name: ClassVar[str] = "hotdesk-recompute-across"
    reasons: ClassVar[tuple[Reason, ...]] = (Reason.NOT_KEPT_AT_PEAK,)

    across: int = 0
    least_bytes: int = 1 << 20
    only: int = -1
    elementwise: bool = False
    most_cost: int = -1
    assumed_size: int = 256

    def run_on(self, function: ir.Operation) -> Iterator[Decision]:
        line = StraightLine(function, self.assumed_size)
        if self.across >= len(line.ops):
            return
        allowed, only = (None if option < 0 else option for option in (self.most_cost, self.only))
        chains = find_chains(
            line, self.across, least=self.least_bytes, allowed=allowed, only=only, elementwise=self.elementwise
        )
        for chain in chains:
            _make_again(line, chain)
            yield _decision(line, chain)


def _make_again(line: StraightLine, again: RecomputeChain) -> None:
    """Does operations again, and lets what reads the value late read the new one."""
    point, made = ir.InsertionPoint(line.ops[again.before]), dict[ir.Value, ir.Value]()
    for number in again.operations:
        clone_with(line.ops[number], made, point)
    for read in again.reads:
        let_read(line.ops[read.reader], {read.value: made[read.value]})


def _decision(line: StraightLine, chain: RecomputeChain) -> Decision:
    count = len([number for number in chain.operations if line.ops[number].name.startswith(("linalg.", "hotdesk."))])
    subject = f"result of {line.ops[chain.number].name}, by {count} operation{'s' if count != 1 else ''}"
    sources = (source_of(line.ops[chain.number]), source_of(line.ops[chain.before]))
    return Decision(subject, Outcome.RECOMPUTED, Reason.NOT_KEPT_AT_PEAK, sources, chain.bytes)
