"""Writes the decisions of the in-place analysis into the IR, and changes nothing else.

    func.func @f(%x)                  ->   func.func @f(%x {bufferization.access = "read"})
    linalg.generic ins(%x) outs(%y)   ->   linalg.generic {__inplace_operands_attr__ = ["none", "true"]} ins(%x) outs(%y)

1. One entry for each operand of every op that writes into an operand: `true` if it is written where it lies, `false` if it is
   copied or gets a buffer of its own first, `none` if the op does not write into it.
2. For each tensor argument of a function, what the function does with its memory: `read`, `write`, `read-write` or `none`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.analysis.in_place.access import Access, argument_access
from hotdesk.analysis.in_place.inplace import InPlaceAnalysis
from hotdesk.analysis.in_place.search import search_in_place
from hotdesk.analysis.tensors.program import OpRecord
from hotdesk.analysis.tensors.reading import read_function
from hotdesk.explain import Decision
from hotdesk.ir.signature import Formal, set_signature, signature
from hotdesk.passes.base import FunctionPass

ATTRIBUTE = "__inplace_operands_attr__"


@dataclass(frozen=True, slots=True)
class AnnotateInPlace(FunctionPass):
    """Annotates ops and arguments with what in-place analysis decided (rules in the module docstring); for people who read IR."""

    name: ClassVar[str] = "hotdesk-annotate-in-place"

    def run_on(self, function: ir.Operation) -> Iterable[Decision]:
        analysis = search_in_place(read_function(function))
        for op in analysis.function.ops:
            if op.facts.ties:
                op.operation.attributes[ATTRIBUTE] = _entries(op, analysis)
        annotate_arguments(function, argument_access(analysis))
        return ()


def _entries(op: OpRecord, analysis: InPlaceAnalysis) -> ir.Attribute:
    decisions = [analysis.by_operand.get((op.number, operand)) for operand in range(len(op.operands))]
    words = ["none" if d is None else "true" if d.in_place else "false" for d in decisions]
    return ir.ArrayAttr.get([ir.StringAttr.get(word) for word in words])


def annotate_arguments(function: ir.Operation, accesses: tuple[Access | None, ...]) -> None:
    if any(accesses):
        set_signature(function, signature(function).stating(lambda number, each: _with_access(each, accesses[number])))


def _with_access(argument: Formal, access: Access | None) -> Formal:
    return argument if access is None else argument.stating(declared_access=access.value)
