"""What a function does with the memory of its tensor arguments, in the words of MLIR's `bufferization.access`.

An argument is *read* iff an op reads the contents that it came with, through the argument or a view of it, or keeps a part of
them in a result. It is *written* iff an op writes in place into its memory, through whatever values lie there by then, if only
after a loop has given it to another of its arguments.
"""

from __future__ import annotations

from enum import Enum

from hotdesk.analysis.in_place.inplace import InPlaceAnalysis
from hotdesk.analysis.tensors.program import NOT_A_TENSOR


class Access(str, Enum):
    """What becomes of an argument's memory. The value is MLIR's word."""

    NONE = "none"
    READ = "read"
    WRITE = "write"
    READ_WRITE = "read-write"


def argument_access(analysis: InPlaceAnalysis) -> tuple[Access | None, ...]:
    """The access of each argument, in order; None for arguments that are no tensors."""
    function, root = analysis.function, analysis.readers.root
    kept = {
        root[op.operands[operand]]
        for op in function.ops
        for operand, _ in op.facts.ties
        if operand not in op.facts.overwrites
    }
    found: list[Access | None] = []
    for number in function.arguments:
        if number == NOT_A_TENSOR:
            found.append(None)
            continue
        read = number in kept or bool(analysis.readers.reads.get(number))
        found.append(_ACCESS[read, analysis.places.is_written_later(number)])
    return tuple(found)


_ACCESS = {
    (False, False): Access.NONE,
    (True, False): Access.READ,
    (False, True): Access.WRITE,
    (True, True): Access.READ_WRITE,
}
