"""Reductions of `scf.parallel` that may be done in another order: by one operation that is associative and has a neutral element.

A loop of so many iterations that threads share it is cut in *chunks*, each of which reduces to a value of its own, beginning with
the neutral element. These *partial results* are combined in order, beginning with the loop's initial value. How many chunks there
are follows from the program and its sizes, never from threads, so the same is computed on any number of them. Where only the run
tells how many iterations there are, they may be few: short ones are not alone in a chunk.

Sums and products of floats are rounded in this order instead of that of the iterations, and are the same from call to call.
That of a chunk may overflow where none in the order of the iterations does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, nan

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.shared_loops import weight_with_others

CHUNKS = 64
"""The most chunks of a loop."""

SHORTEST = 16
"""The fewest iterations of a chunk, where they are short and it is not known how many the loop has."""

_SHORT = 32
"""Operations of an iteration that a chunk may have alone."""

_FLOATS = (ir.F16Type, ir.BF16Type, ir.F32Type, ir.F64Type)
_NEUTRAL_FLOATS: Mapping[str, float] = {
    "arith.addf": -0.0,  # 0.0 would make 0.0 of -0.0
    "arith.mulf": 1.0,
    "arith.maximumf": -inf,
    "arith.minimumf": inf,
    "arith.maxnumf": nan,  # of a number and none, the number is taken
    "arith.minnumf": nan,
}
_WIDEST = 64  # bits that an integer may have


@dataclass(frozen=True, slots=True)
class Combiner:
    """What reduces two values of a loop to one.

    Attributes:
        op: in the region of `scf.reduce`.
        neutral: changes nothing that it is combined with.
    """

    op: ir.Operation
    neutral: int | float


def chunk_length(trips: int) -> int:
    """How many iterations each chunk has, but for the last one."""
    return max(1, -(-trips // CHUNKS))


def least_length(loop: ir.Operation, cut: int) -> int:
    """How many iterations each chunk has at least, where it is not known how many there are in the dimension that is cut.

    Where it is, they are enough for two threads, so a part of them in 64 is worth a chunk.
    """
    return SHORTEST if weight_with_others(loop, cut) < _SHORT else 1


def chunk_count(trips: int | None) -> int:
    """How many chunks iterations are cut in, at most where it is not known how many there are."""
    return CHUNKS if trips is None else -(-trips // chunk_length(trips))


def find_combiners(loop: ir.Operation) -> tuple[Combiner, ...] | None:
    """What reduces each of the values of a `scf.parallel`; None if one of them may have to be reduced in order."""
    reduce = list(loop.regions[0].blocks[0].operations)[-1].operation
    found = [_combiner(region.blocks[0]) for region in reduce.regions]
    known = tuple(each for each in found if each is not None)
    return known if len(known) == len(found) else None


def _combiner(block: ir.Block) -> Combiner | None:
    op, *rest = [each.operation for each in block.operations]
    both = set(op.operands) == set(block.arguments)
    if len(rest) != 1 or not both or len(op.operands) != 2 or list(rest[0].operands) != list(op.results):
        return None
    kind = op.results[0].type
    if isinstance(kind, _FLOATS):
        number = _NEUTRAL_FLOATS.get(op.name)
        return None if number is None else Combiner(op, number)
    bits = 64 if isinstance(kind, ir.IndexType) else kind.width if isinstance(kind, ir.IntegerType) else _WIDEST + 1
    neutral = _neutral_integers(bits).get(op.name) if bits <= _WIDEST else None
    return None if neutral is None else Combiner(op, neutral)


def _neutral_integers(bits: int) -> Mapping[str, int]:
    return {
        **dict.fromkeys(("arith.addi", "arith.ori", "arith.xori", "arith.maxui"), 0),
        **dict.fromkeys(("arith.andi", "arith.minui"), -1),
        "arith.muli": 1,
        "arith.maxsi": -1 << (bits - 1),
        "arith.minsi": (1 << (bits - 1)) - 1,
    }
