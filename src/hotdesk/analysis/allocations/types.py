"""What allocations ask for by their types and attributes, and which other ops may allocate."""

from __future__ import annotations

from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.analysis.allocations.uses import Allocation, Allocations, bytes_of_element
from hotdesk.analysis.memrefs.buffer_program import BufferOp
from hotdesk.ir.walking import dialect_of, integer_of
from hotdesk.models.func import RETURN
from hotdesk.models.memref import ASSUME_ALIGNMENT
from hotdesk.models.new_memory import ALIGNMENT, allocated, new_memory
from hotdesk.models.registry import model_of

_FRUGAL = frozenset(
    {
        *("affine", "arith", "bufferization", "cf", "complex", "hotdesk", "index"),
        *("linalg", "math", "memref", "scf", "tensor", "ub", "vector"),
    }
)


def is_contiguous(memref: ir.Type) -> bool:
    """Whether the elements of a memref lie one after the other in row-major order from its first byte, by its type."""
    shaped = cast(Any, memref)
    return shaped.affine_map == ir.AffineMap.get_identity(shaped.rank, shaped.context)


def natural_alignment(memref: ir.Type) -> int:
    """The bytes that the elements of a memref need to be aligned to, a power of two; 1 if they are no numbers."""
    return 1 << max(bytes_of_element(memref) - 1, 0).bit_length()


def alignment_of(allocations: Allocations, allocation: Allocation) -> int:
    """The bytes that an allocation is aligned to, a power of two.

    That is what it asks for, or its model says, or an op counts on, else what its elements need; and no less than what the
    elements of any alias need, since `memref.view` shows bytes as elements of other types.
    """
    program = allocations.program
    known = new_memory(allocations.op(allocation).operation)
    counting = [op for user in allocation.users if counts_on_alignment(op := program.ops[user].operation)]
    wanted = [integer_of(op, ALIGNMENT) for op in counting]
    wanted += [known.alignment] if known is not None and known.alignment else []
    own = allocations.value(allocation).type
    others = {program.buffers[alias].value.type for alias in allocation.aliases} - {own}
    return max([*(wanted or [natural_alignment(own)]), *map(natural_alignment, others)])


def counts_on_alignment(op: ir.Operation) -> bool:
    """Whether an op says how the memory of an operand is aligned: `memref.assume_alignment`, and loads and stores that do."""
    return op.name == ASSUME_ALIGNMENT or (ALIGNMENT in op.attributes and not allocated(op))


def may_allocate(op: BufferOp) -> bool:
    """Whether memory of which this function shows nothing may be allocated while an op runs."""
    if dialect_of(op.name) in _FRUGAL or op.name == RETURN:
        return False
    model = model_of(op.name)
    return not op.control and (model is None or model.effects is None)
