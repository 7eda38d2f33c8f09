"""The loop that two searches share: a change for each copy, all tried at once; those that save no copy are dropped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from hotdesk.analysis.in_place.inplace import InPlaceAnalysis

CopyT = TypeVar("CopyT")
ChangeT = TypeVar("ChangeT")


def without_copies(
    first: InPlaceAnalysis,
    causes: Mapping[CopyT, ChangeT],
    analyse: Callable[[Mapping[CopyT, ChangeT]], InPlaceAnalysis],
    saving: Callable[[Mapping[CopyT, ChangeT], InPlaceAnalysis], Mapping[CopyT, ChangeT]],
    is_better: Callable[[Mapping[CopyT, ChangeT], InPlaceAnalysis], bool],
    attempts: int,
) -> InPlaceAnalysis:
    """The analysis with those changes that save copies, or the first one if that is not better, or found in too many attempts.

    Args:
        causes: copies that the first analysis makes, each with a change that may save it.
        analyse: the analysis with these changes.
        saving: those of the changes that did save their copies in an analysis.
        is_better: whether the analysis with these changes, which all save their copies, is to be taken.
    """
    for _ in range(attempts):
        if not causes:
            return first
        found = analyse(causes)
        kept = saving(causes, found)
        if kept == causes:
            return found if is_better(causes, found) else first
        causes = kept
    return first
