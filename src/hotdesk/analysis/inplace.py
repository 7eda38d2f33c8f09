"""Which results overwrite their operands: read-after-write conflicts over views, for straight-line code.

A *contents group* is a tensor together with every view of it, now or later in the program: all of them show the same contents.
Writing into an operand's buffer replaces the contents of its group, so an op may write in place iff:

1. the buffer may be written: it is no constant, no weight, and no argument that was not donated;
2. no op after it reads a member of the group (the result is a group of its own, with the new contents);
3. the op itself reads the group only through the written operand, or through an operand that is the very same value and is
   read element by element at the element about to be written;
4. or the contents are undefined, and nobody could miss them;
5. and no earlier op has written in place into the group: its buffer holds that op's result now.

Contents that earlier writes into the same buffer replaced need no check: rule 2 held when they were replaced, so nobody reads
them any more. Decisions are taken in program order; each costs the readers of one group, so the analysis is linear in uses.

Not covered: branches and loops; disjoint slices of one buffer (a write to a slice conflicts with every later read of the whole).
"""

from __future__ import annotations

from dataclasses import dataclass

from hotdesk.analysis.program import NOT_A_TENSOR, FunctionRecord, OpRecord
from hotdesk.explain import Reason


@dataclass(frozen=True, slots=True)
class OperandDecision:
    """Whether a tied operand is written in place. `conflict` is the op number of the read that forbids it."""

    op: int
    operand: int
    in_place: bool
    reason: Reason
    conflict: int | None = None


@dataclass(frozen=True, slots=True)
class InPlaceAnalysis:
    """The decisions of a function in program order, by (op, operand) too."""

    decisions: tuple[OperandDecision, ...]
    by_operand: dict[tuple[int, int], OperandDecision]


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


def analyse_in_place(function: FunctionRecord) -> InPlaceAnalysis:
    """Decides every tied operand of a function, in program order."""
    readers = find_readers(function)
    state = BufferState(function)
    decisions: list[OperandDecision] = []
    for op in function.ops:
        in_place: dict[int, bool] = {}
        for operand, _ in op.facts.ties:
            value = op.operands[operand]
            conflict = conflict_of(op, operand, value, readers, state)
            in_place[operand] = conflict is None
            if conflict is None:
                state.taken[readers.root[value]] = op.number
                reason = Reason.OVERWRITTEN_UNREAD if value in state.undefined else Reason.DIES_HERE
                decisions.append(OperandDecision(op.number, operand, True, reason))
            else:
                decisions.append(OperandDecision(op.number, operand, False, *conflict))
        state.step(op, in_place)
    return InPlaceAnalysis(tuple(decisions), {(d.op, d.operand): d for d in decisions})
