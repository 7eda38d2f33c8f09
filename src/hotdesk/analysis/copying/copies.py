"""Copies between memrefs, and what touches the memory that they are about.

Memory is told apart by *classes*: each allocation that no op keeps a pointer to is one; all else is `FOREIGN`: arguments,
globals, what is kept, and what is not known. An op of which it is not known what it does touches what it has as operands, and all
that is foreign. Op numbers are those of `analysis.memrefs.buffer_program`: what is between two ops of a block has numbers between
theirs.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hotdesk._bindings import ir
from hotdesk.analysis.allocations.freeing_calls import FreeingCalls
from hotdesk.analysis.allocations.ranges import is_touching
from hotdesk.analysis.allocations.uses import Allocation, Allocations
from hotdesk.analysis.memrefs.buffer_program import FUNCTION, BufferOp, Kind
from hotdesk.ir.walking import dialect_of
from hotdesk.models.func import RETURN
from hotdesk.models.memory_effects import copy_of, effects_of
from hotdesk.models.new_memory import freed
from hotdesk.program.op_ranges import between

FOREIGN = -1
_KNOWN = ("cf", "scf", "affine", "linalg")
"""Dialects whose ops touch nothing but their operands."""


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy: its op, and the memrefs that it reads and writes, all by number."""

    op: int
    source: int
    target: int


class MemoryClasses:
    """The memory of one function by classes; the IR must not change meanwhile."""

    def __init__(self, function: ir.Operation, freeing: FreeingCalls | None = None) -> None:
        self.allocations = Allocations(function, freeing)
        self.program = self.allocations.program
        self.owners: dict[int, Allocation] = {a.buffer: a for a in self.allocations.all if not a.keepers}
        self._classes = [
            frozenset(origin if origin in self.owners else FOREIGN for origin in self.allocations.origins.of[b.number])
            for b in self.program.buffers
        ]
        self._touching: dict[int, list[int]] = {}
        self._writing: dict[int, list[int]] = {}
        self._freeing: dict[int, list[int]] = {}
        self.copies: list[Copy] = []
        used: list[list[int]] = [[] for _ in self.program.ops]
        for buffer, users in enumerate(self.program.users):
            for user in users:
                used[user].append(buffer)
        for op in self.program.ops:
            self._read(op, used[op.number])

    def classes(self, buffer: int) -> frozenset[int]:
        """The classes of the memory that a memref may show."""
        return self._classes[buffer]

    def owner(self, buffer: int) -> Allocation | None:
        """The allocation that a memref is, or is a view of, for certain."""
        classes = self._classes[buffer]
        return self.owners.get(next(iter(classes))) if len(classes) == 1 else None

    def touching(self, classes: Iterable[int], first: int, end: int) -> list[int]:
        """The ops from `first` to `end`, half open, that may read or write memory of these classes."""
        return sorted({op for each in classes for op in between(self._touching.get(each, ()), first, end)})

    def writing(self, classes: Iterable[int], first: int, end: int) -> list[int]:
        """The ops from `first` to `end`, half open, that may write memory of these classes."""
        return sorted({op for each in classes for op in between(self._writing.get(each, ()), first, end)})

    def next_touching(self, classes: Iterable[int], first: int, end: int) -> int | None:
        """The first of the ops that `touching` tells, None if there are none; costs the same however many there are."""
        found = [next(iter(_from(self._touching.get(each, ()), first, end)), None) for each in classes]
        return min((op for op in found if op is not None), default=None)

    def freeing(self, classes: Iterable[int], first: int, end: int) -> list[int]:
        """The ops from `first` to `end`, half open, that may free memory of these classes."""
        return sorted({op for each in classes for op in between(self._freeing.get(each, ()), first, end)})

    def touched(self, op: int, classes: frozenset[int]) -> list[ir.Value] | None:
        """The memrefs of these classes that an op reads or writes; None if that is not known."""
        effects = effects_of(self.program.ops[op].operation)
        if effects is None:
            return None
        return [value for value in (*effects.reads, *effects.writes) if self.classes_of(value) & classes]

    def is_viewed_only(self, allocation: Allocation) -> bool:
        """Whether all aliases are views of the allocation, none of them passed on by control flow or a choice."""
        kinds = (self.program.buffers[alias].kind for alias in allocation.aliases if alias != allocation.buffer)
        ends = (self._passes_on(self.program.ops[user]) for user in allocation.users)
        return all(kind is Kind.VIEW for kind in kinds) and not any(ends)

    def leaves(self, allocation: Allocation) -> bool:
        """Whether an alias is handed out of the block of the allocation."""
        home = self.program.ops[allocation.op].block
        last = self.program.blocks[home].last
        return last in allocation.users or any(
            self.allocations.program.within(user, home) is None for user in allocation.users
        )

    def _passes_on(self, op: BufferOp) -> bool:
        block = self.program.blocks[op.block]
        return op.control or (block.last == op.number and not is_touching(self.allocations, op)) or op.name == RETURN

    def classes_of(self, value: ir.Value) -> frozenset[int]:
        """The classes of a value's memory."""
        number = self.program.numbers.get(value)
        return frozenset({FOREIGN}) if number is None else self._classes[number]

    def _read(self, op: BufferOp, used: Sequence[int]) -> None:
        """Notes what an op touches: `used` are its operands, and what its payload uses."""
        found: set[int] = set()
        if used and is_touching(self.allocations, op):
            found.update(*(self._classes[number] for number in used))
        if not self._is_known(op):
            found.add(FOREIGN)
        effects = effects_of(op.operation) if found else None
        written = found if effects is None else {each for v in effects.writes for each in self.classes_of(v)}
        for each in found:
            self._touching.setdefault(each, []).append(op.number)
        for each in written:
            self._writing.setdefault(each, []).append(op.number)
        for position in freed(op.operation) if used else ():
            for each in self._classes[op.operands[position]]:
                self._freeing.setdefault(each, []).append(op.number)
        copied = copy_of(op.operation)
        if copied is not None:
            self.copies.append(Copy(op.number, op.operands[copied[0]], op.operands[copied[1]]))

    def _is_known(self, op: BufferOp) -> bool:
        if op.control or op.name == RETURN or dialect_of(op.name) in _KNOWN:
            return True
        block = self.program.blocks[op.block]
        ends_control = block.last == op.number and (block.parent == FUNCTION or self.program.ops[block.parent].control)
        is_view = bool(op.results) and all(r >= 0 and self.program.buffers[r].kind is Kind.VIEW for r in op.results)
        return ends_control or is_view or effects_of(op.operation) is not None


def _from(numbers: Sequence[int], first: int, end: int) -> Sequence[int]:
    """The first of some ordered numbers from `first` on, if it is below `end`."""
    at = bisect_left(numbers, first)
    return numbers[at : at + 1] if at < len(numbers) and numbers[at] < end else ()
