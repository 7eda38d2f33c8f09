"""Who reads which contents, and what is known of each value's buffer: the ground of every in-place decision.

A *contents group* is a tensor together with every view of it, now or later in the program: all of them show the same contents.
"""

from __future__ import annotations

from dataclasses import dataclass

from hotdesk.analysis.program import NOT_A_TENSOR, FunctionRecord, OpRecord
from hotdesk.explain import Reason


@dataclass(frozen=True, slots=True)
class Readers:
    """The contents groups of a function: `root` by value number, and who reads each group, in program order."""

    root: tuple[int, ...]
    reads: dict[int, tuple[tuple[int, int], ...]]

    def last_read(self, value: int) -> tuple[int, int] | None:
        """The last (op, operand) that reads the value's group; operand −1 stands for a read inside a region."""
        reads = self.reads.get(self.root[value])
        return reads[-1] if reads else None

    def reads_at(self, value: int, op: int) -> list[int]:
        """The operands through which an op reads the value's group."""
        return [operand for number, operand in self.reads.get(self.root[value], ()) if number == op]


def find_readers(function: FunctionRecord) -> Readers:
    """Groups values by the views that connect them and lists each group's reads."""
    root = list(range(len(function.values)))
    reads: dict[int, list[tuple[int, int]]] = {}
    for op in function.ops:
        for operand, result in op.facts.views:
            root[op.results[result]] = root[op.operands[operand]]
        for operand in sorted(op.facts.reads):
            if op.operands[operand] != NOT_A_TENSOR:
                reads.setdefault(root[op.operands[operand]], []).append((op.number, operand))
        for value in op.captured:
            reads.setdefault(root[value], []).append((op.number, -1))
    return Readers(tuple(root), {group: tuple(uses) for group, uses in reads.items()})


class BufferState:
    """What is known of each value's buffer while a function is walked from the top: who owns it, whether it covers it."""

    def __init__(self, function: FunctionRecord) -> None:
        self._read_only: dict[int, Reason] = {}
        self.undefined: set[int] = set()
        self.whole: set[int] = set()
        self.taken: dict[int, int] = {}
        kinds = {
            "weight": Reason.NOT_WRITABLE_WEIGHT,
            "prepared": Reason.NOT_WRITABLE_WEIGHT,
            "input": Reason.NOT_WRITABLE_INPUT,
        }
        for number, kind in zip(function.arguments, function.argument_kinds, strict=True):
            if number != NOT_A_TENSOR:
                self.whole.add(number)
                if number not in function.writable_arguments:
                    self._read_only[number] = kinds.get(kind, Reason.NOT_WRITABLE_INPUT)

    def read_only(self, value: int) -> Reason | None:
        """Why the value's buffer must not be written, or None if it may."""
        return self._read_only.get(value)

    def step(self, op: OpRecord, in_place: dict[int, bool]) -> None:
        """Records what the op's results are; `in_place` says so for each tied operand."""
        ties = {result: operand for operand, result in op.facts.ties}
        views = {result: operand for operand, result in op.facts.views}
        for result, value in enumerate(op.results):
            if value == NOT_A_TENSOR:
                continue
            if result in op.facts.constants:
                self._read_only[value] = Reason.NOT_WRITABLE_CONSTANT
                self.whole.add(value)
            elif result in op.facts.undefined:
                self.undefined.add(value)
                self.whole.add(value)
            elif result in views:
                self._follow(op.operands[views[result]], value, (views[result], result) in op.facts.whole_views)
            elif result in ties and in_place.get(ties[result], False):
                self._follow(op.operands[ties[result]], value, True)
                self.undefined.discard(value)
            else:
                self.whole.add(value)

    def _follow(self, source: int, value: int, entirely: bool) -> None:
        reason = self._read_only.get(source)
        if reason is not None:
            self._read_only[value] = reason
        if source in self.undefined:
            self.undefined.add(value)
        if source in self.whole and entirely:
            self.whole.add(value)


def conflict_of(
    op: OpRecord, operand: int, value: int, readers: Readers, state: BufferState
) -> tuple[Reason, int | None] | None:
    """Why `op` must not write into `value`'s buffer as its `operand` (rules 1 to 5), or None if it may."""
    taken = state.taken.get(readers.root[value])
    if taken is not None:
        return Reason.ALREADY_OVERWRITTEN, taken
    if value in state.undefined and not readers.reads_at(value, op.number):
        return None
    reason = state.read_only(value)
    if reason is not None:
        return reason, None
    last = readers.last_read(value)
    if last is not None and last[0] > op.number:
        return Reason.READ_LATER, last[0]
    for reading in readers.reads_at(value, op.number):
        if reading == operand:
            continue
        if reading == -1 or reading not in op.facts.elementwise or op.operands[reading] != value:
            return Reason.READ_BY_SAME_OP, op.number
    return None
