"""The operations of a function of one block, with who makes and reads each tensor, and the loops of each."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from hotdesk._bindings import ir
from hotdesk.analysis.order.axes import FOLLOWED_VIEWS, Loops, read_loops
from hotdesk.analysis.order.schedules import ASSUMED, as_number
from hotdesk.ir.signature import signature
from hotdesk.ir.types import is_tensor
from hotdesk.ir.walking import captured_operands, top_level_ops, values_read
from hotdesk.models.purity import is_fence
from hotdesk.models.tensor import EMPTY
from hotdesk.program.symbolic import SymbolicSizes


@dataclass(frozen=True, slots=True)
class ValueRead:
    """Operation number `reader` reads `value`: an operand, or a value of the block that its regions use."""

    reader: int
    value: ir.Value


class StraightLine:
    """The operations of a function's block, with who makes and reads each tensor.

    `gone` are those erased since, by number; `overwritten` the arguments whose memory may be written to.
    """

    def __init__(self, function: ir.Operation, assumed: int = ASSUMED) -> None:
        """A size that is not known counts as `assumed`."""
        self.function = function
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
        used = values_read(op)
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
        return value not in self.makers or self.is_empty(value)

    def is_empty(self, value: ir.Value) -> bool:
        """Whether a tensor is a `tensor.empty`."""
        maker = self.makers.get(value)
        return maker is not None and self.ops[maker].name == EMPTY

    def root(self, value: ir.Value) -> tuple[ir.Value, list[int]]:
        """What a value is a view of, itself if it is none, and the operations that make the view, the last one first."""
        path: list[int] = []
        maker = self.makers.get(value)
        while maker is not None and self.ops[maker].name in FOLLOWED_VIEWS:
            path.append(maker)
            value = self.ops[maker].operands[0]
            maker = self.makers.get(value)
        return value, path

    def reads(self, value: ir.Value) -> list[ValueRead]:
        """What reads a value or a view of it."""
        found: list[ValueRead] = []
        for reader in self.readers.get(value, ()):
            op = self.ops[reader]
            if op.name in FOLLOWED_VIEWS and op.operands[0] == value:
                found += self.reads(op.results[0])
            else:
                found.append(ValueRead(reader, value))
        return found

    def last_read(self, value: ir.Value) -> int:
        """The number of the last operation that reads a value or a view of it; -1 if none does."""
        return max((read.reader for read in self.reads(value)), default=-1)

    def bytes(self, value: ir.Value) -> int:
        """The bytes of a tensor."""
        return as_number(self._sizes.bytes(value), self._assumed)


def _arguments(function: ir.Operation) -> list[ir.Value]:
    return list(function.regions[0].blocks[0].arguments)
