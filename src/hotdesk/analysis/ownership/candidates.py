"""Which owners the memory of each memref may belong to.

The *candidates* of a memref are the owners that may have to free its memory, and `EXTERNAL` if that may be nobody: arguments,
globals and the stack belong to somebody else. They are those of a view's operand, of both operands of a choice, of all that an
unknown op has, and of whatever control passes on without a transfer of ownership.
"""

from __future__ import annotations

from collections.abc import Collection

from hotdesk.analysis.memrefs.buffer_program import NOT_A_BUFFER, BufferProgram, BufferValue, Kind
from hotdesk.analysis.memrefs.unknown_memory import UnknownMemory
from hotdesk.analysis.ownership.slots import Key, OwnershipSlots
from hotdesk.models.func import CALLS
from hotdesk.program.dataflow import least_solution

EXTERNAL = -1
_NOBODY = frozenset[int]()
ONLY_EXTERNAL = frozenset({EXTERNAL})


class OwnerCandidates:
    """Finds the candidates of a function's memrefs; `lent` are results of calls that come with a flag."""

    def __init__(self, program: BufferProgram, slots: OwnershipSlots, lent: frozenset[int]) -> None:
        self._program, self._slots, self._lent = program, slots, lent
        self.unknown = UnknownMemory(program)
        self._made = [self._own(buffer) for buffer in program.buffers]
        self._targets: dict[int, list[tuple[int, Key | None]]] = {}
        for buffer in program.buffers:
            if buffer.sources or buffer.kind is Kind.UNKNOWN:
                for source in self._shown(buffer.number):
                    self._targets.setdefault(source, []).append((buffer.number, None))
        for key, passings in slots.passings.items():
            for passing in passings:
                self._targets.setdefault(passing.source, []).append((passing.target, key))

    def _own(self, buffer: BufferValue) -> frozenset[int]:
        """The candidates that a memref has by its op."""
        is_lent = buffer.number in self._lent
        if buffer.kind is Kind.ALLOCATION or self._is_called(buffer.number):
            return frozenset({buffer.number, EXTERNAL} if is_lent else {buffer.number})
        return _NOBODY if buffer.kind.is_derived and not is_lent else ONLY_EXTERNAL

    def owns_itself(self, buffer: int) -> bool:
        """Whether a memref is an owner by its op: an allocation, or a call's result."""
        return buffer in self._made[buffer]

    def find(
        self, owning: Collection[int], kept: Collection[tuple[Key, int]], claims: Collection[tuple[Key, Key]]
    ) -> list[frozenset[int]]:
        """The candidates of each memref, by number.

        `owning` are the slots that own, by number; `kept` what is not transferred although its slot owns; `claims` operands that
        another one of the same op outlives.
        """
        found = list(self._made)
        for slot in self._slots.slots:
            if slot.number in owning:
                for target in slot.targets:
                    own = frozenset({target})
                    found[target] = own | (found[target] - {EXTERNAL} if target not in self._lent else found[target])
        for key, first in claims:
            self._outlive(key, first, found)
        taken = {key for key, slot in self._slots.of_key.items() if slot.number in owning}

        def join(given: frozenset[int], before: frozenset[int], key: Key | None) -> frozenset[int] | None:
            if key is not None and key in taken:
                if EXTERNAL not in given and not kept:
                    return None
                after = before.union(c for c in given if c == EXTERNAL or (key, c) in kept)
            else:
                after = before | given if before else given  # one set for all that show the same
            return after if len(after) > len(before) else None

        return least_solution(found, self._targets, join)

    def _outlive(self, key: Key, first: Key, found: list[frozenset[int]]) -> None:
        """What `key` passes on may be the memory of what the operand `first` of the same op becomes."""
        buffers = self._program.buffers
        for passing in self._slots.passings.get(key, ()):
            for other in self._slots.passings.get(first, ()):
                if passing.edge == other.edge and buffers[passing.target].block == buffers[other.target].block:
                    found[passing.target] |= {other.target}

    def _is_called(self, buffer: int) -> bool:
        """Whether a memref is a call's result, which the caller owns."""
        producer = self._program.buffers[buffer].producer
        return producer >= 0 and self._program.ops[producer].name in CALLS

    def _shown(self, buffer: int) -> tuple[int, ...]:
        """The memrefs whose memory a memref may be by its op: a view's, a choice's, all that an unknown op has or passes on."""
        record = self._program.buffers[buffer]
        shown = record.sources
        if record.kind is Kind.UNKNOWN:
            is_new = self._is_called(buffer) and buffer not in self._lent
            shown = () if is_new else dict.fromkeys(value for _, value in self.unknown.passed_on(record))
        return tuple(source for source in shown if source != NOT_A_BUFFER)
