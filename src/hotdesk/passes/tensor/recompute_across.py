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

from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.analysis.order.chains import RecomputeChain, find_chains
from hotdesk.analysis.order.straight_line import StraightLine
from hotdesk.explain import Decision, Outcome, Reason, Source
from hotdesk.ir.locations import python_line
from hotdesk.ir.walking import captured_operands, straight_functions
from hotdesk.passes.base import Pass


@dataclass(frozen=True, slots=True)
class RecomputeAcross(Pass):
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

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        decisions: list[Decision] = []
        for function in straight_functions(module):
            line = StraightLine(function, self.assumed_size)
            if self.across >= len(line.ops):
                continue
            allowed = None if self.most_cost < 0 else self.most_cost
            found = find_chains(line, self.across, least=self.least_bytes, allowed=allowed)
            for chain in found:
                _make_again(line, chain)
                decisions.append(_decision(line, chain))
        return tuple(decisions)


def _make_again(line: StraightLine, chain: RecomputeChain) -> None:
    """Does the operations again, and lets what reads the value late read the new one."""
    before = line.ops[chain.before]
    made: dict[ir.Value, ir.Value] = {}
    for number in chain.operations:
        op = line.ops[number]
        clone = op.clone(ir.InsertionPoint(before))
        _let_read(clone, made)
        made.update(zip(op.results, clone.results, strict=True))
    for read in chain.reads:
        _let_read(line.ops[read.reader], {read.value: made[read.value]})


def _let_read(op: ir.Operation, other: dict[ir.Value, ir.Value]) -> None:
    """Has an operation and its regions read other values."""
    used = [(op, i, value) for i, value in enumerate(op.operands)]
    for reader, i, value in (*used, *captured_operands(op)):
        if value in other:
            reader.operands[i] = other[value]


def _decision(line: StraightLine, chain: RecomputeChain) -> Decision:
    op, reader = line.ops[chain.number], line.ops[chain.before]
    sources = (Source(op.name, python_line(op.location)), Source(reader.name, python_line(reader.location)))
    count = len([number for number in chain.operations if line.ops[number].name.startswith(("linalg.", "hotdesk."))])
    subject = f"result of {op.name}, by {count} operation{'s' if count != 1 else ''}"
    return Decision(subject, Outcome.RECOMPUTED, Reason.NOT_KEPT_AT_PEAK, sources, chain.bytes)
