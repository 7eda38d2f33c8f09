"""The index arithmetic behind an arena: sizes, offsets and the bytes in all, in front of an op of the function."""

from __future__ import annotations

from functools import reduce

from hotdesk._bindings import ir
from hotdesk.analysis.allocations.arena_sizes import ArenaSizes, Measure
from hotdesk.analysis.allocations.merging import ArenaPlan
from hotdesk.ir.building import create, index_constant
from hotdesk.ir.op_maps import OpSet
from hotdesk.ir.signature import FunctionSignature, formals, new_function, signature
from hotdesk.planning.sizes.symbolic_offsets import Extent


class ArenaCode:
    """Makes each number once, all in front of where the arena is made (`ArenaSizes.before`).

    Attributes:
        bytes: the size of the arena, None if it is static.
        offsets: for each allocation in it, None where that is a number.
    """

    def __init__(self, arena: ArenaPlan, sizes: ArenaSizes) -> None:
        self._sizes = sizes
        self._before = sizes.before
        there = OpSet(_ops_until(sizes.before))
        self._constants: dict[int, ir.Value] = {}
        self._extents: dict[Extent, ir.Value] = {}
        self._quantities: list[ir.Value] = []
        for measure in arena.measures:
            self._quantities.append(self._measured(measure))
        for sums in arena.greatest:
            self._quantities.append(reduce(lambda a, b: self._binary("maxsi", a, b), map(self._value, sums)))
        self.bytes = self._value(arena.bytes) if arena.bytes.parts else None
        self.offsets = [self._value(each.offset) if each.offset.parts else None for each in arena.merged]
        self._made = [op for op in _ops_until(self._before) if op not in there]

    def _value(self, extent: Extent) -> ir.Value:
        """A number of bytes as an index."""
        if extent not in self._extents:
            parts = [self._quantities[part] for part in extent.parts]
            if extent.constant or not parts:
                parts.append(self._constant(extent.constant))
            self._extents[extent] = reduce(lambda a, b: self._binary("addi", a, b), parts)
        return self._extents[extent]

    def erase_unused(self) -> None:
        """Erases what nothing uses in the end."""
        for op in reversed(self._made):
            if all(next(iter(result.uses), None) is None for result in op.results):
                op.erase()

    def _measured(self, measure: Measure) -> ir.Value:
        sizes = self._sizes.recomputation.compute(measure.sizes, self._before)
        total = self._constant(measure.static)
        for size, unsure in zip(sizes, measure.unsure, strict=True):
            total = self._binary("muli", total, self._binary("maxsi", size, self._constant(0)) if unsure else size)
        if measure.static % measure.alignment == 0:
            return total
        raised = self._binary("addi", total, self._constant(measure.alignment - 1))
        return self._binary("andi", raised, self._constant(-measure.alignment))

    def _constant(self, value: int) -> ir.Value:
        if value not in self._constants:
            self._constants[value] = index_constant(value, self._before)
        return self._constants[value]

    def _binary(self, name: str, a: ir.Value, b: ir.Value) -> ir.Value:
        return create(f"arith.{name}", [a, b], [a.type], before=self._before).results[0]


def make_size_function(name: str, function: ir.Operation, total: ir.Value, sizes: ArenaSizes) -> None:
    """Makes a function of that name, which takes the arguments of another one and returns the bytes of its arena."""
    index = ir.IndexType.get()
    takes = FunctionSignature(formals(signature(function).inputs), formals([index]))
    _, block = new_function(name, takes, ir.InsertionPoint(function), function.location)
    with ir.InsertionPoint(block), function.location:
        zero = ir.Operation.create(
            "arith.constant", results=[index], attributes={"value": ir.IntegerAttr.get(index, 0)}
        )
        end = ir.Operation.create("func.return", operands=[zero.results[0]]).operation
    end.operands[0] = sizes.recomputation.compute([total], end, list(block.arguments))[0]
    zero.operation.erase()


def _ops_until(last: ir.Operation) -> list[ir.Operation]:
    """The ops of a block in front of one of them."""
    found: list[ir.Operation] = []
    for view in last.block.operations:
        if view.operation == last:
            break
        found.append(view.operation)
    return found
