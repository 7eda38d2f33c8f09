"""Premises on trial: a function analysed again under those that a first analysis gives rise to, which stay if they are worth it.

Each kind of premises is a `PremiseTrial`, which proposes them for something: a copy that may be spared, a destination that may be
replaced. All are tried at once; those that are not worth it are dropped and the others tried again, until all that are left are,
or there were too many attempts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

from hotdesk.analysis.in_place.inplace import InPlaceAnalysis, Premises, analyse_again

SakeT = TypeVar("SakeT")
PremiseT = TypeVar("PremiseT")


class PremiseTrial(Protocol[SakeT, PremiseT]):
    """Premises of one kind.

    Attributes:
        proposed: the premises, by what each is for.
        attempts: how often the function is analysed again at the most.
    """

    proposed: Mapping[SakeT, PremiseT]
    attempts: int

    def premises(self, proposed: Mapping[SakeT, PremiseT]) -> Premises:
        """The premises of the first analysis, with these."""
        ...

    def worth_it(self, proposed: Mapping[SakeT, PremiseT], found: InPlaceAnalysis) -> Mapping[SakeT, PremiseT]:
        """Those that did in an analysis what they are for."""
        ...

    def is_better(self, proposed: Mapping[SakeT, PremiseT], found: InPlaceAnalysis) -> bool:
        """Whether the analysis under these premises, all of them worth it, is to be taken."""
        ...


def try_premises(
    first: InPlaceAnalysis,
    trial: PremiseTrial[SakeT, PremiseT],
    searched: Callable[[InPlaceAnalysis], InPlaceAnalysis] = lambda found: found,
) -> InPlaceAnalysis:
    """The analysis under those premises that are worth it, or the first one if that is not better.

    Args:
        searched: the best of what is tried on top of an analysis under such premises.
    """
    proposed = trial.proposed
    for _ in range(trial.attempts):
        if not proposed:
            return first
        found = searched(analyse_again(first, trial.premises(proposed)))
        kept = trial.worth_it(proposed, found)
        if kept == proposed:
            return found if trial.is_better(proposed, found) else first
        proposed = kept
    return first
