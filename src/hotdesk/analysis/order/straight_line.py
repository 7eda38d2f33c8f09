"""The operations of a function of one block, with who makes and reads each tensor, and the loops of each."""

from __future__ import annotations

from bisect import bisect_right

from hotdesk._bindings import ir
from hotdesk.analysis.order.axes import Loops, read_loops
from hotdesk.analysis.order.schedules import as_number, is_fence
from hotdesk.ir.signature import signature
from hotdesk.ir.sizes import product
from hotdesk.ir.types import element_bytes, element_of, is_tensor
from hotdesk.ir.walking import captured_operands, top_level_ops
from hotdesk.program.symbolic import SymbolicSizes


class StraightLine:
    """The operations of a function's block, with who makes and reads each tensor.

    `gone` are those erased since, by number; `overwritten` the arguments whose memory may be written to.
    """

    def __init__(self, function: ir.Operation, assumed: int = 256) -> None:
        """A size that is not known counts as `assumed`."""
        self.ops = top_level_ops(function)
        self._assumed = assumed
        self._sizes = SymbolicSizes(function)
        self._loops: dict[int, Loops | None] = {}
        self._fences: list[int] | None = None
        self.makers: dict[ir.Value, int] = {}
        self.readers: dict[ir.Value, list[int]] = {}
        self.gone: set[int] = set()
        self.overwritten: set[ir.Value] = set()
        for argument, formal in zip(_arguments(function), signature(function).arguments, strict=True):
            if formal.donated:
                self.overwritten.add(argument)
        for number, op in enumerate(self.ops):
            self.makers.update((result, number) for result in op.results)
            for value in self.read_by(number):
                self.readers.setdefault(value, []).append(number)

    def read_by(self, number: int) -> list[ir.Value]:
        """The tensors that an operation reads, in its regions too, each once."""
        op = self.ops[number]
        used = (*op.operands, *(value for _, _, value in captured_operands(op)))
        return list(dict.fromkeys(value for value in used if is_tensor(value.type)))

    def loops(self, number: int) -> Loops | None:
        """The loops of an operation that reads no tensor but its operands."""
        if number not in self._loops:
            op = self.ops[number]
            inside = any(is_tensor(value.type) for _, _, value in captured_operands(op))
            self._loops[number] = None if inside else read_loops(op)
        return self._loops[number]

    def is_fenced(self, number: int, before: int) -> bool:
        """Whether an operation may not be done in front of operation number `before` instead, since a fence stands between."""
        if self._fences is None:
            self._fences = [each for each, op in enumerate(self.ops) if is_fence(op)]
        place = bisect_right(self._fences, number)
        return place < len(self._fences) and self._fences[place] < before

    def is_given(self, value: ir.Value) -> bool:
        """Whether a tensor is an argument, or a destination without contents, of which each part has its own."""
        maker = self.makers.get(value)
        return maker is None or self.ops[maker].name == "tensor.empty"

    def bytes(self, value: ir.Value) -> int:
        """The bytes of a tensor."""
        return as_number(product([*self._sizes.shape(value), element_bytes(element_of(value.type))]), self._assumed)


def _arguments(function: ir.Operation) -> list[ir.Value]:
    return list(function.regions[0].blocks[0].arguments)
