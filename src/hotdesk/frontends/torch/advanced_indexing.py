"""Advanced indexing of PyTorch models by several tensors of indices: torch-mlir takes no two of them along one size that varies.

x[i, j]    ->    linalg.generic ins(%i, %j) outs(tensor.empty) { yield tensor.extract %x[i, j] }

1. The tensors of places are broadcast to one another: each is read along the dims that it has, and at 0 where it has a size of 1.
2. Their dims stand where they stood in `x` if they are neighbours there, else in front of all others.
3. A place below 0 counts from the end. Whether it is one is checked where all reads at computed places are (`guard_indices`).
"""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch

from hotdesk._bindings import ir
from hotdesk.frontends.torch.cutting import CutSite, shape_expressions
from hotdesk.frontends.torch.data_sizes import value_of
from hotdesk.ir.building import compared, constant, create, dim, index_cast, structured

_PLACES = (torch.int32, torch.int64)


def is_gather(node: torch.fx.Node) -> bool:
    """Whether a node reads a tensor at places that several tensors tell, two of which have the same size that varies."""
    if node.target is not torch.ops.aten.index.Tensor or value_of(node.args[0]).dtype.is_complex:
        return False
    given = [each for each in cast("Sequence[Any]", node.args[1]) if each is not None]
    if len(given) < 2 or any(value_of(each).dtype not in _PLACES for each in given):
        return False
    shapes = [shape_expressions(value_of(each)) for each in given]
    wide = _broadcast(shapes)
    if wide is None:
        return False
    varying = [dim - len(wide) for dim, size in enumerate(wide) if not isinstance(size, int)]
    return any(sum(len(shape) >= -dim and shape[dim] != 1 for shape in shapes) > 1 for dim in varying)


def _broadcast(shapes: Sequence[Sequence[Any]]) -> tuple[Any, ...] | None:
    """The sizes that tensors are broadcast to; None where it is not known that they fit."""
    wide: list[Any] = [1] * max(map(len, shapes))
    for shape in shapes:
        for number, size in enumerate(shape, len(wide) - len(shape)):
            if wide[number] == 1:
                wide[number] = size
            elif size not in (1, wide[number]):
                return None
    return tuple(wide)


@dataclass(frozen=True, slots=True)
class Gather:
    """What is put in for such a node.

    Attributes:
        inputs: what is read, and the tensors of places.
        dims: the dims of what is read that the places are in.
        shapes: the sizes of the tensors of places.
    """

    inputs: tuple[torch.fx.Node, ...]
    dims: tuple[int, ...]
    shapes: tuple[tuple[Any, ...], ...]

    @staticmethod
    def of(node: torch.fx.Node) -> Gather:
        """What is put in for a node that `is_gather`."""
        tensor, indices = cast("tuple[torch.fx.Node, Sequence[Any]]", node.args)
        placed = {dim: each for dim, each in enumerate(indices) if each is not None}
        shapes = tuple(shape_expressions(value_of(each)) for each in placed.values())
        return Gather((tensor, *placed.values()), tuple(placed), shapes)

    def write(self, site: CutSite) -> Mapping[int, ir.Value]:
        (tensor, *places), before = site.inputs, site.before
        kind, _ = site.results[0]
        rank, width = len(cast(Any, kind).shape), max(map(len, self.shapes))
        are_neighbours = self.dims == tuple(range(self.dims[0], self.dims[-1] + 1))
        begin = self.dims[0] if are_neighbours else 0
        maps = [self._read(shape, begin + width - len(shape), rank) for shape in self.shapes]
        empty = create("tensor.empty", site.dynamic_sizes(0), [kind], before=before).results[0]
        lengths = [dim(tensor, each, before) for each in self.dims]
        op, end = structured(places, [empty], before, [*maps, ir.AffineMap.get_identity(rank)])
        told = list(op.regions[0].blocks[0].arguments)
        at = dict(zip(self.dims, map(_from_front, told, lengths, [end] * len(lengths)), strict=False))
        others = iter([*range(begin), *range(begin + width, rank)])
        for each in range(len(cast(Any, tensor.type).shape)):
            if each not in at:
                at[each] = _loop(next(others), end)
        read = [tensor, *(at[each] for each in sorted(at))]
        end.operands[0] = create("tensor.extract", read, [cast(Any, kind).element_type], before=end).results[0]
        return {0: op.results[0]}

    @staticmethod
    def _read(shape: Sequence[Any], begin: int, rank: int) -> ir.AffineMap:
        """Where a tensor of places is read in loops of the result: along those from `begin` on."""
        zero = ir.AffineConstantExpr.get(0)
        along = [zero if size == 1 else ir.AffineDimExpr.get(begin + number) for number, size in enumerate(shape)]
        return ir.AffineMap.get(rank, 0, along)


def _loop(number: int, before: ir.Operation) -> ir.Value:
    attributes: dict[str, ir.Attribute] = {"dim": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)}
    return create("linalg.index", [], [ir.IndexType.get()], attributes, before=before).results[0]


def _from_front(place: ir.Value, length: ir.Value, before: ir.Operation) -> ir.Value:
    """A place as an index, counted from the front."""
    index = index_cast(place, ir.IndexType.get(), before)
    behind = create("arith.addi", [index, length], [index.type], before=before).results[0]
    is_behind = compared("slt", index, constant(0, index.type, before), before)
    return create("arith.select", [is_behind, behind, index], [index.type], before=before).results[0]
