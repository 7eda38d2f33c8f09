"""Which ops do not write over a donated argument, although they may, because what they make is returned.

    func.func @main(%x, %a {hotdesk.donated}) {         %y is computed in %a and copied to its result at the end,
      %y = linalg.exp ins(%x) outs(%a)             ->   or in the result's own memory: no copy
      return %y }

1. A function is analysed. Its results that lie in memory it was given are copied at the end. Each leads back, through the
   operands that ops write over, to the first one that is overwritten unread.
2. The function is analysed again, in which those ops get new memory. Those by which no result is spared its copy are dropped, and
   the last analysis is kept if it copies fewer bytes.

What such an op writes over has no contents that count, so nothing is copied in its place; and the result has memory of its
caller's, so none is allocated.
"""

from __future__ import annotations

from collections.abc import Callable

from hotdesk.analysis.in_place.copied_bytes import copied_results, copied_with_results
from hotdesk.analysis.in_place.inplace import InPlaceAnalysis
from hotdesk.analysis.tensors.program import FunctionRecord

_ATTEMPTS = 2

Tied = tuple[int, int]
"""The number of an op, and of an operand that it may write over."""


def analyse_with_results_apart(
    function: FunctionRecord, analyse: Callable[[frozenset[Tied]], InPlaceAnalysis]
) -> InPlaceAnalysis:
    """The in-place analysis of a function whose results are in memory of their own (rules in the module docstring).

    Args:
        analyse: the analysis in which these operands are not written over.
    """
    first = analyse(frozenset())
    causes = _causes(function, first)
    for _ in range(_ATTEMPTS):
        if not causes:
            return first
        found = analyse(frozenset(causes.values()))
        copied = copied_results(function, found)
        kept: dict[int, Tied] = {number: tied for number, tied in causes.items() if number not in copied}
        if kept == causes:
            return found if copied_with_results(function, found) < copied_with_results(function, first) else first
        causes = kept
    return first


def _causes(function: FunctionRecord, analysis: InPlaceAnalysis) -> dict[int, Tied]:
    """For each result that is copied out of memory that was given: the operand that was overwritten unread."""
    if not function.writable_arguments:
        return {}
    found: dict[int, Tied] = {}
    for number in copied_results(function, analysis):
        value = function.end.operands[number]
        place = analysis.places.place_of(value)
        if place is None or not analysis.places.is_given(place):
            continue
        tied = _overwritten_unread(function, analysis, value)
        if tied is not None:
            found[number] = tied
    return found


def _overwritten_unread(function: FunctionRecord, analysis: InPlaceAnalysis, value: int) -> Tied | None:
    """The operand that is overwritten unread where a value comes from, if that is made by ops that write in place alone."""
    while (made := function.values[analysis.readers.root[value]]).producer is not None:
        op = function.ops[made.producer]
        operand = next((operand for operand, result in op.facts.ties if result == made.result), None)
        if operand is None or not analysis.by_operand[op.number, operand].in_place:
            return None
        if operand not in op.facts.reads and operand in op.facts.overwrites:
            return op.number, operand
        value = op.operands[operand]
    return None
