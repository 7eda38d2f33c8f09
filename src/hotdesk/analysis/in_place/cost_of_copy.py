"""What a copy of a value would cost: its bytes, as often as the loops around are taken to run."""

from __future__ import annotations

from hotdesk.analysis.tensors.program import TensorProgram

_OFTEN = 8
"""How often the body of a loop is taken to run."""
_SYMBOLIC = 1 << 20
"""The bytes that a tensor of symbolic size is taken to have."""


def cost_of_copy(function: TensorProgram, value: int, block: int) -> int:
    """The bytes of a value that is copied in a block, as often as the block is taken to run."""
    size = function.values[value].bytes
    return (size if isinstance(size, int) else _SYMBOLIC) * _OFTEN ** len(loops_around(function, block))


def loops_around(function: TensorProgram, block: int) -> list[int]:
    """The loops that a block is in, from the inside out."""
    flows = ((op.number, op.flow) for op in function.around(block))
    return [number for number, flow in flows if flow is not None and (flow.follows or flow.parallel)]
