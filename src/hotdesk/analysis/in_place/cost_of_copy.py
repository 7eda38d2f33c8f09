"""What a copy of a value would cost: its bytes, as often as the loops around are taken to run."""

from __future__ import annotations

from hotdesk.analysis.tensors.program import OpRecord, TensorProgram

_OFTEN = 8
"""How often the body of a loop is taken to run."""
_SYMBOLIC = 1 << 20
"""The bytes that a tensor of symbolic size is taken to have."""


def cost_of_copy(function: TensorProgram, value: int, block: int) -> int:
    """The bytes of a value that is copied in a block, as often as the block is taken to run."""
    size = function.values[value].bytes
    return (size if isinstance(size, int) else _SYMBOLIC) * _OFTEN ** _depth(function, loop_around(function, block))


def loop_around(function: TensorProgram, block: int) -> int:
    """The innermost loop around a block, or -1."""
    parent = function.blocks[block].parent
    while parent >= 0 and not _repeats(function.ops[parent]):
        parent = function.blocks[function.ops[parent].block].parent
    return parent


def _repeats(op: OpRecord) -> bool:
    return op.flow is not None and (bool(op.flow.follows) or op.flow.parallel)


def _depth(function: TensorProgram, loop: int) -> int:
    depth = 0
    while loop >= 0:
        depth, loop = depth + 1, loop_around(function, function.ops[loop].block)
    return depth
