"""Unknown ops: which memory the memrefs may show that such an op makes or passes on.

1. A result of an op may be what the op has as operands, and what the terminators of its regions have, or those of theirs.
2. The same holds of the arguments of its regions. An op that itself ends a region of an unknown op, such as `scf.reduce`, may
   have its regions run on what that one has as well.
3. An argument of a block that an op without a model branches to may be any operand of whatever branches there.
4. Pointers and handles among the operands lead to memory too (`analysis.memrefs.buffer_reading`).
"""

from __future__ import annotations

from collections.abc import Iterator

from hotdesk.analysis.memrefs.buffer_program import FUNCTION, NOT_A_BUFFER, BufferOp, BufferProgram, BufferValue, Kind


class UnknownMemory:
    """Answers for the memrefs of one function that are of kind `UNKNOWN`."""

    def __init__(self, program: BufferProgram) -> None:
        self._program = program
        self.all = tuple(buffer for buffer in program.buffers if buffer.kind is Kind.UNKNOWN)
        entered = {buffer.block for buffer in self.all if buffer.producer < 0}
        self._branching: dict[int, list[int]] = {}
        for block in program.blocks if entered else ():
            for successor, _ in block.branches:
                if successor in entered:
                    self._branching.setdefault(successor, []).append(block.last)

    def passed_on(self, buffer: BufferValue) -> Iterator[tuple[int, int]]:
        """The memrefs that one may show, each with the number of the op that has it as an operand."""
        ops, block = self._program.ops, self._program.blocks[buffer.block]
        if buffer.producer >= 0:
            yield from ((buffer.producer, source) for source in buffer.sources)
            yield from self._known_by(ops[buffer.producer])
            return
        for branch in self._branching.get(buffer.block, ()):
            yield from ((branch, source) for source in (*buffer.sources, *_operands(ops[branch])))
        parent = block.parent
        if parent != FUNCTION and ops[parent].regions[block.region][0] == buffer.block:
            yield from self._known_by(ops[parent])
            while self._ends_unknown(ops[parent]):
                parent = self._program.blocks[ops[parent].block].parent
                yield from ((parent, value) for value in _operands(ops[parent]))

    def _known_by(self, op: BufferOp) -> Iterator[tuple[int, int]]:
        """What an op has, and what its regions hand out: what the ops have that end them, in regions of their own too."""
        yield from ((op.number, value) for value in _operands(op))
        for region in range(len(op.regions)):
            for end in self._program.terminators(op, region):
                yield from self._known_by(end)

    def _ends_unknown(self, op: BufferOp) -> bool:
        """Whether an op ends a region of one of which nothing is known."""
        block = self._program.blocks[op.block]
        around = block.parent
        return block.last == op.number and around != FUNCTION and not self._program.ops[around].control


def _operands(op: BufferOp) -> list[int]:
    return [value for value in op.operands if value != NOT_A_BUFFER]
