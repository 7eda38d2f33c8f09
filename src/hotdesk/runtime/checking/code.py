"""Programs made ready to run: each op becomes a function of a frame, once, so that a loop does not read IR again.

A frame has a slot for each SSA value of a function; a call gets a frame of its own, so recursion works. What an op means is a
*meaning*: a function that reads the op (`Reading`) and returns its step. A region runs from its first block to a terminator that
leaves it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from hotdesk._bindings import ir
from hotdesk.errors import LoweringError
from hotdesk.explain import Source
from hotdesk.ir.locations import placed, python_line
from hotdesk.ir.types import DYNAMIC
from hotdesk.ir.walking import segment_sizes
from hotdesk.runtime.checking.attributes import integers, split
from hotdesk.runtime.checking.elements import Value

if TYPE_CHECKING:
    from hotdesk.runtime.checking.machine import Machine
    from hotdesk.runtime.checking.named import Expansion

Frame: TypeAlias = "list[Value]"
Step: TypeAlias = Callable[[Frame], None]
LEAVE = -1
"""The block number of a terminator that leaves its region."""
End: TypeAlias = "Callable[[Frame], tuple[int, list[Value]]]"
"""Which block comes next, and what it is given."""
Meaning: TypeAlias = "Callable[[Reading], Step]"


@dataclass(slots=True)
class _Block:
    arguments: tuple[int, ...]
    steps: tuple[Step, ...]
    end: End
    passed: tuple[int, ...]


@dataclass(slots=True)
class Region:
    """Blocks ready to run; `arguments` are the slots of the first one's."""

    machine: Machine
    blocks: tuple[_Block, ...]

    @property
    def arguments(self) -> tuple[int, ...]:
        return self.blocks[0].arguments

    @property
    def passed(self) -> tuple[tuple[int, ...], ...]:
        """The slots that each terminator passes on, of those that leave the region."""
        return tuple(block.passed for block in self.blocks)

    def run(self, frame: Frame, given: Sequence[Value] = ()) -> list[Value]:
        """Runs the region; returns the operands of the terminator that leaves it."""
        if not self.blocks:
            return []
        block, values = self.blocks[0], list(given)
        while True:
            self.machine.count()
            for slot, value in zip(block.arguments, values, strict=True):
                frame[slot] = value
            for step in block.steps:
                step(frame)
            following, values = block.end(frame)
            if following == LEAVE:
                return values
            block = self.blocks[following]


