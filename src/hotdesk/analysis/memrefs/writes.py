"""What the ops of a function on memrefs may write: by number, all that a memref may be (`origins`).

An op writes what its effects say; of one whose effects are not known, all memrefs that it is given. A linalg op writes its
outputs, and what the ops of its payload write. What passes control on, with memrefs or without, writes nothing itself, and what
frees memory writes none that is read later.
"""

from __future__ import annotations

from collections.abc import Iterator

from hotdesk.analysis.memrefs.buffer_program import BufferOp, BufferProgram
from hotdesk.analysis.memrefs.origins import Origins
from hotdesk.models.memory_effects import may_write
from hotdesk.models.new_memory import DEALLOC


def written_by(program: BufferProgram, op: BufferOp) -> frozenset[int]:
    """The memrefs that an op may write, of those that it or its payload is given."""
    if program.leads_on(op) or op.control or op.name == DEALLOC:
        return frozenset()
    return frozenset(program.numbers[value] for value in may_write(op.operation) if value in program.numbers)


def writes_of(program: BufferProgram, origins: Origins) -> Iterator[tuple[BufferOp, frozenset[int]]]:
    """The ops that may write, in order, each with what this may be."""
    for op in program.ops:
        written = written_by(program, op)
        if written:
            yield op, frozenset().union(*(origins.of[number] for number in written))
