"""Linalg ops as loops: which operand is read, which loop runs over which dimension, how the loops of two ops match.

Named ops have payloads and maps as `linalg.generic` has, so they are read in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

from hotdesk._bindings import indexing_maps, ir
from hotdesk.ir.walking import integer_of, nested_ops, parallel_loops, segment_sizes

GENERIC = "linalg.generic"
"""The op that states its loops: those of named ops follow from their names."""
NUMBER = "linalg.index"
"""Gives the number of a loop in a payload."""
_IN_PAYLOADS = (NUMBER, "linalg.yield")
_REDUCE = "linalg.reduce"
_BY_LOOPS = (GENERIC, _REDUCE)
DEAR = 10
"""Operations on scalars that one which is dear counts as."""
_FREE = ("arith.constant", NUMBER, "linalg.yield", "arith.index_cast", "arith.index_castui", "arith.bitcast")
_FREE_ENDINGS = ("extf", "truncf", "extsi", "extui", "trunci", "sitofp", "uitofp", "fptosi", "fptoui")


@dataclass(frozen=True, slots=True)
class Generic:
    """A linalg op with a payload: how many of its operands are inputs, their maps, and for each loop whether it is parallel."""

    op: ir.Operation
    inputs: int
    maps: tuple[ir.AffineMap, ...]
    parallel: tuple[bool, ...]

    @property
    def outputs(self) -> range:
        """The numbers of the operands that are written."""
        return range(self.inputs, len(self.maps))

    @property
    def keeps_name(self) -> bool:
        """Whether it reduces by a name that says more than its loops, such as a contraction: kernels know it by that."""
        return not all(self.parallel) and self.op.name not in _BY_LOOPS

    def reads(self, operand: int) -> bool:
        """Whether the payload uses the element of an operand."""
        arguments = self.op.regions[0].blocks[0].arguments  # `linalg.map` may have none for what it overwrites
        return operand < len(arguments) and next(iter(arguments[operand].uses), None) is not None

    def loops_of(self, operand: int) -> tuple[int, ...] | None:
        """The loop over each dimension of an operand; None where that is not one loop each, all different."""
        return loops_of(self.maps[operand])

    def is_permutation(self, operand: int) -> bool:
        """Whether each element of an operand belongs to exactly one iteration."""
        loops = self.loops_of(operand)
        return loops is not None and len(loops) == len(self.parallel)


def is_linalg(op: ir.Operation) -> bool:
    """Whether an op is a linalg op of its own, and no part of another one's payload."""
    return op.name.startswith("linalg.") and op.name not in _IN_PAYLOADS


def index_ops(op: ir.Operation) -> list[tuple[ir.Operation, int]]:
    """The ops in the payload of a linalg op that ask for the place in a loop, each with the number of the loop."""
    return [(each, integer_of(each, "dim")) for each in nested_ops(op) if each.name == NUMBER]


def is_dear(op: ir.Operation) -> bool:
    """Whether an op on scalars takes as long as `DEAR` others: elementary functions, and divisions of floats."""
    return op.name.startswith("math.") or op.name in ("arith.divf", "arith.remf")


def read_generic(op: ir.Operation | None) -> Generic | None:
    """The op as loops, or None if it is no linalg op with a payload."""
    found = indexing_maps(op) if op is not None and is_linalg(op) else None
    if op is None or found is None:
        return None
    maps = tuple(found)
    inputs = len(maps) - _count_of_outputs(op)
    if "iterator_types" in op.attributes:
        parallel = parallel_loops(op)
    else:
        written = {dim for each in maps[inputs:] for dim in _dims(each)}
        parallel = tuple(dim in written for dim in range(maps[0].n_dims))
    return Generic(op, inputs, maps, parallel)


def _count_of_outputs(op: ir.Operation) -> int:
    if "operandSegmentSizes" in op.attributes:
        return segment_sizes(op)[1]
    return len(op.operands) // 2 if op.name == _REDUCE else 1


def _dims(affine_map: ir.AffineMap) -> list[int]:
    """The loops that are results of a map."""
    return [cast(Any, each).position for each in affine_map.results if isinstance(each, ir.AffineDimExpr)]


def loops_of(affine_map: ir.AffineMap) -> tuple[int, ...] | None:
    """The dims that are the results of a map; None if another expression, or a dim twice, is among them."""
    results = list(affine_map.results)
    loops = tuple(cast(Any, result).position for result in results if isinstance(result, ir.AffineDimExpr))
    return loops if len(set(loops)) == len(results) else None


def loops_read(affine_map: ir.AffineMap) -> tuple[int | None, ...] | None:
    """The dims that are the results of a map, None for one that is 0; None in all for any other map."""
    found: list[int | None] = []
    for each in affine_map.results:
        if isinstance(each, ir.AffineDimExpr):
            found.append(each.position)
        elif isinstance(each, ir.AffineConstantExpr) and each.value == 0:
            found.append(None)
        else:
            return None
    return tuple(found)


def matched_loops(producer: Generic, output: int, consumer: Generic, operand: int) -> tuple[int, ...] | None:
    """For each loop of a producer the loop of the consumer that reads the same element of what is written.

    None unless every iteration of the producer writes one element, and dimensions of the operand are loops of the consumer.
    """
    written, read = producer.loops_of(output), consumer.loops_of(operand)
    if written is None or read is None or len(written) != len(producer.parallel):
        return None
    loops = dict(zip(written, read, strict=True))
    return tuple(loops[i] for i in range(len(written)))


def renamed(affine_map: ir.AffineMap, loops: tuple[int, ...], count: int) -> ir.AffineMap:
    """A map of a producer over the `count` loops of a consumer (`matched_loops`)."""
    dims = ir.AffineMap.get(count, 0, [ir.AffineExpr.get_dim(loop) for loop in loops])
    return ir.AffineMap.get(count, 0, [cast(Any, result).compose(dims) for result in affine_map.results])


def are_sized(maps: Iterable[ir.AffineMap], count: int) -> bool:
    """Whether every loop runs over a dimension of some operand, so that its size is known."""
    return {dim for each in maps for dim in _dims(each)} >= set(range(count))


def is_free(generic: Generic) -> bool:
    """Whether the payload does no more than convert one element, so that it may as well be done twice."""
    names = [op.name for op in nested_ops(generic.op)]
    shaped = [
        i for i, value in enumerate(generic.op.operands) if isinstance(value.type, ir.ShapedType) and generic.reads(i)
    ]
    return len(shaped) <= 1 and all(name in _FREE or name.split(".")[-1] in _FREE_ENDINGS for name in names)
