"""The deallocations that a function had before: they are dropped, since each buffer is freed where its live range ends.

scf.if %p { memref.dealloc %a }      ->      nothing
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.buffer_program import NOT_A_BUFFER, BufferOp, BufferProgram, Kind
from hotdesk.analysis.ownership.candidates import EXTERNAL
from hotdesk.analysis.ownership.owners import Ownership
from hotdesk.errors import BufferizationError
from hotdesk.ir.locations import python_line
from hotdesk.passes.buffers.freeing import erase_free, is_erasable


def is_dropped(program: BufferProgram, op: BufferOp, ownership: Ownership) -> bool:
    """Whether an op frees memory that this function or its caller frees anyway.

    Raises:
        BufferizationError: it does, and cannot be dropped: others use what it makes.
    """
    freed = ownership.freed(op)
    values = [op.operands[i] for i in sorted(freed) if op.operands[i] != NOT_A_BUFFER] if freed else []
    if not values or not all(_is_known(program, value, ownership) for value in values):
        return False
    if is_erasable(op.operation):
        return True
    raise BufferizationError(
        f"deallocation by `{op.name}`",
        expected="an op that does nothing else, which is dropped, since the pass puts deallocations where they belong",
        got=f"{len(op.results)} results",
        where=python_line(op.operation.location),
        hint="free by an op without results, or leave it out",
    )


def _is_known(program: BufferProgram, value: int, ownership: Ownership) -> bool:
    return bool(ownership.candidates[value] - {EXTERNAL}) or program.buffers[value].kind is not Kind.UNKNOWN


def drop_unused_frees(program: BufferProgram, unused: Collection[int], dropped: dict[int, ir.Operation]) -> None:
    """Drops what frees allocations that are to be erased."""
    for number in list(dropped):
        if any(value >= 0 and program.root(value) in unused for value in program.ops[number].operands):
            drop_free(dropped.pop(number))


def drop_free(op: ir.Operation) -> None:
    """Erases an op, and a condition around it that has nothing else."""
    around = cast(Any, op.parent).operation
    erase_free(op)
    if around.name == "scf.if" and not len(around.results):
        rest = [list(block.operations) for region in around.regions for block in region.blocks]
        if all(len(ops) == 1 for ops in rest):
            around.erase()
