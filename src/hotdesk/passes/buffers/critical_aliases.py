"""Deallocation by copies: whatever may be one buffer or another gets memory of its own on every way.

    cf.br ^join(%a : memref<8xf32>)      ->      %c = memref.alloc(); memref.copy %a, %c; cf.br ^join(%c : memref<8xf32>)

A block argument or result is a *critical alias* if a buffer is passed to it that its owner does not dominate, or the arguments
and results that get theirs from the same operands have such a one (`analysis.ownership.slots`). Being a buffer of its own, it
may make others critical where it is passed on: repeated until there are no more. All operands that become critical aliases are
copied.

What is returned, and may be memory of somebody else or one of several buffers, is copied as well.

A copy does not see what is written to the original later, nor the other way round: use it where buffers are written once.
"""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.buffer_program import BufferProgram
from hotdesk.analysis.memrefs.buffer_reading import read_buffers
from hotdesk.analysis.ownership.owners import Ownership, OwnershipTransfer
from hotdesk.analysis.ownership.problem import OwnershipProblem
from hotdesk.analysis.ownership.slots import OwnershipSlots
from hotdesk.passes.buffers.new_copies import copy_of


def copy_critical_aliases(function: ir.Operation) -> None:
    """Copies what becomes a critical alias, in front of the op that passes it on."""
    program = read_buffers(function)
    for transfer in Ownership(OwnershipProblem(program, OwnershipSlots(program))).transfers.values():
        if transfer.slot.returned < 0:
            op, operand = transfer.key
            passing = program.ops[op].operation
            passing.operands[operand] = copy_of(passing.operands[operand], passing)


def copy_open_results(program: BufferProgram, ownership: Ownership) -> list[OwnershipTransfer]:
    """Copies what is returned wherever it is not certain what the function owns of it; what was copied."""
    found = [
        h for h in ownership.transfers.values() if h.slot.returned >= 0 and (not h.certain or len(h.candidates) > 1)
    ]
    for transfer in found:
        number, operand = transfer.key
        end = program.ops[number].operation
        end.operands[operand] = copy_of(end.operands[operand], end)
    return found
