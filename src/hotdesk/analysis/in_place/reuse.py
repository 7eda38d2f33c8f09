"""Destinations without contents that several results name: each is written into that memory, one after the other.

    %e = tensor.empty()
    %a = f(%x) outs(%e)
    %b = g(%a) outs(%e)        one buffer, if g reads %a element by element or nobody wants %a any more

Each of them has a place of its own until everything else is decided, so that none of them is in the way of anything that would
save a copy. Then each joins the first of the others of its destination with which nothing is lost. The destination itself
counts as one of them if memory is made for it anyway, because somebody uses it as it is, or if the result is made in a loop
behind it: one buffer serves all iterations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hotdesk.analysis.in_place.places import Places
from hotdesk.analysis.tensors.extents import WHOLE
from hotdesk.analysis.tensors.program import OpRecord, TensorProgram
from hotdesk.analysis.tensors.readers import Readers

_TRIED = 4
"""How many buffers of one destination are compared with a result at the most."""


@dataclass(slots=True)
class _Destination:
    """A destination without contents: a value for each buffer that it has become, and those that a result is written into."""

    buffers: list[int] = field(default_factory=list[int])
    written: set[int] = field(default_factory=set[int])


class SharedDestinations:
    """The destinations of a function that several results share."""

    def __init__(self, function: TensorProgram, places: Places, readers: Readers) -> None:
        self._function = function
        self._places = places
        self._readers = readers
        self._destinations: dict[int, _Destination] = {}

    def share(self, ties: Sequence[tuple[OpRecord, int, int]]) -> frozenset[tuple[int, int]]:
        """Lets results share buffers; the (op, operand) of those that are written into one that is there already.

        `ties` are ops that write a result into a destination without contents, each with its operand and result, in order.
        """
        found: set[tuple[int, int]] = set()
        for op, operand, result in ties:
            value, made = op.operands[operand], op.results[result]
            if self._readers.extent[value] is WHOLE and self._join(value, made, op):
                found.add((op.number, operand))
        return frozenset(found)

    def _join(self, value: int, made: int, op: OpRecord) -> bool:
        """Whether `made`, which `op` writes into `value`, lies in a buffer now into which another result is written."""
        if not self._is_free(made):
            return False
        group = self._readers.root[value]
        known = self._destinations.setdefault(group, _Destination())
        if not known.buffers and self._readers.reads.get(group) and self._is_free(group):
            known.buffers.append(group)
        candidates = list(known.buffers[-_TRIED:])
        if group not in candidates and self._is_in_loop(group, op) and self._is_free(group):
            candidates.append(group)
        for other in candidates:
            together = self._places.place_of(other) == self._places.place_of(made)
            if together or (self._is_free(other) and self._places.may_meet(made, other)):
                self._places.join(other, made)
                before = other in known.written
                known.written.add(other)
                return before
        known.buffers.append(made)
        known.written.add(made)
        return False

    def _is_free(self, value: int) -> bool:
        """Whether the memory of a value is made for what lies there alone, and stays the same."""
        place = self._places.place_of(value)
        if place is None or place in self._places.read_only or self._places.is_given(place):
            return False
        return self._places.stay(place)

    def _is_in_loop(self, group: int, op: OpRecord) -> bool:
        """Whether an op runs several times for one time that a group is made."""
        home = self._function.values[group].block
        block = op.block
        while block != home:
            parent = self._function.blocks[block].parent
            if parent < 0:
                return False
            flow = self._function.ops[parent].flow
            if flow is not None and flow.follows and not flow.parallel:
                return True
            block = self._function.ops[parent].block
        return False
