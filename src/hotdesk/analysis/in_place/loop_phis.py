"""The phis of a loop: what loops over regions (`region_loops`) and loops of blocks (`block_loops`) decide alike.

Each argument gets what enters the loop at first, and what comes back later. What enters is copied in front of the loop where
something would be lost. If arguments swap buffers, or get new ones, whoever writes to any memory that an argument's may become
writes to what entered: so that is copied when somebody still wants it, or when it enters as another argument too. If nobody
writes to any of that memory, it is lent: it enters as it is, and is not written any more.
"""

from __future__ import annotations

from collections.abc import Sequence

from hotdesk.analysis.in_place.interference import Conflict
from hotdesk.analysis.in_place.places import Places
from hotdesk.analysis.tensors.program import TensorProgram
from hotdesk.explain import Reason
from hotdesk.program.records import FlowEdge


class LoopPhis:
    """Decides what is copied on the edges into a loop and back to its beginning.

    Args:
        entering, back: these edges.

    Attributes:
        copies: why what an edge passes on is copied; None if it is passed on as it lies.
    """

    def __init__(
        self, function: TensorProgram, places: Places, entering: Sequence[FlowEdge], back: Sequence[FlowEdge]
    ) -> None:
        self._function = function
        self._places = places
        self._entering = entering
        self._back = back
        self._givers = frozenset[int]()
        self.copies: dict[FlowEdge, Conflict | None] = {}

    def _copied(self, edges: Sequence[FlowEdge]) -> list[FlowEdge]:
        """Those of these edges on which something is copied, by now."""
        return [edge for edge in edges if self.copies.get(edge) is not None]

    def _changes_size(self, edge: FlowEdge) -> bool:
        """Whether what an edge passes on has not the sizes of the argument that it becomes."""
        return self._function.values[edge.source].shape != self._function.values[edge.target].shape

    def _find_givers(self) -> None:
        """Finds the arguments that give their memory to others, before anything enters the loop."""
        self._givers = frozenset(edge.target for edge in self._entering if self._places.swaps.gives(edge.target))

    def _why_not_entered(self, edge: FlowEdge) -> Conflict | None:
        """Why what enters cannot lie where the argument lies."""
        return self._places.may_join(edge.source, edge.target) or self._why_not_swapped(edge)

    def _why_not_swapped(self, edge: FlowEdge) -> Conflict | None:
        """Why the memory of what enters must not become another argument's: somebody still wants it as it is.

        That may be another argument that has entered with the same memory, unless it only becomes that of such ones.
        """
        places, block = self._places, self._function.values[edge.target].block
        place = places.place_of(edge.source)
        sharing = {a for each, _ in places.locations(edge.source) for a in places.arguments_in(each, block)}
        sharing.add(edge.target)
        if len(sharing) > 1:
            led = {value for argument in sharing & self._givers for value in places.swaps.led_to(argument)}
            together = (place, places.place_of(edge.target))
            if led and (place is None or any(places.place_of(value) not in together for value in led)):
                return Conflict(Reason.ALREADY_OVERWRITTEN, edge.op)
        if edge.target not in self._givers:
            return None
        if place is None:
            return Conflict(Reason.PARTIAL_VIEW)
        return places.wanted(edge.source, self._function.ops[edge.op])

    def _lend(self) -> None:
        """Lets what would be copied in front of the loop enter as it is where nobody writes to what its memory may become."""
        lent = [edge for edge in self._copied(self._entering) if self._is_lent(edge)]
        for edge in lent:
            self.copies[edge] = None
            for value in (edge.target, *self._places.swaps.led_to(edge.target)):
                self._places.read_only.setdefault(self._places.find(value), Reason.READ_LATER)

    def _is_lent(self, edge: FlowEdge) -> bool:
        places = self._places
        led = places.swaps.led_to(edge.target)
        if not led or places.place_of(edge.source) is None:
            return False
        if any(map(places.is_written, (edge.source, edge.target, *led))):
            return False
        if places.may_join(edge.source, edge.target) is not None:
            return False
        places.join(edge.source, edge.target)
        return True
