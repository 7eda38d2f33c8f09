"""The search around in-place analysis: a function analysed again with something decided otherwise, kept if that copies less.

Three things are tried, each around the one before it:

1. *merges* (`merge_search`): phis and selects get a buffer of their own;
2. *writes given up* (`writes_given_up`): results get new memory instead of that of an operand;
3. *copied slices* (`copied_slices`): what is a slice of a tensor that is overwritten is copied, instead of the tensor.

The first two propose premises for the sake of copies that an analysis would make, its causes, and are driven by `causes`.
"""

from __future__ import annotations

from hotdesk.analysis.in_place.copied_slices import copy_slices
from hotdesk.analysis.in_place.inplace import NO_PREMISES, InPlaceAnalysis, Premises, analyse_in_place
from hotdesk.analysis.in_place.merge_search import analyse_with_merges
from hotdesk.analysis.in_place.writes_given_up import analyse_giving_up_writes
from hotdesk.analysis.tensors.program import TensorProgram


def search_in_place(
    function: TensorProgram, premises: Premises = NO_PREMISES, *, merging: bool = True, apart: bool = False
) -> tuple[TensorProgram, InPlaceAnalysis]:
    """The analysis that copies least of those tried, and the function, of which some slices may be copies then.

    Args:
        merging: whether merges are tried.
        apart: the results of the function must be in memory of their own, so that writes are given up too.
    """

    def analyse(function: TensorProgram) -> InPlaceAnalysis:
        once = analyse_with_merges if merging else analyse_in_place
        return analyse_giving_up_writes(function, premises, once) if apart else once(function, premises)

    return copy_slices(function, analyse)
