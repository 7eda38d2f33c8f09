"""In-place writes given up because their result would be copied: to a result of the function, or on its way round a loop.

    func.func @main(%x, %a {hotdesk.donated}) {         %y is computed in %a and copied to its result at the end,
      %y = linalg.exp ins(%x) outs(%a)             ->   or in the result's own memory: no copy
      return %y }

    scf.for iter_args(%x, %y) {                         %z is computed in %x's memory, which the loop passes on as it is, and
      %z = linalg.fill outs(%x)                    ->   copied for %y; or computed in new memory: no copy
      scf.yield %x, %z }

1. A function is analysed. Its results that lie in memory it was given are copied at the end, and what control flow passes on in
   memory of something else is copied on its way. Each of these leads back, through the operands that ops write over, to the first
   ones that are overwritten unread; or, of several that one op makes, to those that are read, which are copied instead.
2. The function is analysed again, in which those ops get new memory. Those by which no copy is saved are dropped, and the last
   analysis is kept if it copies fewer bytes.

What is overwritten unread has no contents that count, so nothing is copied in its place. A result has memory of its caller's, so
none is allocated for it; for what is passed on, new memory comes in the place of that which it was copied to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from hotdesk.analysis.in_place.causes import without_copies
from hotdesk.analysis.in_place.copied_bytes import copied_results, copied_with_results
from hotdesk.analysis.in_place.flow_edges import FlowEdges
from hotdesk.analysis.in_place.inplace import InPlaceAnalysis, Premises
from hotdesk.analysis.tensors.program import TensorProgram
from hotdesk.explain import Reason
from hotdesk.program.records import FlowEdge

_ATTEMPTS = 2

Copied = int | FlowEdge
"""The number of a result, or what control flow passes on."""
Tied = tuple[int, int]
"""The number of an op, and of an operand that it may write over."""


def analyse_giving_up_writes(
    function: TensorProgram,
    premises: Premises,
    analyse: Callable[[TensorProgram, Premises], InPlaceAnalysis],
) -> InPlaceAnalysis:
    """The in-place analysis of a function whose results are in memory of their own (rules in the module docstring).

    Args:
        analyse: the analysis that is made, with these premises and with more writes given up.
    """
    first = analyse(function, premises)

    def again(causes: Mapping[Copied, list[Tied]]) -> InPlaceAnalysis:
        given_up = {tied: _reason(copied) for copied, ties in causes.items() for tied in ties}
        return analyse(function, replace(premises, given_up=given_up))

    def saving(causes: Mapping[Copied, list[Tied]], found: InPlaceAnalysis) -> Mapping[Copied, list[Tied]]:
        copied = {*copied_results(function, found), *(edge for edge, flow in found.flows.items() if flow.copied)}
        return {each: ties for each, ties in causes.items() if each not in copied}

    def is_better(_: Mapping[Copied, list[Tied]], found: InPlaceAnalysis) -> bool:
        return copied_with_results(function, found) < copied_with_results(function, first)

    return without_copies(first, _causes(function, first), again, saving, is_better, _ATTEMPTS)


def _reason(copied: Copied) -> Reason:
    return Reason.RESULT_SLOT if isinstance(copied, int) else Reason.READ_LATER


def _causes(function: TensorProgram, analysis: InPlaceAnalysis) -> dict[Copied, list[Tied]]:
    """What is written over, for each result that is copied out of memory that was given, by its number, and each copy by control
    flow."""
    sources: dict[Copied, int] = {}
    for number in copied_results(function, analysis) if function.writable_arguments else ():
        value = function.end.operands[number]
        place = analysis.places.place_of(value)
        if place is not None and analysis.places.is_given(place):
            sources[number] = value
    sources.update((edge, edge.source) for edge, flow in analysis.flows.items() if flow.copied)
    if not sources:
        return {}
    edges = FlowEdges(function)
    ties = {copied: list(_first_ties(function, analysis, edges, value)) for copied, value in sources.items()}
    causes = {copied: [tied for tied, needed in found if not needed] for copied, found in ties.items()}
    beside = Counter(copied.op for copied in ties if isinstance(copied, FlowEdge))
    for copied, found in ties.items():
        if not causes[copied] and isinstance(copied, FlowEdge) and beside[copied.op] > 1:
            causes[copied] = [tied for tied, _ in found]
    return {copied: found for copied, found in causes.items() if found}


def _first_ties(
    function: TensorProgram, analysis: InPlaceAnalysis, edges: FlowEdges, value: int
) -> Iterator[tuple[Tied, bool]]:
    """The operands that are overwritten first where a value comes from, through ops that write in place and choices, each with
    whether its contents are needed."""
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        each = analysis.readers.root[waiting.pop()]
        if each in seen:
            continue
        seen.add(each)
        waiting.extend(edge.source for edge in edges.to(each))
        tied = _written_over(function, analysis, each)
        if tied is None:
            continue
        op, operand = function.ops[tied[0]], tied[1]
        before = analysis.readers.root[op.operands[operand]]
        needed = op.facts.needs(operand)
        if needed and (edges.to(before) or _written_over(function, analysis, before) is not None):
            waiting.append(before)
        else:
            yield tied, needed


def _written_over(function: TensorProgram, analysis: InPlaceAnalysis, value: int) -> Tied | None:
    """The op that makes a value in the memory of an operand, and that operand; None if none does."""
    made = function.values[value]
    if made.producer < 0:
        return None
    op = function.ops[made.producer]
    operand = next((operand for operand, result in op.facts.ties if result == made.position), None)
    if operand is None or not analysis.by_operand[op.number, operand].in_place:
        return None
    return op.number, operand
