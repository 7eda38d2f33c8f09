"""Which ops do not write over an operand that they overwrite unread, although they may, since what they make is copied then.

    func.func @main(%x, %a {hotdesk.donated}) {         %y is computed in %a and copied to its result at the end,
      %y = linalg.exp ins(%x) outs(%a)             ->   or in the result's own memory: no copy
      return %y }

    scf.for iter_args(%x, %y) {                         %z is computed in %x's memory, which the loop hands on as it is, and
      %z = linalg.fill outs(%x)                    ->   copied for %y; or computed in new memory: no copy
      scf.yield %x, %z }

1. A function is analysed. Its results that lie in memory it was given are copied at the end, and what control flow passes on in
   memory of something else is copied on its way. Each of these leads back, through the operands that ops write over, to the first
   one that is overwritten unread.
2. The function is analysed again, in which those ops get new memory. Those by which no copy is spared are dropped, and the last
   analysis is kept if it copies fewer bytes.

What such an op writes over has no contents that count, so nothing is copied in its place. A result has memory of its caller's, so
none is allocated for it; for what is passed on, new memory comes in the place of that which it was copied to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hotdesk.analysis.in_place.copied_bytes import copied_results, copied_with_results
from hotdesk.analysis.in_place.inplace import NOTHING_SPARED, InPlaceAnalysis
from hotdesk.analysis.tensors.program import FlowEdge, FunctionRecord
from hotdesk.explain import Reason

_ATTEMPTS = 2

Tied = tuple[int, int]
"""The number of an op, and of an operand that it may write over."""
Spared = Mapping[Tied, Reason]
"""What is not written over, and why."""


def analyse_with_results_apart(
    function: FunctionRecord, analyse: Callable[[Spared], InPlaceAnalysis]
) -> InPlaceAnalysis:
    """The in-place analysis of a function whose results are in memory of their own (rules in the module docstring).

    Args:
        analyse: the analysis in which these operands are not written over.
    """
    first = analyse(NOTHING_SPARED)
    causes = _causes(function, first)
    for _ in range(_ATTEMPTS):
        if not causes:
            return first
        reasons = {tied: _reason(copied) for copied, tied in causes.items()}
        found = analyse(reasons)
        copied = {*copied_results(function, found), *(edge for edge, flow in found.flows.items() if flow.copied)}
        kept = {each: tied for each, tied in causes.items() if each not in copied}
        if kept == causes:
            return found if copied_with_results(function, found) < copied_with_results(function, first) else first
        causes = kept
    return first


def _reason(copied: int | FlowEdge) -> Reason:
    return Reason.RESULT_SLOT if isinstance(copied, int) else Reason.READ_LATER


def _causes(function: FunctionRecord, analysis: InPlaceAnalysis) -> dict[int | FlowEdge, Tied]:
    """For each result that is copied out of memory that was given, by its number, and each copy by control flow: the operand
    that was overwritten unread."""
    sources: dict[int | FlowEdge, int] = {}
    for number in copied_results(function, analysis) if function.writable_arguments else ():
        value = function.end.operands[number]
        place = analysis.places.place_of(value)
        if place is not None and analysis.places.is_given(place):
            sources[number] = value
    for edge, flow in analysis.flows.items():
        if flow.copied:
            sources[edge] = edge.source
    causes = {copied: _overwritten_unread(function, analysis, value) for copied, value in sources.items()}
    return {copied: tied for copied, tied in causes.items() if tied is not None}


def _overwritten_unread(function: FunctionRecord, analysis: InPlaceAnalysis, value: int) -> Tied | None:
    """The operand that is overwritten unread where a value comes from, if that is made by ops that write in place alone."""
    while (made := function.values[analysis.readers.root[value]]).producer is not None:
        op = function.ops[made.producer]
        operand = next((operand for operand, result in op.facts.ties if result == made.result), None)
        if operand is None or not analysis.by_operand[op.number, operand].in_place:
            return None
        if not op.facts.needs(operand):
            return op.number, operand
        value = op.operands[operand]
    return None
