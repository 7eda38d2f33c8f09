"""Checks in front of reads and writes at places that come from data, so that a bad index is an error, not another's memory.

    %x = tensor.extract %t[%i]    ->    %ok = arith.cmpi ult, %i, %size; cf.assert %ok; %x = tensor.extract %t[%i]
    tm_tensor.scatter %u, %idx    ->    %safe = linalg.generic ins(%idx) {assert; yield %ok ? %i : 0}; tm_tensor.scatter %u, %safe

Rules:

1. An index is checked if it depends on an element of a tensor; what follows from the position in the loop alone is in range,
   unless `positions` is given.
2. A loop that has checks of its own, as torch-mlir gives embeddings and `gather`, is left alone, unless `positions` is given.
3. A scatter's index that fails is replaced by 0: whoever runs the program may run the scatter before the failure is reported.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from hotdesk._bindings import ir
from hotdesk.explain import Decision
from hotdesk.ir.building import compared, constant, create, dim, empty_like, index_cast, index_constant, structured
from hotdesk.ir.types import shape_of
from hotdesk.ir.walking import constant_of, defining_op, int_array, nested_ops
from hotdesk.models.cf import ASSERT
from hotdesk.models.generics import GENERIC
from hotdesk.models.payloads import LOADS
from hotdesk.passes.base import FunctionPass
from hotdesk.passes.properties import PLACES_CHECKED, Property

MESSAGE = "every index in range"
_BY_ELEMENT = ("tensor.generate", "tensor.pad")


@dataclass(frozen=True, slots=True)
class GuardIndices(FunctionPass):
    """Puts a `cf.assert` in front of every access at an index that comes from data (rules in the module docstring).

    Options:
        positions: every index is checked, whatever it comes from: for programs of which it is not known that they keep to their
            tensors.
    """

    name: ClassVar[str] = "hotdesk-guard-indices"
    positions: bool = False

    def ensures(self) -> tuple[Property, ...]:
        return (PLACES_CHECKED,)

    def run_on(self, function: ir.Operation) -> Iterable[Decision]:
        for op in nested_ops(function):
            if op.name == GENERIC or (self.positions and _is_loop(op)):
                self._guard_reads(op)
            elif op.name == "tm_tensor.scatter":
                _guard_scatter(op)
        return ()

    def _guard_reads(self, op: ir.Operation) -> None:
        nested = list(nested_ops(op))
        if any(inner.name == ASSERT for inner in nested) and not self.positions:
            return
        for inner in nested:
            if inner.name not in LOADS:
                continue
            tensor, *indices = inner.operands
            for position, index in enumerate(indices):
                if self.positions or _from_data(index, op):
                    _assert_below(index, dim(tensor, position, op), inner)


def _is_loop(op: ir.Operation) -> bool:
    """Whether an op computes its elements by a region."""
    return len(op.regions) > 0 and (op.name in _BY_ELEMENT or op.name.startswith("linalg."))


def _from_data(value: ir.Value, loop: ir.Operation) -> bool:
    """Whether a value inside the loop depends on an element of a tensor."""
    producer = defining_op(value)
    if producer is None:
        return value in set(loop.regions[0].blocks[0].arguments)
    if producer.name in LOADS:
        return True
    return producer.block == loop.regions[0].blocks[0] and any(_from_data(v, loop) for v in producer.operands)


def _assert_below(index: ir.Value, size: ir.Value, before: ir.Operation) -> ir.Value:
    """Unsigned, so that negative indices fail too."""
    below = compared("ult", index, size, before)
    create("cf.assert", [below], [], {"msg": ir.StringAttr.get(MESSAGE)}, before=before)
    return below


def _guard_scatter(op: ir.Operation) -> None:
    indices, target = op.operands[1], op.operands[2]
    dims = int_array(op.attributes["dimension_map"])
    if len(shape_of(indices.type)) != 2 or constant_of(indices) is not None:
        return
    bounds = [dim(target, d, op) for d in dims]
    op.operands[1] = _checked(indices, bounds, op)


def _checked(indices: ir.Value, bounds: list[ir.Value], before: ir.Operation) -> ir.Value:
    """The same indices, each column below its bound or 0."""
    loop, end = structured([indices], [empty_like(indices, before)], before)
    element = cast(Any, indices.type).element_type
    given = loop.regions[0].blocks[0].arguments[0]
    index = index_cast(given, ir.IndexType.get(), end)
    below = _assert_below(index, _bound(bounds, end), end)
    zero = constant(0, element, end)
    end.operands[0] = create("arith.select", [below, given, zero], [element], before=end).results[0]
    return loop.results[0]


def _bound(bounds: list[ir.Value], before: ir.Operation) -> ir.Value:
    """The bound of the column that the loop is at."""
    i64, index = ir.IntegerType.get_signless(64), ir.IndexType.get()
    bound = bounds[-1]
    if len(bounds) == 1:
        return bound
    column = create("linalg.index", [], [index], {"dim": ir.IntegerAttr.get(i64, 1)}, before=before).results[0]
    for number, other in reversed(list(enumerate(bounds[:-1]))):
        same = compared("eq", column, index_constant(number, before), before)
        bound = create("arith.select", [same, other, bound], [index], before=before).results[0]
    return bound
