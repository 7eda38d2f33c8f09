"""Makes values again behind one operation, so that they are not kept while it runs: those that cost least for their bytes.

    %a = product(%x, %w)            %a = product(%x, %w)
    %b = exp(%a)                    %b = exp(%a)
    %c = wide(%b)                   %c = wide(%b)
    %d = narrow(%c)          ->     %d = narrow(%c)
    %r = add(%b, %d)                %a2 = product(%x, %w)
                                    %b2 = exp(%a2)
                                    %r = add(%b2, %d)

Legal iff rules 1 and 2 of `analysis.order.chains` hold; chosen by rules 3 and 4. Unlike `hotdesk-recompute` it does products,
convolutions and sums again, and several operations for one value. The bytes of a decision are those that need not be kept. Goes
in front of `hotdesk-choose-destinations`; MLIR's `cse` behind it would undo it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.analysis.order.chains import find_chains
from hotdesk.analysis.order.recomputing import Rematerialization
from hotdesk.analysis.order.straight_line import StraightLine
from hotdesk.explain import Decision, Reason
from hotdesk.passes.base import StraightPass
from hotdesk.passes.tensor.recompute import decide_again, make_again


@dataclass(frozen=True, slots=True)
class RecomputeAcross(StraightPass):
    """Makes values again behind an operation (rules in `analysis.order.chains`).

    Options:
        across: the number of an operation of each function that has so many, counted from 0.
        least_bytes: values that save fewer bytes are kept.
        most_cost: elements read and written again at most, with what products take as long as; -1 for any number.
        assumed_size: what a size that is not known counts as, in elements.
    """

    name: ClassVar[str] = "hotdesk-recompute-across"
    reasons: ClassVar[tuple[Reason, ...]] = (Reason.NOT_KEPT_AT_PEAK,)

    across: int = 0
    least_bytes: int = 1 << 20
    most_cost: int = -1
    assumed_size: int = 256

    def run_on(self, function: ir.Operation) -> Iterator[Decision]:
        line = StraightLine(function, self.assumed_size)
        if self.across >= len(line.ops):
            return
        allowed = None if self.most_cost < 0 else self.most_cost
        for chain in find_chains(line, self.across, least=self.least_bytes, allowed=allowed):
            make_again(line, chain)
            yield decide_again(line, chain, _subject(line, chain))


def _subject(line: StraightLine, chain: Rematerialization) -> str:
    count = len([number for number in chain.operations if line.ops[number].name.startswith(("linalg.", "hotdesk."))])
    return f"result of {line.ops[chain.number].name}, by {count} operation{'s' if count != 1 else ''}"
