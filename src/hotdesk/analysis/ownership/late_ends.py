"""Deallocation behind ops that run on beside the program, where it is not certain where they are done.

1. At the end of its block, in front of the terminator, if something in that block may wait for the op.
2. Nowhere, if whoever it hands the memory over to gets the op's token too.

Else there is no place: the memory would be gone while the op may use it. The same holds in a block that branches.
"""

from __future__ import annotations

from collections.abc import Collection

from hotdesk.analysis.memrefs.asynchronous import Started, awaited_by
from hotdesk.analysis.memrefs.buffer_program import BufferProgram
from hotdesk.analysis.ownership.releases import Moves, ReleasePoint


class LateEnds:
    """The ends of blocks of one function."""

    def __init__(self, program: BufferProgram) -> None:
        self._program = program
        self._ends: dict[int, int] = {}

    def find(
        self, owner: int, ops: Collection[Started], moves: Moves, places: tuple[ReleasePoint, ...]
    ) -> tuple[ReleasePoint, ...] | int:
        """Where an owner frees what these ops use, or the number of one that may still run there; `places` are where it is used
        last otherwise."""
        block = self._program.blocks[self._program.buffers[owner].block]
        for op in sorted(ops):
            transferred = bool(moves) and not places and op.passed_by.issuperset(moves)
            ends = not moves and not block.branches and awaited_by(self._program, op, block.number)
            if not (transferred or ends):
                return op.op
        return places if moves else (ReleasePoint(after=self._end(block.number)),)

    def _end(self, block: int) -> int:
        """The last op of a block but its terminator."""
        if block not in self._ends:
            record = self._program.blocks[block]
            number = found = record.first
            while number < record.last:
                found, number = number, self._program.ops[number].end
            self._ends[block] = found
        return self._ends[block]
