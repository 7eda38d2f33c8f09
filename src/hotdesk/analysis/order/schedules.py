"""Reads a block as a scheduling problem: which of its operations may run in another order, and what memory they take.

Operations that make no buffer (views, scalars, constants, `tensor.empty`) are no tasks. The others are, and keep these orders:

1. Every operation follows what makes its operands, and what its regions use of the block.
2. Operations with effects keep their order, and what stood below one stays below it: a check may protect it.
3. Nothing crosses an operation that works on memory, or of which nothing is known, in either direction.

Sizes and displacements are an estimate of what bufferization will do: a tied operand that dies gives its memory to the result,
and so does one that is read element by element if the destination has no contents. An argument that may not be overwritten, and
what is returned in the caller's memory, counts as nothing; so does a chain of results that ends there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hotdesk._bindings import ir
from hotdesk.analysis.tensors.program import NOT_A_TENSOR, OpRecord, TensorProgram
from hotdesk.analysis.tensors.reading import read_function
from hotdesk.errors import BufferizationError
from hotdesk.graphs import reached
from hotdesk.ir.walking import values_read
from hotdesk.models.facts import Facts
from hotdesk.models.func import RETURN
from hotdesk.models.model import OpModel
from hotdesk.models.purity import is_ordered, is_pure
from hotdesk.models.registry import choosing
from hotdesk.planning.scheduling.problem import ScheduleProblem, Task
from hotdesk.program.records import Block
from hotdesk.sizes.size import Size, evaluate, symbols_of

_UNKNOWN = OpModel(lambda op: Facts())

ASSUMED = 256
"""Elements that a size counts as that is not known."""


def read_all(function: ir.Operation) -> TensorProgram | None:
    """Reads a function, ops of which nothing is known too; None if an element type has no size."""
    try:
        with choosing(lambda name, model: _UNKNOWN if model is None else model):
            return read_function(function)
    except BufferizationError:
        return None


def used_in_other_blocks(function: TensorProgram) -> frozenset[int]:
    """The tensors that are used where their block has ended."""
    homes = [function.blocks[value.block] for value in function.values]
    return frozenset(
        value
        for op in function.ops
        for value in (*op.operands, *op.captured)
        if value != NOT_A_TENSOR and not homes[value].first <= op.number < homes[value].end
    )


def read_stretch(
    function: TensorProgram,
    block: Block,
    inner: Mapping[int, int],
    elsewhere: frozenset[int],
    assumed: int,
    *,
    returned: bool,
) -> Stretch:
    """Reads a block of a function.

    `elsewhere` are the tensors that are used in other blocks than their own, `inner` the bytes that the regions of an op need at
    their peak, by the op's number. Every symbol in a size counts as `assumed`. With `returned`, results of the function lie in
    memory of its own, not the caller's.
    """
    reading = _Reading(function, block, inner)
    for position in range(len(reading.body)):
        reading.read(position)
    return reading.stretch(elsewhere, assumed, returned)


@dataclass(slots=True)
class _Open:
    """A task that is being read."""

    operands: tuple[int, ...]
    results: tuple[int, ...]
    displacements: list[tuple[int, int]]
    after: set[int]
    scratch: int


class _Reading:
    def __init__(self, function: TensorProgram, block: Block, inner: Mapping[int, int]) -> None:
        ops = [op for op in function.ops[block.first : block.end] if op.block == block.number]
        self.body, self._last = ops[:-1], ops[-1]
        self._function = function
        self._block = block
        self._inner = inner
        self._bytes: list[Size] = []
        self._roots: dict[int, tuple[int, bool]] = {}  # of a tensor: the value it lies in, and whether it is all of it
        self._unset: set[int] = set()  # tensors without contents
        self._places: dict[ir.Value, int] = {}  # the position of what makes a value
        self._light: list[tuple[int, ...]] = []
        self._behind: list[frozenset[int]] = []  # the tasks behind what an operation makes
        self._tasks: dict[int, _Open] = {}  # by position
        self._fences: list[int] = []
        self._ordered: int | None = None  # the last task with effects
        owned = function.writable_arguments if block.parent < 0 else block.arguments
        for value in sorted(owned):
            if value != NOT_A_TENSOR:
                self._add(value)

    def read(self, position: int) -> None:
        """Reads the next operation of the block."""
        op = self.body[position]
        used = values_read(op.operation)
        needed = sorted({self._places[value] for value in used if value in self._places})
        self._light.append(tuple(each for each in needed if each not in self._tasks))
        behind = frozenset[int]().union(*(self._behind[each] for each in needed))
        self._places.update((result, position) for result in op.operation.results)
        pure = is_pure(op.operation)
        if pure and _makes_nothing(op):
            self._behind.append(behind)
            self._see(op)
            return
        number = len(self._tasks)
        self._behind.append(frozenset({number}))
        self._tasks[position] = self._task(op, behind)
        if not pure:
            self._keep_in_order(op, number, self._tasks[position])

    def stretch(self, elsewhere: frozenset[int], assumed: int, returned: bool) -> Stretch:
        """What was read."""
        kept, lent = self._outliving(elsewhere, returned)
        sizes = tuple(0 if value in lent else size for value, size in enumerate(self._bytes))
        numbers = tuple(as_number(size, assumed) for size in sizes)
        tasks = (
            Task(
                task.operands,
                task.results,
                tuple((r, o) for r, o in task.displacements if sizes[r] == sizes[o]),
                tuple(sorted(task.after)),
                task.scratch,
            )
            for task in self._tasks.values()
        )
        return Stretch(
            tuple(op.operation for op in self.body),
            tuple(self._tasks),
            tuple(self._light),
            frozenset(self._fences),
            ScheduleProblem(tuple(tasks), numbers, kept),
            sizes,
        )

    def _add(self, value: int) -> int:
        self._bytes.append(self._function.values[value].bytes)
        self._roots[value] = len(self._bytes) - 1, True
        return len(self._bytes) - 1

    def _see(self, op: OpRecord) -> None:
        """Views lie where their operand does."""
        for operand, result in op.facts.views:
            root, whole = self._roots.get(op.operands[operand], (None, False))
            if root is not None:
                self._roots[op.results[result]] = root, whole and (operand, result) in op.facts.whole_views
            if op.operands[operand] in self._unset:
                self._unset.add(op.results[result])
        self._unset.update(op.results[result] for result in op.facts.undefined)

    def _task(self, op: OpRecord, behind: frozenset[int]) -> _Open:
        inside = self._function.ops[op.number : op.end]
        used = dict.fromkeys(value for each in inside for value in (*each.operands, *each.captured))
        operands = tuple(dict.fromkeys(self._roots[value][0] for value in used if value in self._roots))
        results = {i: self._add(value) for i, value in enumerate(op.results) if value != NOT_A_TENSOR}
        displacements = [
            (results[result], root) for operand, result in _hosts(op, self._unset)
            if (root := self._whole(op.operands[operand], op.results[result])) is not None
        ]  # fmt: skip
        fixed = {self._ordered} if self._ordered is not None else set[int]()
        return _Open(
            operands,
            tuple(results.values()),
            list(dict.fromkeys(displacements)),
            {*behind, *fixed},
            self._inner.get(op.number, 0),
        )

    def _whole(self, operand: int, result: int) -> int | None:
        """The value that a tensor is all of, if the result of that number would fill it."""
        root, whole = self._roots.get(operand, (None, False))
        return root if whole and self._function.values[result].bytes == self._function.values[operand].bytes else None

    def _keep_in_order(self, op: OpRecord, number: int, task: _Open) -> None:
        self._ordered = number
        if not is_ordered(op.operation):
            first = self._fences[-1] if self._fences else 0
            task.after.update(range(first, number))
            self._fences.append(number)

    def _outliving(self, elsewhere: frozenset[int], returned: bool) -> tuple[frozenset[int], set[int]]:
        """The values that are wanted after the block, and those that lie in the caller's memory."""
        passed = (*self._last.operands, *self._last.captured)
        wanted = (value for value in self._roots if value in elsewhere)
        kept = frozenset(self._roots[value][0] for value in (*passed, *wanted) if value in self._roots)
        if returned or self._last.name != RETURN:
            return kept, set()
        values = (self._roots[value] for value in self._last.operands if value in self._roots)
        lent = {root for root, whole in values if whole}
        readers: dict[int, int] = {}
        for task in self._tasks.values():
            for value in task.operands:
                readers[value] = readers.get(value, 0) + 1
        for task in reversed(self._tasks.values()):
            for result in task.results:
                hosts = (o for r, o in task.displacements if r == result and readers[o] == 1 and o not in kept)
                host = next(hosts, None) if result in lent else None
                lent.update(() if host is None else (host,))
        return kept, lent


