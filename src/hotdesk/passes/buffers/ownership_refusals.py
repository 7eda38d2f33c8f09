"""What deallocation refuses, and says so: memory of which it cannot be told who owns it, or how long it is in use."""

from __future__ import annotations

from hotdesk.analysis.memrefs.buffer_program import BufferProgram
from hotdesk.analysis.ownership.candidates import EXTERNAL
from hotdesk.analysis.ownership.owners import Ownership
from hotdesk.analysis.ownership.unreleased import hidden_refused, leaves
from hotdesk.errors import BufferizationError
from hotdesk.ir.locations import python_line


def refuse_conditional(program: BufferProgram) -> None:
    """Raises BufferizationError if memory is freed already, under conditions."""
    for op in program.ops:
        if op.name == "bufferization.dealloc":
            raise BufferizationError(
                "deallocation of a function that frees already",
                expected="`memref.dealloc`, which is dropped, or nothing freed",
                got="`bufferization.dealloc`",
                where=python_line(op.operation.location),
                hint="lower it first: --convert-bufferization-to-memref",
            )


def refuse_unfinished(program: BufferProgram, ownership: Ownership) -> None:
    """Raises BufferizationError if memory would be freed or transferred that an asynchronous op may still use."""
    for number in ownership.unfinished:
        op = program.ops[number]
        raise BufferizationError(
            f"memory that `{op.name}` uses beside the program",
            expected="an op that waits for it, in the block in which the memory is allocated",
            got="none, so that it may use the memory when it is freed or transferred",
            where=python_line(op.operation.location),
            hint="wait in that block: async.await or gpu.wait for its token, memref.dma_wait for its tag, omp.taskwait or "
            "omp.barrier for a task, acc.wait for all queues; or hand in memory that somebody else frees "
            "(docs/deallocation.md)",
        )


def refuse_hidden(program: BufferProgram, ownership: Ownership) -> None:
    """Raises BufferizationError if a tensor or handle leaves the region in which the memory is freed that it leads to."""
    for number, buffer in program.passed_on:
        owners = (owner for owner in ownership.candidates[buffer] if owner != EXTERNAL and ownership.places.get(owner))
        if any(leaves(program, program.ops[number], owner) for owner in owners):
            raise hidden_refused(program.ops[number])


def refuse_several(program: BufferProgram, ownership: Ownership) -> None:
    """Raises BufferizationError if one of several owned operands is passed on, so that nobody would free the others."""
    passed: dict[tuple[int, int, int], set[int]] = {}
    for flow in program.flows:
        passed.setdefault((flow.op, flow.edge, flow.target), set()).add(flow.operand)
    for (number, _, _), operands in passed.items():
        if len(operands) > 1 and any(h.moved for o in operands if (h := ownership.transfers.get((number, o)))):
            op = program.ops[number]
            raise BufferizationError(
                f"memory that `{op.name}` passes on",
                expected="one operand for each argument and result",
                got=f"{len(operands)} operands for one",
                where=python_line(op.operation.location),
            )
