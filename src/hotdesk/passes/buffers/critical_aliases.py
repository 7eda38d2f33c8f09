"""Deallocation by copies: whatever may be one buffer or another gets memory of its own on every way.

    cf.br ^join(%a : memref<8xf32>)      ->      %c = memref.alloc(); memref.copy %a, %c; cf.br ^join(%c : memref<8xf32>)

A block argument or result is a *critical alias* if a buffer is passed to it that its owner does not dominate, or the arguments
and results that get theirs from the same operands have such a one (`analysis.ownership.handovers`). Being a buffer of its own, it
may make others critical where it is passed on: repeated until there are no more. All operands that become critical aliases are
copied.

What is returned, and may be memory of somebody else or one of several buffers, is copied as well.

A copy does not see what is written to the original later, nor the other way round: use it where buffers are written once.
"""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.buffer_program import BufferProgram
from hotdesk.analysis.memrefs.buffer_reading import read_buffers
from hotdesk.analysis.ownership.handovers import Handovers
from hotdesk.analysis.ownership.owners import Handover, Ownership
from hotdesk.analysis.ownership.problem import Problem
from hotdesk.errors import BufferizationError
from hotdesk.ir.building import alloc, create, dynamic_dims
from hotdesk.ir.locations import python_line
from hotdesk.ir.types import is_memref, memref_of
from hotdesk.ir.walking import defining_op


def copy_critical_aliases(function: ir.Operation) -> None:
    """Copies what becomes a critical alias, in front of the op that passes it on."""
    program = read_buffers(function)
    for handover in Ownership(Problem(program, Handovers(program))).handovers.values():
        if handover.slot.returned < 0:
            op, operand = handover.key
            passing = program.ops[op].operation
            passing.operands[operand] = copy_of(passing.operands[operand], passing)


def copy_open_results(program: BufferProgram, ownership: Ownership) -> list[Handover]:
    """Copies what is returned wherever it is not certain what the function owns of it; what was copied."""
    found = [
        h for h in ownership.handovers.values() if h.slot.returned >= 0 and (not h.certain or len(h.candidates) > 1)
    ]
    for handover in found:
        number, operand = handover.key
        end = program.ops[number].operation
        end.operands[operand] = copy_of(end.operands[operand], end)
    return found


def copy_of(value: ir.Value, before: ir.Operation) -> ir.Value:
    """New memory with the contents of a memref, as the same type; what is cast to a memref without a rank is copied with it.

    Raises:
        BufferizationError: the rank of the memref is not known.
    """
    if not is_memref(value.type):
        cast = defining_op(value)
        if cast is not None and cast.name == "memref.cast" and is_memref(cast.operands[0].type):
            return create("memref.cast", [copy_of(cast.operands[0], before)], [value.type], before=before).results[0]
        raise BufferizationError(
            f"memory that `{before.name}` passes on",
            expected="memory that this function owns, or a memref with a rank, which can be copied",
            got=f"somebody else's in a {value.type}, on some way at least",
            where=python_line(before.location) or None,
            hint="give it a rank by memref.cast and pass that on, or do not pass it on; a private function may return what it "
            "does not own with private-function-dynamic-ownership=true",
        )
    plain = memref_of(value.type)
    new = alloc(plain, dynamic_dims(value, before), before)
    create("memref.copy", [value, new], [], before=before)
    return new if plain == value.type else create("memref.cast", [new], [value.type], before=before).results[0]
