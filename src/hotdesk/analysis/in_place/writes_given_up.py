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
2. The function is analysed again (`premise_trials`), in which those ops get new memory. Those by which no copy is spared are
   dropped, and the last analysis is kept if it copies fewer bytes.

What is overwritten unread has no contents that count, so nothing is copied in its place. A result has memory of its caller's, so
none is allocated for it; for what is passed on, new memory comes in the place of that which it was copied to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from hotdesk.analysis.in_place.copied_bytes import copied_results, copied_with_results
from hotdesk.analysis.in_place.inplace import NO_PREMISES, InPlaceAnalysis, Premises, Tied
from hotdesk.explain import Reason
from hotdesk.graphs import reached
from hotdesk.program.records import FlowEdge

Copied = int | FlowEdge
"""The number of a result, or what control flow passes on."""


class WritesTrial:
    """The writes that are given up for a try, for the sake of copies of a first analysis (rules in the module docstring).

    Attributes:
        proposed: copies, each with the writes because of which it is made.
    """

    attempts = 2

    def __init__(self, first: InPlaceAnalysis) -> None:
        self._first = first
        self.proposed: Mapping[Copied, list[Tied]] = _causes(first)

    def premises(self, proposed: Mapping[Copied, list[Tied]]) -> Premises:
        given_up = {tied: _reason(copied) for copied, ties in proposed.items() for tied in ties}
        return replace(self._first.premises, merged=NO_PREMISES.merged, given_up=given_up)

    def worth_it(self, proposed: Mapping[Copied, list[Tied]], found: InPlaceAnalysis) -> Mapping[Copied, list[Tied]]:
        copied = {*copied_results(found), *(edge for edge, conflict in found.copies.items() if conflict is not None)}
        return {each: ties for each, ties in proposed.items() if each not in copied}

    def is_better(self, proposed: Mapping[Copied, list[Tied]], found: InPlaceAnalysis) -> bool:
        return copied_with_results(found) < copied_with_results(self._first)


def _reason(copied: Copied) -> Reason:
    return Reason.RESULT_SLOT if isinstance(copied, int) else Reason.READ_LATER


def _causes(analysis: InPlaceAnalysis) -> dict[Copied, list[Tied]]:
    """What is written over, for each result that is copied out of memory that was given, by its number, and each copy by control
    flow."""
    function = analysis.function
    sources: dict[Copied, int] = {}
    for number in copied_results(analysis) if function.writable_arguments else ():
        value = function.end.operands[number]
        place = analysis.places.place_of(value)
        if place is not None and analysis.places.is_given(place):
            sources[number] = value
    sources.update((edge, edge.source) for edge, conflict in analysis.copies.items() if conflict is not None)
    ties = {copied: list(_first_ties(analysis, value)) for copied, value in sources.items()}
    causes = {copied: [tied for tied, needed in found if not needed] for copied, found in ties.items()}
    beside = Counter(copied.op for copied in ties if isinstance(copied, FlowEdge))
    for copied, found in ties.items():
        if not causes[copied] and isinstance(copied, FlowEdge) and beside[copied.op] > 1:
            causes[copied] = [tied for tied, _ in found]
    return {copied: found for copied, found in causes.items() if found}


def _first_ties(analysis: InPlaceAnalysis, value: int) -> Iterator[tuple[Tied, bool]]:
    """The operands that are overwritten first where a value comes from, through ops that write in place and choices, each with
    whether its contents are needed."""
    root = analysis.readers.root

    def before(each: int) -> list[int]:
        tied = _written_over(analysis, each)
        made = [edge.source for edge in analysis.edges.to(each)]
        if tied is not None and not _is_first(analysis, tied):
            made.append(_operand(analysis, tied))
        return [root[source] for source in made]

    for each in reached([root[value]], before):
        tied = _written_over(analysis, each)
        if tied is not None and _is_first(analysis, tied):
            yield tied, analysis.function.ops[tied[0]].facts.needs(tied[1])


def _is_first(analysis: InPlaceAnalysis, tied: Tied) -> bool:
    """Whether what an op writes over is needed by it no more, or is not one of several nor written over something itself."""
    op, operand = tied
    if not analysis.function.ops[op].facts.needs(operand):
        return True
    before = _operand(analysis, tied)
    return not analysis.edges.to(before) and _written_over(analysis, before) is None


def _operand(analysis: InPlaceAnalysis, tied: Tied) -> int:
    op, operand = tied
    return analysis.readers.root[analysis.function.ops[op].operands[operand]]


def _written_over(analysis: InPlaceAnalysis, value: int) -> Tied | None:
    """The op that makes a value in the memory of an operand, and that operand; None if none does."""
    made = analysis.function.tie_to(value)
    if made is None:
        return None
    tied = made[0].number, made[1]
    return tied if analysis.by_operand[tied].in_place else None
