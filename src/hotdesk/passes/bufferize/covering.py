"""What memory the results of a function have, once it is rewritten: an argument's, an allocation, or a part of something."""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.analysis.in_place.places import Places
from hotdesk.analysis.tensors.program import FunctionRecord
from hotdesk.explain import Reason
from hotdesk.ir.functions import callee_name
from hotdesk.ir.walking import defining_op, entry_block, is_declaration, symbol_name
from hotdesk.passes.bufferize.memory import Memory
from hotdesk.passes.bufferize.viewing import SAME_BUFFER

_NO_ALLOCATION = {
    "memref.subview": Reason.PARTIAL_VIEW_RETURNED,
    "memref.reinterpret_cast": Reason.RETURNED_TWICE,
    "memref.get_global": Reason.NOT_WRITABLE_CONSTANT,
}


class Covering:
    """Answers what is behind a tensor that a function returns, by its number."""

    def __init__(self, function: ir.Operation, record: FunctionRecord, places: Places, memory: Memory) -> None:
        self._function = function
        self._record = record
        self._places = places
        self._memory = memory
        self._defined: frozenset[str] | None = None

    def is_written(self, value: int) -> bool:
        """Whether anything is written into the memory that a value lies in."""
        return self._places.is_written(value)

    def is_in_one(self, value: int) -> bool:
        """Whether all that lies with a value is in one buffer, as the function is rewritten."""
        place = self._places.place_of(value)
        return place is None or self._memory.is_one(place)

    def allocation(
        self, value: int, buffer: ir.Value, taken: set[ir.Value], *, of_calls: bool = False
    ) -> tuple[ir.Value | None, Reason]:
        """The allocation that a value, seen as `buffer`, covers entirely and that is not taken, or why there is none.

        With `of_calls` what another function of the module returned is one: it is new, and the caller's.
        """
        buffer = self._memory.allocated(self._places.place_of(value)) or buffer
        op = None if buffer in taken else defining_op(buffer)
        while op is not None and op.name in SAME_BUFFER:
            buffer = op.operands[0]
            op = None if buffer in taken else defining_op(buffer)
        if buffer in taken:
            return None, Reason.RETURNED_TWICE
        if op is None:
            given = buffer.owner == entry_block(self._function)
            return None, Reason.RETURNED_INPUT if given else Reason.RETURNED_VIEW
        if of_calls and op.name == "func.call" and self._is_defined(op):
            return buffer, Reason.RESULT_SLOT
        if op.name in _NO_ALLOCATION:
            return None, _NO_ALLOCATION[op.name]
        if op.name != "memref.alloc" or not self._runs_once(op.block):
            return None, Reason.RETURNED_VIEW
        return buffer, Reason.RESULT_SLOT

    def _is_defined(self, call: ir.Operation) -> bool:
        """Whether a call is one of a function with a body."""
        if self._defined is None:
            beside = [view.operation for view in self._function.block.operations]
            functions = [op for op in beside if op.name == "func.func" and not is_declaration(op)]
            self._defined = frozenset(map(symbol_name, functions))
        return callee_name(call) in self._defined

    def _runs_once(self, block: ir.Block) -> bool:
        """Whether a block is the function's own, and none that control comes back to."""
        if block.region != self._function.regions[0]:
            return False
        seen: set[ir.Block] = set()
        waiting = list(block.successors)
        while waiting:
            each = waiting.pop()
            if each == block:
                return False
            if each not in seen:
                seen.add(each)
                waiting.extend(each.successors)
        return True
