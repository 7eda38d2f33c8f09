"""The search around in-place analysis: a function analysed again under other premises, which are kept if that copies less.

Three kinds of premises are tried:

1. *merges* (`merge_search`): phis and selects get a buffer of their own;
2. *writes given up* (`writes_given_up`): results get new memory instead of that of an operand;
3. *copied slices* (`copied_slices`): what is a slice of a tensor that is overwritten is copied, instead of the tensor.

A round tries merges, then writes given up, each time with merges anew: a write that is given up may be what lets values merge.
Both are `premise_trials`: of a premise for each copy that is made and that may be spared by it. The next round has slices copied
that were in the way. The round that copies the fewest bytes is kept.
"""

from __future__ import annotations

from dataclasses import replace

from hotdesk.analysis.in_place.copied_bytes import copied_with_results
from hotdesk.analysis.in_place.copied_slices import ROUNDS, slices_in_the_way
from hotdesk.analysis.in_place.inplace import NO_PREMISES, InPlaceAnalysis, Premises, analyse_again, analyse_in_place
from hotdesk.analysis.in_place.merge_search import MergeTrial
from hotdesk.analysis.in_place.premise_trials import try_premises
from hotdesk.analysis.in_place.writes_given_up import WritesTrial
from hotdesk.analysis.tensors.program import TensorProgram


def search_in_place(
    function: TensorProgram,
    premises: Premises = NO_PREMISES,
    *,
    merging: bool = True,
    apart: bool = False,
    slicing: bool = True,
) -> InPlaceAnalysis:
    """The analysis that copies least of those tried.

    Args:
        merging: whether merges are tried.
        apart: the results of the function must be in memory of their own, so that writes are given up too.
        slicing: whether slices may be copied.
    """

    def merged(plain: InPlaceAnalysis) -> InPlaceAnalysis:
        return try_premises(plain, MergeTrial(plain)) if merging else plain

    def settled(plain: InPlaceAnalysis) -> InPlaceAnalysis:
        found = merged(plain)
        return try_premises(found, WritesTrial(found), merged) if apart else found

    found = best = settled(analyse_in_place(function, premises))
    least = copied_with_results(best)
    for _ in range(ROUNDS if slicing else 0):
        slices = slices_in_the_way(found)
        if not slices:
            break
        found = settled(analyse_again(found, replace(premises, slices={**found.slices, **slices})))
        cost = copied_with_results(found)
        if cost < least:
            best, least = found, cost
    return best
