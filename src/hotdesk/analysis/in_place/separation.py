"""Values that must lie apart though no contents would be lost: with several destinations, in loops, and in parallel loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hotdesk.analysis.in_place.interference import Conflict, Interference
from hotdesk.analysis.in_place.locations import Locations
from hotdesk.analysis.in_place.occupants import Occupant, moved
from hotdesk.explain import Reason


class Separation:
    """Which places must not be joined, besides those that `interference` keeps apart.

    Args:
        occupants: those of each place, in the order of the text; read whenever a question is asked.
    """

    def __init__(self, interference: Interference, occupants: Mapping[int, Sequence[Occupant]]) -> None:
        self._interference = interference
        self._occupants = occupants
        self._at_once: dict[int, set[int]] = {}  # ops that fill several places at a time, this one among them
        self._coming: dict[int, set[int]] = {}  # when loops begin, or began, whose values lie in a place
        self._settled: set[int] = set()
        self._passed: dict[int, set[tuple[int, int]]] = {}  # when loops begin and end that pass a place on

    def occupy(self, place: int, occupant: Occupant) -> None:
        """Takes note of a new occupant of a place."""
        if occupant.passed or occupant.filled is not None:
            self._at_once.setdefault(place, set()).add(occupant.order // 2)

    def fills(self, place: int, op: int) -> bool:
        """Whether an op that fills several places at a time fills this one."""
        return op in self._at_once.get(place, ())

    def come_round(self, place: int, begin: int) -> None:
        """Says that what lies in a place comes round a loop that begins at `begin`, which is not settled yet."""
        self._coming.setdefault(place, set()).add(begin)

    def settle(self, begin: int) -> None:
        """Says that what comes round the loop that begins at `begin` is decided from now on."""
        self._settled.add(begin)

    def pass_on(self, place: int, begin: int, end: int) -> None:
        """Says that each iteration of a loop makes a place for itself and passes it on: nothing from outside may lie there."""
        self._passed.setdefault(place, set()).add((begin, end))

    def unite(self, a: int, b: int) -> None:
        """Says that place `a` is part of `b` now; its occupants are to be announced by `occupy`."""
        self._coming.setdefault(b, set()).update(self._coming.pop(a, ()))
        self._passed.setdefault(b, set()).update(self._passed.pop(a, ()))

    def spread(self, place: int, locations: Locations) -> None:
        """Says that what lies in a place lies in all of these now."""
        coming = self._coming.pop(place, set[int]())
        passed = self._passed.pop(place, set[tuple[int, int]]())
        for root, _ in locations:
            self._coming.setdefault(root, set()).update(coming)
            self._passed.setdefault(root, set()).update(passed)

    def _too_early(self, a: int, b: int) -> int | None:
        """The beginning of a loop that is not settled, with a value in one place, while the other one was in use before, or has
        another value of that loop, which comes round with it."""
        together = (self._coming.get(a, set[int]()) & self._coming.get(b, set[int]())) - self._settled
        if together and a != b:
            return min(together)
        for place, other in ((a, b), (b, a)):
            first = min((occupant.order for occupant in self._occupants[other][:1]), default=None)
            for begin in sorted(self._coming.get(place, set[int]()) - self._settled):
                if first is not None and first < begin:
                    return begin
        return None

    def _lives_on(self, a: int, b: int) -> int | None:
        """The beginning of a loop that passes on one place, while the other one is in use outside of it too."""
        for place, other in ((a, b), (b, a)):
            orders = [occupant.order for occupant in (*self._occupants[other][:1], *self._occupants[other][-1:])]
            for begin, end in sorted(self._passed.get(place, ())):
                if any(not begin < order < end for order in orders):
                    return begin
        return None

    def conflict(self, place: int, locations: Locations) -> Conflict | None:
        """Whether one op fills `place` and a location at a time, one of them comes round a loop and the other one was there
        before, or is passed on by a loop and the other one is used outside of that, or memory from outside a parallel loop is
        written."""
        filled = self._at_once.get(place, set[int]())
        both = next((op for root, _ in locations for op in sorted(filled & self._at_once.get(root, set()))), None)
        if both is not None:
            return Conflict(Reason.ALREADY_OVERWRITTEN, both)
        begin = next((begin for root, _ in locations if (begin := self._too_early(place, root)) is not None), None)
        if begin is None:
            begin = next((begin for root, _ in locations if (begin := self._lives_on(place, root)) is not None), None)
        if begin is not None:
            return Conflict(Reason.READ_LATER, begin // 2)
        raced = self._raced(place, locations)
        return None if raced is None else Conflict(Reason.RUNS_IN_PARALLEL, raced)

    def _raced(self, place: int, locations: Locations) -> int | None:
        """A parallel loop in which memory from outside would be written if what is in `place` came to lie at `locations`."""
        if not self._interference.has_parallel_loops:
            return None
        for root, extent in locations:
            there = [moved(occupant, extent) for occupant in self._occupants[place]]
            found = self._interference.race([*there, *self._occupants[root]])
            if found is not None:
                return found
        return None
