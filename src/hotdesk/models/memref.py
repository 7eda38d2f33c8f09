"""The `memref` dialect: which ops show memory differently, and which touch none.

What allocates and frees, and what an op of another dialect reads and writes, `models.new_memory` and `models.effects` say.
"""

from __future__ import annotations

CASTS = ("memref.cast", "memref.memory_space_cast")
"""Ops that change a memref's type alone."""
RESHAPE = "memref.reshape"
REARRANGING = ("memref.expand_shape", "memref.collapse_shape", "memref.reinterpret_cast", "memref.view", RESHAPE)
"""Ops whose result has other dimensions in the same memory."""
METADATA = "memref.extract_strided_metadata"
ONE_TO_ONE = ("memref.assume_alignment", "memref.distinct_objects")
"""Ops with a result for each operand, which is that operand."""
_OF_FIRST = frozenset({*CASTS, *REARRANGING, METADATA, "memref.subview", "memref.transpose"})

VIEWS = frozenset((_OF_FIRST | set(ONE_TO_ONE)) - {METADATA, RESHAPE})
"""The ops that do nothing but show memory differently; `memref.reshape` reads sizes besides."""

QUIET = frozenset({"memref.alloc", "memref.dim", "memref.rank", "arith.select"})
"""Other ops on memrefs that touch no memory: they allocate, ask for sizes, or choose a memref."""


def view_source(name: str, result: int) -> int | None:
    """Which operand of an op of that name a result shows differently; None if it is no view."""
    if name in _OF_FIRST:
        return 0
    return result if name in ONE_TO_ONE else None
