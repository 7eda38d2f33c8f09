"""Where the entry block of a function may write which memory, that of the caller's above all: state, and arguments that change.

A *place* is the number of an op in the entry block; what the regions of an op write, the op writes.
"""

from __future__ import annotations

from collections.abc import Sequence

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.buffer_program import Kind
from hotdesk.analysis.memrefs.buffer_reading import read_buffers
from hotdesk.analysis.memrefs.origins import Origins
from hotdesk.analysis.memrefs.writes import writes_of
from hotdesk.ir.op_maps import OpMap
from hotdesk.ir.signature import signature
from hotdesk.ir.types import is_memref
from hotdesk.ir.walking import entry_block


def changed_arguments(function: ir.Operation) -> list[ir.Value]:
    """The arguments that a call may find changed: state, and memory that the caller has the program write."""
    formals = zip(entry_block(function).arguments, signature(function).arguments, strict=True)
    return [
        value
        for value, formal in formals
        if is_memref(value.type) and (formal.state is not None or formal.kind in ("state", "written"))
    ]


class EntryWrites:
    """The writes of a function.

    Attributes:
        ops: those of the entry block, in order; `places` are their numbers.
        program, origins: of the function.
        unknown: the numbers of memrefs of which it is not known what they are.
        at: for each memory, by number, the places that may write it, in order. What another block than the first writes is
            written at the end of that.
        first: the place of the first write of memory of the caller's; the number of `ops` if there is none.
    """

    def __init__(self, function: ir.Operation) -> None:
        self.ops: Sequence[ir.Operation] = [view.operation for view in entry_block(function).operations]
        self.places = OpMap((op, place) for place, op in enumerate(self.ops))
        self.program = read_buffers(function)
        self.origins = Origins(self.program)
        self.unknown = frozenset(each.number for each in self.program.buffers if each.kind is Kind.UNKNOWN)
        self.at: dict[int, list[int]] = {}
        for op, written in writes_of(self.program, self.origins):
            around = self.program.within(op.number, self.program.body[0])
            place = len(self.ops) - 1 if around is None else self.places[self.program.ops[around].operation]
            for memory in written:
                self.at.setdefault(memory, []).append(place)
        self._callers = changed_arguments(function)
        known = [self.first_of(each) for each in self._callers]
        self.first = min((place for place in known if place is not None), default=len(self.ops))

    def first_of(self, argument: ir.Value) -> int | None:
        """The place that may be the first to write an argument of the caller's; None if nothing writes it."""
        memories = {self.program.numbers[argument]} | self.unknown
        return min((self.at[memory][0] for memory in memories if memory in self.at), default=None)
