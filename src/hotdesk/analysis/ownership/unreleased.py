"""Why an owner finds no place to free its buffer: it is passed on, itself or behind a tensor or handle, and not followed."""

from __future__ import annotations

from hotdesk.analysis.memrefs.buffer_program import FUNCTION, BufferOp, BufferProgram
from hotdesk.errors import BufferizationError
from hotdesk.ir.locations import python_line
from hotdesk.ir.types import is_any_tensor, is_buffer


def not_released(program: BufferProgram, op: BufferOp, passed: bool) -> BufferizationError:
    """Why nothing can be freed behind an op that ends its block; `passed` is whether the buffer is one of its operands."""
    where = python_line(op.operation.location)
    if any(number == op.number for number, _ in program.passed_on):
        return hidden_refused(op)
    if op.regions and not passed:
        return BufferizationError(
            f"memory that is used in a region of `{op.name}`",
            expected="an op behind which it can be freed",
            got="one that ends its block",
            where=where,
            hint="load what the region needs in front of the op, or allocate the memory in the region or outside the loop",
        )
    return BufferizationError(
        f"memory that `{op.name}` passes on",
        expected="an op whose flow a model describes",
        got="an allocation whose owner cannot be told",
        where=where,
        hint="register a model with `flow` for the op around it: `hotdesk.models.register`",
    )


def hidden_refused(end: BufferOp) -> BufferizationError:
    """Why a tensor, a pointer or a handle cannot be passed on that leads to memory which is freed."""
    kinds = [value.type for value in end.operation.operands if not is_buffer(value.type)]
    if any(map(is_any_tensor, kinds)):
        what, source = (
            "a tensor",
            ", by `bufferization.to_tensor`: deallocation does not follow tensors to where they end",
        )
        hint = "bufferize the function first, signatures included: --hotdesk-one-shot-bufferize"
    else:
        what, source = "a pointer or handle", ": deallocation does not follow handles to where they end"
        hint = "pass the memref on and make the handle of it where it is used"
    return BufferizationError(
        f"{what} that `{end.name}` passes on ({', '.join(dict.fromkeys(map(str, kinds)))})",
        expected="one that leads to no memory which this function frees",
        got=f"the memory of an allocation{source}",
        where=python_line(end.operation.location),
        hint=hint,
    )


def leaves(program: BufferProgram, end: BufferOp, owner: int) -> bool:
    """Whether a terminator leads out of the block of an owner, or of one of those around."""
    block = program.blocks[end.block]
    return (
        bool(block.branches)
        or block.parent == FUNCTION
        or program.blocks[program.buffers[owner].block].first > block.parent
    )
