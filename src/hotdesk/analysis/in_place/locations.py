"""Where values lie, as a union-find of places: which were joined, and which lie spread over several others.

Places that were joined are one. A place may also be *spread*: what lies there is in several others, or in a part of one.
"""

from __future__ import annotations

from hotdesk.analysis.tensors.extents import WHOLE, Extent, within
from hotdesk.graphs import DisjointSets

Location = tuple[int, Extent]
Locations = tuple[Location, ...]


class JoinedPlaces(DisjointSets):
    """Places by number, of which those that are joined are one place."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self._links: dict[int, Locations] = {}

    def resolved(self, place: int, extent: Extent) -> Locations:
        """Where the part `extent` of a place lies."""
        root = self.find(place)
        if root not in self._links:
            return ((root, extent),)
        found: dict[Location, None] = {}
        for target, outer in self._links[root]:
            found.update(dict.fromkeys(self.resolved(target, within(outer, extent))))
        return tuple(found)

    def add(self) -> int:
        """One more place, by itself."""
        self._parent.append(len(self._parent))
        return self._parent[-1]

    def spread(self, place: int, locations: Locations) -> None:
        """Says that what lies in a place lies in all of these."""
        self._links[place] = locations


def only(locations: Locations) -> int | None:
    """The one place of these locations, if they take it entirely."""
    if len(locations) != 1:
        return None
    ((place, extent),) = locations
    return place if extent is WHOLE else None
