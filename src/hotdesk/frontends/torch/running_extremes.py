"""Running maxima and minima of PyTorch models, with the places they are at: torch-mlir lowers neither.

cummax(x)    ->    %v = tm_tensor.scan(%x) { %new >= %kept ? %new : %kept }
                   %at = linalg.generic ins(%x, %v) { %x >= %v ? place along the dim : 0 }
                   %i = tm_tensor.scan(%at) { arith.maxsi }

1. Of equal ones the last one is meant, as PyTorch has it: an element that is as large as what is kept by then.
2. A NaN is larger, and smaller, than all others: it stays, until another one comes.
"""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import torch

from hotdesk._bindings import ir
from hotdesk.frontends.torch.cutting import CutSite
from hotdesk.frontends.torch.data_sizes import value_of
from hotdesk.ir.building import compared, constant, create, dim, empty_like, fill, index_cast, structured
from hotdesk.ir.types import shape_of, tensor_with

aten: Any = torch.ops.aten
_Combine: TypeAlias = Callable[[ir.Value, ir.Value, ir.Operation], ir.Value]
_LARGEST = {aten.cummax.default: True, aten.cummin.default: False}


def is_running_extreme(node: torch.fx.Node) -> bool:
    """Whether a node is what `RunningExtreme` makes of it: not of a scalar, nor of complex numbers."""
    return node.target in _LARGEST and value_of(node.args[0]).dim() > 0 and not value_of(node.args[0]).is_complex()


@dataclass(frozen=True, slots=True)
class RunningExtreme:
    """What is put in for such a node.

    Attributes:
        inputs: the tensor.
        dimension: along which it is.
        largest: whether it is of maxima, else of minima.
        unsigned: whether its integers have no sign.
    """

    inputs: tuple[torch.fx.Node, ...]
    dimension: int
    largest: bool
    unsigned: bool

    @staticmethod
    def of(node: torch.fx.Node) -> RunningExtreme:
        """What is put in for a node that `is_running_extreme`."""
        tensor, dimension = cast("tuple[torch.fx.Node, int]", node.args)
        value = value_of(tensor)
        unsigned = value.dtype in (torch.bool, torch.uint8)
        return RunningExtreme((tensor,), dimension % value.dim(), _LARGEST[node.target], unsigned)

    def write(self, site: CutSite) -> Mapping[int, ir.Value]:
        (tensor,), before = site.inputs, site.before
        values = self._scan(tensor, self._join, before)
        words = ir.IntegerType.get_signless(64)
        kind = tensor_with(shape_of(tensor.type), ir.RankedTensorType.get([], words))
        sizes = [dim(tensor, i, before) for i, size in enumerate(shape_of(kind)) if size is None]
        empty = create("tensor.empty", sizes, [kind], before=before).results[0]
        op, end = structured([tensor, values], [empty], before)
        element, kept, zero = op.regions[0].blocks[0].arguments
        attributes: dict[str, ir.Attribute] = {"dim": ir.IntegerAttr.get(words, self.dimension)}
        place = create("linalg.index", [], [ir.IndexType.get()], attributes, before=end).results[0]
        given = [self._takes(kept, element, end), index_cast(place, words, end), constant(0, zero.type, end)]
        end.operands[0] = create("arith.select", given, [words], before=end).results[0]
        made = {0: values, 1: self._scan(op.results[0], _later, before)}
        return {number: made[number] for number in site.results}

    def _scan(self, tensor: ir.Value, combine: _Combine, before: ir.Operation) -> ir.Value:
        """What `combine` makes of all elements up to each one, given what is kept, an element and the op to write in front of."""
        sizes: Sequence[int | None] = shape_of(tensor.type)
        others = [i for i in range(len(sizes)) if i != self.dimension]
        rest = tensor_with([sizes[i] for i in others], tensor.type)
        varying = [dim(tensor, i, before) for i in others if sizes[i] is None]
        last = create("tensor.empty", varying, [rest], before=before).results[0]
        last = fill(constant(0, cast(Any, rest).element_type, before), last, before)
        attributes: dict[str, ir.Attribute] = {
            "dimension": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), self.dimension),
            "inclusive": ir.BoolAttr.get(True),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 2]),
        }
        operands = [tensor, empty_like(tensor, before), last]
        made = create("tm_tensor.scan", operands, [tensor.type, rest], attributes, regions=1, before=before)
        element = cast(Any, tensor.type).element_type
        block = made.regions[0].blocks.append(element, element, arg_locs=[made.location] * 2)
        kept, new = block.arguments
        with ir.InsertionPoint(block), made.location:
            end = ir.Operation.create("tm_tensor.yield", [], [kept]).operation
        end.operands[0] = combine(kept, new, end)
        return made.results[0]

    def _join(self, kept: ir.Value, new: ir.Value, before: ir.Operation) -> ir.Value:
        if isinstance(new.type, ir.FloatType):
            takes = self._takes(kept, new, before)
            return create("arith.select", [takes, new, kept], [new.type], before=before).results[0]
        name = f"arith.{'max' if self.largest else 'min'}{'u' if self.unsigned else 's'}i"
        return create(name, [kept, new], [new.type], before=before).results[0]

    def _takes(self, kept: ir.Value, new: ir.Value, before: ir.Operation) -> ir.Value:
        """Whether an element takes the place of what is kept."""
        how = "ge" if self.largest else "le"
        if not isinstance(new.type, ir.FloatType):
            return compared(f"{'u' if self.unsigned else 's'}{how}", new, kept, before)
        later, none = compared(f"o{how}", new, kept, before), compared("une", new, new, before)
        return create("arith.ori", [later, none], [later.type], before=before).results[0]


def _later(kept: ir.Value, new: ir.Value, before: ir.Operation) -> ir.Value:
    return create("arith.maxsi", [kept, new], [new.type], before=before).results[0]
