"""The `memref` dialect: which ops show memory differently, which touch none, and which keep or make pointers.

What ops read and write `models.memory_effects` says, what allocates and frees `models.new_memory`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.walking import defining_op

LOAD, STORE, COPY = "memref.load", "memref.store", "memref.copy"
CAST = "memref.cast"
CASTS = (CAST, "memref.memory_space_cast")
"""Ops that change a memref's type alone."""
RESHAPE = "memref.reshape"
REARRANGING = ("memref.expand_shape", "memref.collapse_shape", "memref.reinterpret_cast", "memref.view", RESHAPE)
"""Ops whose result has other dimensions in the same memory."""
METADATA = "memref.extract_strided_metadata"
SUBVIEW = "memref.subview"
"""Shows a part of a memref: every n-th element of some, in each dimension."""
WHOLE_VIEWS = ("memref.expand_shape", "memref.collapse_shape", CAST, RESHAPE)
"""Ops whose result is all of their operand's memory."""
ASSUME_ALIGNMENT = "memref.assume_alignment"
ONE_TO_ONE = (ASSUME_ALIGNMENT, "memref.distinct_objects")
"""Ops with a result for each operand, which is that operand."""
_OF_FIRST = frozenset({*CASTS, *REARRANGING, METADATA, SUBVIEW, "memref.transpose"})

VIEWS = frozenset((_OF_FIRST | set(ONE_TO_ONE)) - {METADATA, RESHAPE})
"""The ops that do nothing but show memory differently; `memref.reshape` reads sizes besides."""

SIZES = ("dim", "rank")
"""What ops of `memref` and of `tensor` are called that ask for a size or the number of them, and for nothing else."""

OF_NO_CONTENTS = frozenset({"memref.alloc", "memref.dealloc", "memref.dim", METADATA})
"""Ops on memrefs whose scalar results do not follow from what the memory holds."""
QUIET = frozenset({"memref.alloc", "arith.select", *(f"memref.{name}" for name in SIZES)})
"""Other ops on memrefs that touch no memory: they allocate, ask for sizes, or choose a memref."""


POINTING = ("memref.extract_aligned_pointer_as_index", "bufferization.to_tensor")
"""Ops whose result leads to their operand's memory and is no memref."""
_STORING = {STORE: 1, "affine.store": 1, "linalg.yield": None}


def asks_for_size(name: str) -> bool:
    """Whether ops of that name give a size of a tensor or memref, or how many it has: a number that is not negative."""
    dialect, _, rest = name.partition(".")
    return dialect in ("memref", "tensor") and rest in SIZES


def stored(op: ir.Operation) -> list[ir.Value]:
    """The operands of an op that it writes into memory as elements; these may be memrefs."""
    return list(op.operands)[: _STORING[op.name]] if op.name in _STORING else []


def view_source(name: str, result: int) -> int | None:
    """Which operand of an op of that name a result shows differently; None if it is no view."""
    if name in _OF_FIRST:
        return 0
    return result if name in ONE_TO_ONE else None


def viewed(memref: ir.Value, through: Collection[str] = _OF_FIRST | set(ONE_TO_ONE)) -> ir.Value:
    """The memref that one is a view of, through all views by ops of these names between; itself if it is none."""
    while (op := defining_op(memref)) is not None and op.name in through:
        memref = op.operands[view_source(op.name, int(cast(Any, memref).result_number)) or 0]
    return memref


def all_of(memref: ir.Value, known: Collection[ir.Value] = ()) -> ir.Value:
    """The memref that one is all of, by another type or shape; the first that is known, if any is."""
    while memref not in known and (op := defining_op(memref)) is not None and op.name in WHOLE_VIEWS:
        memref = op.operands[0]
    return memref