class Reading:
    """One op, while it is made ready."""

    __slots__ = ("at", "code", "name", "op", "operands", "results")

    def __init__(self, op: ir.Operation, code: Code, at: Source | None = None) -> None:
        """`at` is where the op comes from, if it stands for another one."""
        self.op = op
        self.code = code
        self.name = op.name
        self.at = at or Source(op.name, python_line(op.location))
        self.operands = tuple(code.slot(v) for v in op.operands)
        self.results = tuple(code.slot(v) for v in op.results)

    @property
    def machine(self) -> Machine:
        return self.code.machine

    def region(self, number: int) -> Region:
        return self.code.region(self.op.regions[number])

    def regions(self) -> tuple[Region, ...]:
        return tuple(self.code.region(region) for region in self.op.regions)

    def operand_type(self, number: int) -> Any:
        return self.op.operands[number].type

    def result_type(self, number: int = 0) -> Any:
        return self.op.results[number].type

    def has(self, attribute: str) -> bool:
        return attribute in self.op.attributes

    def attribute(self, name: str) -> Any:
        return self.op.attributes[name]

    def integers(self, name: str) -> tuple[int, ...]:
        return integers(self.op.attributes[name])

    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The slots of the operands by `operandSegmentSizes`."""
        return split(self.operands, segment_sizes(self.op))

    def mixed(self, name: str, slots: Sequence[int]) -> Callable[[Frame], list[int]]:
        """Numbers of which some are in an attribute and the others in slots."""
        static, rest = self.integers(name), iter(slots)
        parts = [(False, next(rest)) if number == DYNAMIC else (True, number) for number in static]
        if all(known for known, _ in parts):
            return lambda frame: list(static)
        defined, at = self.machine.defined, self.at

        def values(frame: Frame) -> list[int]:
            return [part if known else int(defined(frame[part], at)) for known, part in parts]

        return values

    def dynamic_sizes(self, value_type: Any, slots: Sequence[int]) -> Callable[[Frame], list[int]]:
        """The sizes of a memref of a type, those it leaves open from slots."""
        rest = iter(slots)
        parts = [
            (False, next(rest)) if value_type.is_dynamic_dim(i) else (True, int(value_type.get_dim_size(i)))
            for i in range(value_type.rank)
        ]
        defined, at = self.machine.defined, self.at

        def values(frame: Frame) -> list[int]:
            return [part if known else int(defined(frame[part], at)) for known, part in parts]

        return values


class Code:
    """One function, while it is made ready."""

    def __init__(
        self, machine: Machine, meanings: Mapping[str, Meaning], expansions: Mapping[ir.Operation, Expansion]
    ) -> None:
        """`expansions` are what structured ops of the program were turned into. `joined` are the slots outside of all ops with
        regions that control flow gives one of several values."""
        self.machine = machine
        self._meanings = meanings
        self._expansions = expansions
        self.joined: set[int] = set()
        self._passed: dict[int, list[int]] = {}
        self._depth = 0
        self._slots: dict[ir.Value, int] = {}
        self._count = 0

    @property
    def size(self) -> int:
        """How many slots a frame has."""
        return self._count

    def slot(self, value: ir.Value) -> int:
        slot = self._slots.get(value)
        if slot is None:
            slot = self._slots[value] = self._count
            self._count += 1
        return slot

    def region(self, region: ir.Region) -> Region:
        numbers = {block: number for number, block in enumerate(region.blocks)}
        self._depth += 1
        blocks = tuple(self._block(block, numbers) for block in region.blocks)
        self._depth -= 1
        return Region(self.machine, blocks)

    def join(self, sources: Sequence[int], targets: Sequence[int]) -> None:
        """Each target is what one of several values is passed on as, its source among them."""
        self.cast(sources, targets)
        if self._depth == 1:
            self.joined.update(targets)

    def cast(self, sources: Sequence[int], targets: Sequence[int]) -> None:
        """Each target is its source under another type."""
        for source, target in zip(sources, targets, strict=True):
            self._passed.setdefault(source, []).append(target)

    def following(self, slot: int) -> set[int]:
        """The slots that a value may be passed on to, itself among them."""
        found, waiting = {slot}, [slot]
        while waiting:
            new = set(self._passed.get(waiting.pop(), ())) - found
            found |= new
            waiting += new
        return found

    def _block(self, block: ir.Block, numbers: Mapping[ir.Block, int]) -> _Block:
        arguments = tuple(self.slot(argument) for argument in block.arguments)
        ops = [op.operation for op in block.operations]
        if not ops or not _ends(ops[-1]):
            return _Block(arguments, tuple(map(self._step, ops)), _leave_with_nothing, ())
        leaves = not len(ops[-1].successors)
        passed = tuple(self.slot(value) for value in ops[-1].operands) if leaves else ()
        return _Block(arguments, tuple(map(self._step, ops[:-1])), self._end(ops[-1], numbers), passed)

    def _step(self, op: ir.Operation) -> Step:
        expansion, at = self._expansions.get(op), Source(op.name, python_line(op.location))
        if expansion is not None and expansion.generic is None:
            return self._inlined(expansion)
        if expansion is not None and expansion.generic is not None:
            op = expansion.generic
            for argument, value in expansion.values:
                self._slots[argument] = self.slot(value)
        reading = Reading(op, self, at)
        meaning = self._meanings.get(op.name)
        with placed(op.location):
            return unknown(reading) if meaning is None else meaning(reading)

    def _inlined(self, expansion: Expansion) -> Step:
        """Runs the body of a function in the frame of this one."""
        body, slots = self.region(expansion.function.regions[0]), [self.slot(value) for _, value in expansion.values]

        def step(frame: Frame) -> None:
            body.run(frame, [frame[slot] for slot in slots])

        return step

    def _end(self, op: ir.Operation, numbers: Mapping[ir.Block, int]) -> End:
        from hotdesk.runtime.checking.branches import BRANCHES

        reading = Reading(op, self)
        if op.name in BRANCHES:
            return BRANCHES[op.name](reading, [numbers[block] for block in op.successors])
        slots = reading.operands
        if op.name == "func.return":
            return _returning(reading)
        return lambda frame: (LEAVE, [frame[slot] for slot in slots])


def _returning(reading: Reading) -> End:
    machine, slots, at = reading.machine, reading.operands, reading.at

    def end(frame: Frame) -> tuple[int, list[Value]]:
        machine.returned = at
        return LEAVE, [frame[slot] for slot in slots]

    return end


def _leave_with_nothing(frame: Frame) -> tuple[int, list[Value]]:
    return LEAVE, []


def _ends(op: ir.Operation) -> bool:
    """Whether an op ends a block. The bindings do not tell traits, so the names are listed."""
    return op.name in _TERMINATORS or len(op.successors) > 0


_TERMINATORS = frozenset(
    {
        "func.return", "scf.yield", "scf.condition", "scf.reduce", "scf.reduce.return", "scf.forall.in_parallel",
        "linalg.yield", "memref.alloca_scope.return", "memref.atomic_yield", "shape.assuming_yield",
        "tm_tensor.yield", "vector.yield",
    }
)  # fmt: skip


def unknown(reading: Reading) -> Step:
    """The step of an op that the checker does not know: an error. Runs only if the program comes there."""
    at = reading.at

    def step(frame: Frame) -> None:
        raise LoweringError(
            f"the memory checker does not know op `{at.op}`",
            expected="ops on memrefs and scalars",
            got=at.op,
            where=at.location or None,
        )

    return step
