"""What a function does with the memory of its tensor arguments, in the words of MLIR's `bufferization.access`.

An argument is *read* iff an op reads the contents that it came with, through the argument or a view of it; a tied operand that
is copied, because the op overwrites only a part of it, is read too. It is *written* iff an op writes in place into its memory,
through whatever values lie there by then.

Not covered: values that branches and loops pass on.
"""

from __future__ import annotations

from enum import Enum

from hotdesk.analysis.inplace import InPlaceAnalysis
from hotdesk.analysis.program import NOT_A_TENSOR, FunctionRecord, OpRecord


class Access(str, Enum):
    """What becomes of an argument's memory. The value is MLIR's word."""

    NONE = "none"
    READ = "read"
    WRITE = "write"
    READ_WRITE = "read-write"


def argument_access(function: FunctionRecord, analysis: InPlaceAnalysis) -> tuple[Access | None, ...]:
    """The access of each argument, in order; None for arguments that are no tensors."""
    found = _Accesses(function, analysis)
    for op in function.ops:
        found.step(op)
    return tuple(found.of(number) for number in function.arguments)


class _Accesses:
    """Walks a function from the top and knows of each value whose contents it shows and in whose memory it lies."""

    def __init__(self, function: FunctionRecord, analysis: InPlaceAnalysis) -> None:
        arguments = [number for number in function.arguments if number != NOT_A_TENSOR]
        self._analysis = analysis
        self._contents = {number: number for number in arguments}
        self._memory = {number: number for number in arguments}
        self._read: set[int] = set()
        self._written: set[int] = set()

    def of(self, number: int) -> Access | None:
        if number == NOT_A_TENSOR:
            return None
        if number in self._written:
            return Access.READ_WRITE if number in self._read else Access.WRITE
        return Access.READ if number in self._read else Access.NONE

    def step(self, op: OpRecord) -> None:
        for value in (*(op.operands[operand] for operand in op.facts.reads), *op.captured):
            self._reads(value)
        for operand, result in op.facts.ties:
            self._ties(op, operand, op.results[result])
        for operand, result in op.facts.views:
            source, view = op.operands[operand], op.results[result]
            for owners in (self._contents, self._memory):
                if source in owners:
                    owners[view] = owners[source]

    def _reads(self, value: int) -> None:
        if value in self._contents:
            self._read.add(self._contents[value])

    def _ties(self, op: OpRecord, operand: int, result: int) -> None:
        value = op.operands[operand]
        if not self._analysis.by_operand[(op.number, operand)].in_place:
            if operand not in op.facts.overwrites:
                self._reads(value)
        elif value in self._memory:
            self._written.add(self._memory[value])
            self._memory[result] = self._memory[value]
