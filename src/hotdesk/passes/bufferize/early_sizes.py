"""Sizes of allocations that stand in front of what computes their sizes: computed again from the arguments of the function."""

from __future__ import annotations

from collections.abc import Callable

from hotdesk._bindings import ir
from hotdesk.analysis.tensors.known_sizes import NUMBER, VALUE, KnownSizes
from hotdesk.analysis.tensors.program import TensorProgram
from hotdesk.ir.building import dim, index_constant
from hotdesk.ir.locations import placed
from hotdesk.ir.size_ops import size_value
from hotdesk.ir.types import shape_of
from hotdesk.sizes.size import Size


class EarlySizes:
    """Makes sizes of one function; `of` tells the memref of an argument."""

    def __init__(self, record: TensorProgram, of: Callable[[ir.Value], ir.Value]) -> None:
        self._record = record
        self._known = KnownSizes(record)
        self._of = of

    def are_known(self, value: int) -> bool:
        """Whether all sizes of a tensor follow from the arguments."""
        return self._known.are_known(value)

    def sizes(self, value: int, before: ir.Operation) -> list[ir.Value]:
        """The dynamic sizes of a tensor, all of which follow from the arguments."""
        made = self._record.values[value]
        static = shape_of(made.value.type)
        return [self._made(size, before) for size, known in zip(made.shape, static, strict=True) if known is None]

    def _made(self, size: Size, before: ir.Operation) -> ir.Value:
        found = self._known.source(size)
        if found is None:
            with placed(before.location):
                return size_value(size, lambda part: self._made(part, before), before)
        argument, position = found
        if argument == NUMBER:
            return index_constant(position, before)
        arguments = list(self._record.ops[0].operation.block.arguments)
        count = len(self._record.arguments)
        if position == VALUE:
            return arguments[-count:][argument]
        return dim(self._of(arguments[argument]), position, before)
