"""`linalg.generic` as loops: which operand is read, which loop runs over which dimension, how the loops of two ops match."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.walking import nested_ops, segment_sizes

_FREE = ("arith.constant", "linalg.index", "linalg.yield", "arith.index_cast", "arith.index_castui", "arith.bitcast")
_FREE_ENDINGS = ("extf", "truncf", "extsi", "extui", "trunci", "sitofp", "uitofp", "fptosi", "fptoui")


@dataclass(frozen=True, slots=True)
class Generic:
    """A `linalg.generic`: how many of its operands are inputs, their maps, and for each loop whether it is parallel."""

    op: ir.Operation
    inputs: int
    maps: tuple[ir.AffineMap, ...]
    parallel: tuple[bool, ...]

    @property
    def outputs(self) -> range:
        """The numbers of the operands that are written."""
        return range(self.inputs, len(self.maps))

    def reads(self, operand: int) -> bool:
        """Whether the payload uses the element of an operand."""
        return next(iter(self.op.regions[0].blocks[0].arguments[operand].uses), None) is not None

    def loops_of(self, operand: int) -> tuple[int, ...] | None:
        """The loop over each dimension of an operand; None where that is not one loop each, all different."""
        return loops_of(self.maps[operand])

    def is_permutation(self, operand: int) -> bool:
        """Whether each element of an operand belongs to exactly one iteration."""
        loops = self.loops_of(operand)
        return loops is not None and len(loops) == len(self.parallel)


def read_generic(op: ir.Operation | None) -> Generic | None:
    """The op as loops, or None if it is no `linalg.generic`."""
    if op is None or op.name != "linalg.generic":
        return None
    maps = tuple(attribute.value for attribute in cast(Any, op.attributes["indexing_maps"]))
    parallel = tuple("parallel" in str(kind) for kind in cast(Any, op.attributes["iterator_types"]))
    return Generic(op, segment_sizes(op)[0], maps, parallel)


def loops_of(affine_map: ir.AffineMap) -> tuple[int, ...] | None:
    """The dims that are the results of a map; None if another expression, or a dim twice, is among them."""
    results = list(affine_map.results)
    loops = tuple(cast(Any, result).position for result in results if isinstance(result, ir.AffineDimExpr))
    return loops if len(set(loops)) == len(results) else None


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
    results = [result for affine_map in maps for result in affine_map.results]
    return {cast(Any, each).position for each in results if isinstance(each, ir.AffineDimExpr)} >= set(range(count))


def is_free(generic: Generic) -> bool:
    """Whether the payload does no more than convert one element, so that it may as well be done twice."""
    names = [op.name for op in nested_ops(generic.op)]
    shaped = [
        i for i, value in enumerate(generic.op.operands) if isinstance(value.type, ir.ShapedType) and generic.reads(i)
    ]
    return len(shaped) <= 1 and all(name in _FREE or name.split(".")[-1] in _FREE_ENDINGS for name in names)
