"""The memory that the results of a rewritten function lie in: an argument's, an allocation, a callee's, or a part of one."""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.analysis.in_place.places import Places
from hotdesk.analysis.tensors.program import TensorProgram
from hotdesk.explain import Reason
from hotdesk.graphs import reached
from hotdesk.ir.walking import defining_op, entry_block, made_by
from hotdesk.models.func import CALL
from hotdesk.models.memref import SUBVIEW, all_of
from hotdesk.models.new_memory import ALLOC, GLOBAL
from hotdesk.passes.bufferize.memory import PlaceMemory
from hotdesk.program.joins import sources_of

_MAKING = (ALLOC, CALL)
_NO_ALLOCATION = {
    SUBVIEW: Reason.PARTIAL_VIEW_RETURNED,
    "memref.reinterpret_cast": Reason.RETURNED_TWICE,
    GLOBAL: Reason.NOT_WRITABLE_CONSTANT,
}


class ResultMemory:
    """Answers what is behind a tensor that a function returns, by its number."""

    def __init__(self, record: TensorProgram, places: Places, memory: PlaceMemory) -> None:
        self._function = record.function
        self._record = record
        self._places = places
        self._memory = memory

    def is_written(self, value: int) -> bool:
        """Whether anything is written into the memory that a value lies in."""
        return self._places.is_written(value)

    def is_in_one(self, value: int) -> bool:
        """Whether all that lies with a value is in one buffer, as the function is rewritten."""
        place = self._places.place_of(value)
        return place is None or self._memory.is_one(place)

    def allocation(self, value: int, buffer: ir.Value, taken: set[ir.Value]) -> tuple[ir.Value | None, Reason]:
        """The allocation that a value, seen as `buffer`, covers entirely and that is not taken, or why there is none."""
        buffer = all_of(self._memory.allocated(self._places.place_of(value)) or buffer, taken)
        if buffer in taken:
            return None, Reason.RETURNED_TWICE
        op = defining_op(buffer)
        if op is None:
            if buffer.owner != entry_block(self._function):
                return None, Reason.RETURNED_VIEW
            is_weight = self._places.why_read_only(value) is Reason.NOT_WRITABLE_WEIGHT
            return None, Reason.RETURNED_WEIGHT if is_weight else Reason.RETURNED_INPUT
        if op.name in _NO_ALLOCATION:
            return None, _NO_ALLOCATION[op.name]
        if op.name != ALLOC or not self._runs_once(op.block):
            return None, Reason.RETURNED_VIEW
        return buffer, Reason.RESULT_SLOT

    def made(self, value: int, buffer: ir.Value, taken: set[ir.Value]) -> frozenset[ir.Value] | None:
        """The memory that a value, seen as `buffer`, has on each path, if all of that was made in the function for it alone.

        That is what is allocated, and what a call returns; None if any of it is something else, or taken. Once control flow on
        tensors is gone.
        """
        if any(
            place in self._places.read_only or self._places.is_given(place)
            for place, _ in self._places.locations(value)
        ):
            return None

        def sources(each: ir.Value) -> list[ir.Value]:
            return [all_of(source, taken) for source in sources_of(each).get(each, ())]

        found = frozenset(each for each in reached([all_of(buffer, taken)], sources) if not sources(each))
        return None if any(each in taken or made_by(each, *_MAKING) is None for each in found) else found

    def _runs_once(self, block: ir.Block) -> bool:
        """Whether a block is the function's own, and none that control comes back to."""
        if block.region != self._function.regions[0]:
            return False
        return block not in reached(block.successors, lambda each: each.successors)


def is_called(buffer: ir.Value) -> bool:
    """Whether a memref is what a call returned."""
    return made_by(buffer, CALL) is not None
