"""Writes the decisions of the in-place analysis into the IR, and changes nothing else.

    linalg.generic ins(%x) outs(%y)   ->   linalg.generic {__inplace_operands_attr__ = ["none", "true"]} ins(%x) outs(%y)

One entry for each operand of every op that writes into an operand: `true` if it is written where it lies, `false` if it is copied
or gets a buffer of its own first, `none` if the op does not write into it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.analysis.inplace import InPlaceAnalysis, analyse_in_place
from hotdesk.analysis.program import OpRecord, read_function
from hotdesk.explain import Decision
from hotdesk.ir.walking import defined_functions
from hotdesk.passes.base import Pass

ATTRIBUTE = "__inplace_operands_attr__"


@dataclass(frozen=True, slots=True)
class AnnotateInPlace(Pass):
    """Annotates ops with what in-place analysis decided about their operands; for tests and for people who read IR."""

    name: ClassVar[str] = "hotdesk-annotate-in-place"

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        for function in defined_functions(module):
            record = read_function(function)
            analysis = analyse_in_place(record)
            for op in record.ops:
                if op.facts.ties:
                    op.operation.attributes[ATTRIBUTE] = _entries(op, analysis)
        return ()


def _entries(op: OpRecord, analysis: InPlaceAnalysis) -> ir.Attribute:
    decisions = [analysis.by_operand.get((op.number, operand)) for operand in range(len(op.operands))]
    words = ["none" if d is None else "true" if d.in_place else "false" for d in decisions]
    return ir.ArrayAttr.get([ir.StringAttr.get(word) for word in words])
