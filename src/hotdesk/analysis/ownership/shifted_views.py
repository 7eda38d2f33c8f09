"""Which memrefs may begin elsewhere than the buffer that they show: those that a `memref.view` with a shift has moved.

The address of such a memref does not tell which buffer it is of. So it is with views of it, with choices, with what control
passes on, and with whatever comes from an op of which nothing is known. Two kinds are excepted:

- A memref that owns all that it may be begins where its buffer does, by definition: others are compared with it.
- A view with elements of memory that nobody here owns begins at none of the buffers that are owned.
"""

from __future__ import annotations

from collections.abc import Iterable

from hotdesk.analysis.memrefs.buffer_program import BufferOp, BufferProgram, Kind
from hotdesk.analysis.ownership.candidates import EXTERNAL
from hotdesk.analysis.ownership.owners import Ownership
from hotdesk.graphs import reached
from hotdesk.ir.types import shape_of
from hotdesk.ir.walking import constant_of


def shifting(program: BufferProgram, ownership: Ownership) -> tuple[BufferOp, ...]:
    """The views of owned memory, or of what may have no elements, with a shift or with one that is not known."""
    return tuple(op for op in program.ops if op.name == "memref.view" and _shifts(op, ownership))


def shifted(program: BufferProgram, ownership: Ownership) -> frozenset[int]:
    """The memrefs, by number, of which the address does not tell whose memory they are."""
    first = [op.results[0] for op in shifting(program, ownership)]
    if not first:
        return frozenset()
    owners = {number for number, each in enumerate(ownership.candidates) if each == frozenset({number})}
    targets: dict[int, list[int]] = {}
    for buffer in program.buffers:
        if buffer.kind is Kind.UNKNOWN:
            first.append(buffer.number)
        for source in buffer.sources:
            targets.setdefault(source, []).append(buffer.number)
    for passing in program.flows:
        targets.setdefault(passing.source, []).append(passing.target)

    def following(memref: int) -> Iterable[int]:
        return (target for target in targets.get(memref, ()) if target not in owners)

    return frozenset(reached((memref for memref in first if memref not in owners), following))


def _shifts(view: BufferOp, ownership: Ownership) -> bool:
    if constant_of(view.operation.operands[1]) == 0:
        return False
    has_elements = all(shape_of(view.operation.results[0].type))  # an open size is None
    return not (has_elements and ownership.candidates[view.operands[0]] == frozenset({EXTERNAL}))