def _makes_nothing(op: OpRecord) -> bool:
    """Whether none of the results is memory that the operation writes."""
    if op.flow is not None:
        return False
    other = {result for _, result in op.facts.views} | op.facts.undefined | op.facts.constants
    return all(result in other for result, value in enumerate(op.results) if value != NOT_A_TENSOR)


def _hosts(op: OpRecord, unset: set[int]) -> list[tuple[int, int]]:
    """(operand, result) pairs: the result could be written where the operand lies."""
    pairs = list(op.flow.carried) if op.flow is not None else []
    for operand, result in op.facts.ties:
        if op.operands[operand] not in unset:
            pairs.append((operand, result))
        else:
            pairs += [(other, result) for other in sorted(op.facts.reads & op.facts.elementwise)]
    return [(o, r) for o, r in pairs if NOT_A_TENSOR not in (op.operands[o], op.results[r])]


def as_number(size: Size, assumed: int) -> int:
    """A size with every symbol as `assumed`; 0 if it is less."""
    return size if isinstance(size, int) else max(0, evaluate(size, dict.fromkeys(symbols_of(size), assumed)))


@dataclass(frozen=True, slots=True)
class Stretch:
    """The operations of a block, without the terminator, and the problem of ordering those that are tasks.

    Attributes:
        operations: in the order of the text.
        tasks: positions in `operations`, one for each task of `problem`.
        light: for each position, the positions of the operations that are no tasks and that it needs directly.
        fences: tasks that nothing crosses.
        problem: with sizes as numbers of bytes.
        sizes: of its values, as they are.
    """

    operations: tuple[ir.Operation, ...]
    tasks: tuple[int, ...]
    light: tuple[tuple[int, ...], ...]
    fences: frozenset[int]
    problem: ScheduleProblem
    sizes: tuple[Size, ...]

    def arranged(self, order: Sequence[int]) -> tuple[int, ...]:
        """Positions of all operations for an order of the tasks.

        What is no task goes right before the first task that needs it; at a fence, and at the end, come those left.
        """
        tasks, placed = set(self.tasks), dict[int, None]()
        left = [position for position in range(len(self.operations)) if position not in tasks][::-1]
        for task in order:
            position = self.tasks[task]
            if task in self.fences:
                while left and left[-1] < position:
                    self._place(left.pop(), placed)
            self._place(position, placed)
        while left:
            self._place(left.pop(), placed)
        return tuple(placed)

    def _place(self, position: int, placed: dict[int, None]) -> None:
        needed = reached([position], lambda each: [other for other in self.light[each] if other not in placed])
        placed.update((each, None) for each in sorted(needed))
