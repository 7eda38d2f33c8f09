"""A choice between buffers is made when both of them have been used, so that the other one can be freed there.

    %s = arith.select %p, %a, %b; use %b; return %s      ->      use %b; %s = arith.select %p, %a, %b; return %s

legal always, as long as it stays in front of what uses it: it touches no memory. It goes behind the last use of its operands,
no further, so nothing is kept alive for it.
"""

from __future__ import annotations

from hotdesk.analysis.memrefs.buffer_program import BufferOp, BufferProgram
from hotdesk.analysis.ownership.candidates import EXTERNAL
from hotdesk.analysis.ownership.owners import Ownership
from hotdesk.program.op_ranges import between


def put_off(program: BufferProgram, ownership: Ownership, choice: BufferOp) -> None:
    """Moves a choice down in its block, behind the uses of the memory of its operands in front of its own first use."""
    (result,) = choice.results
    tops = (_top_in(program, user, choice.block) for user in program.users[result])
    first = min((top for top in tops if top is not None), default=program.blocks[choice.block].last)
    owners = ownership.candidates[result] - {EXTERNAL}
    used = [op for owner in owners for op in between(ownership.uses.get(owner, ()), choice.end, first)]
    if used and (last := _top_in(program, max(used), choice.block)) is not None:
        choice.operation.move_after(program.ops[last].operation)


def _top_in(program: BufferProgram, op: int, block: int) -> int | None:
    """The op of a block that an op is, or is in; None if it is in none."""
    while op >= 0:
        if program.ops[op].block == block:
            return op
        op = program.blocks[program.ops[op].block].parent
    return None
