"""The interpreter: each op of a function becomes a Python function of a frame, once, so that a loop does not read IR again.

    Interpreter      one run of a module: its functions and globals, its memory and stack, what was found
    FunctionReader   a function while it is made ready; gives each SSA value a slot of the frame
    OpReader         an op while it is made ready: slots of its operands and results, attributes, regions
    Region           blocks that are ready to run

A call gets a frame of its own, so recursion works. What an op does is its *implementation* (`dialects`): a function that takes an
`OpReader` and returns a step, a function of the frame. A region runs from its first block to a terminator that leaves it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

import numpy as np

from hotdesk._bindings import ir
from hotdesk.checker.attributes import dense, integers, split
from hotdesk.checker.buffers import CheckedArena, CheckedBuffer, MemRef
from hotdesk.checker.expansions import Expansion, Expansions
from hotdesk.checker.findings import Findings
from hotdesk.checker.memory import AddressSpace
from hotdesk.checker.parameters import Parameter, parameters
from hotdesk.checker.report import FaultKind
from hotdesk.checker.values import Unwritten, Value, dtype_of, xp
from hotdesk.errors import ExecutionError, LoweringError
from hotdesk.explain import Source
from hotdesk.graphs import reached
from hotdesk.ir.locations import placed, python_line, source_of
from hotdesk.ir.op_maps import OpMap
from hotdesk.ir.types import DYNAMIC, is_tensor, shape_of
from hotdesk.ir.walking import is_function, segment_sizes, symbol_name
from hotdesk.models.scf import LOOPS_AND_BRANCHES

Frame: TypeAlias = "list[Value]"
Step: TypeAlias = Callable[[Frame], None]
LEAVE = -1
"""The block number of a terminator that leaves its region."""
End: TypeAlias = "Callable[[Frame], tuple[int, list[Value]]]"
"""Which block comes next, and what it is given."""
Implementation: TypeAlias = "Callable[[OpReader], Step]"
Terminator: TypeAlias = "Callable[[OpReader, Sequence[int]], End]"
"""Makes the end of a block, whose successors have these numbers."""

_PASSES_TENSORS = frozenset(
    (*LOOPS_AND_BRANCHES, "arith.select", "func.call", "bufferization.to_buffer", "bufferization.to_tensor")
)
"""Ops that pass on tensors, which stand for the memory they are read from."""
_DEPTH = 20_000  # Python frames; a call of the program takes about six


@dataclass(frozen=True, slots=True)
class Dialects:
    """What ops do, and what terminators do, by name."""

    ops: Mapping[str, Implementation]
    terminators: Mapping[str, Terminator]


@dataclass(frozen=True, slots=True)
class Settings:
    """How strict the checker is.

    Attributes:
        deallocated: whether the program is to free what it allocates and to own what it returns; off for a program whose
            deallocations are still to be inserted.
        undefined: `refuse` tells of every computation on memory that nobody wrote and of results that nobody wrote; `carry`
            lets them pass as long as no branch, index or size depends on them.
        arenas: whether each `memref.view` of bytes on the heap is a buffer of its own, which no other view may overwrite while it
            is wanted. AddressSpace that is marked with `hotdesk.arena` is always taken so.
        steps: blocks that run before the program counts as one that does not end.
        poison: the byte that memory is filled with as long as nobody has written it.
        calls: what foreign calls run, by name: functions of inputs, numbers, and arrays for the results.
    """

    deallocated: bool = True
    undefined: str = "refuse"
    arenas: bool = False
    steps: int = 50_000_000
    poison: int = 0xFF
    calls: Mapping[str, Callable[[Sequence[Any], Sequence[int], Sequence[Any]], None]] = field(
        default_factory=dict[str, Any]
    )


@dataclass(slots=True)
class _ReadyBlock:
    arguments: tuple[int, ...]
    steps: tuple[Step, ...]
    end: End
    passed: tuple[int, ...] | None  # the slots that leave the region here; None where the block goes on to another one


@dataclass(slots=True)
class Region:
    """Blocks ready to run; `arguments` are the slots of the first one's."""

    interpreter: Interpreter
    blocks: tuple[_ReadyBlock, ...]

    @property
    def arguments(self) -> tuple[int, ...]:
        return self.blocks[0].arguments

    @property
    def passed(self) -> tuple[tuple[int, ...], ...]:
        """The slots that each terminator passes on, of those that leave the region."""
        return tuple(block.passed for block in self.blocks if block.passed is not None)

    def run(self, frame: Frame, given: Sequence[Value] = ()) -> list[Value]:
        """Runs the region; returns the operands of the terminator that leaves it."""
        if not self.blocks:
            return []
        block, values = self.blocks[0], list(given)
        while True:
            self.interpreter.count()
            for slot, value in zip(block.arguments, values, strict=True):
                frame[slot] = value
            for step in block.steps:
                step(frame)
            following, values = block.end(frame)
            if following == LEAVE:
                return values
            block = self.blocks[following]


class OpReader:
    """One op, while it is made ready."""

    __slots__ = ("at", "function", "name", "op", "operands", "results")

    def __init__(self, op: ir.Operation, function: FunctionReader, at: Source | None = None) -> None:
        """`at` is where the op comes from, if it stands for another one."""
        self.op = op
        self.function = function
        self.name = op.name
        self.at = at or source_of(op)
        self.operands = tuple(function.slot(v) for v in op.operands)
        self.results = tuple(function.slot(v) for v in op.results)

    @property
    def interpreter(self) -> Interpreter:
        return self.function.interpreter

    def region(self, number: int) -> Region:
        return self.function.region(self.op.regions[number])

    def regions(self) -> tuple[Region, ...]:
        return tuple(self.function.region(region) for region in self.op.regions)

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
        return self._filled([None if number == DYNAMIC else number for number in self.integers(name)], slots)

    def dynamic_sizes(self, value_type: Any, slots: Sequence[int]) -> Callable[[Frame], list[int]]:
        """The sizes of a memref of a type, those it leaves open from slots."""
        return self._filled(shape_of(value_type), slots)

    def _filled(self, numbers: Sequence[int | None], slots: Sequence[int]) -> Callable[[Frame], list[int]]:
        """Numbers, those that are not known from slots."""
        rest = iter(slots)
        parts = [(False, next(rest)) if number is None else (True, number) for number in numbers]
        if all(known for known, _ in parts):
            return lambda frame: [number for _, number in parts]
        defined, at = self.interpreter.defined, self.at

        def values(frame: Frame) -> list[int]:
            return [part if known else int(defined(frame[part], at)) for known, part in parts]

        return values


class FunctionReader:
    """One function, while it is made ready."""

    def __init__(self, interpreter: Interpreter, dialects: Dialects, expansions: OpMap[Expansion]) -> None:
        """`expansions` are what structured ops of the program were turned into. `joined` are the slots outside of all ops with
        regions that control flow gives one of several values."""
        self.interpreter = interpreter
        self._dialects = dialects
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
        return Region(self.interpreter, blocks)

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
        return {*reached([slot], lambda each: self._passed.get(each, ()))}

    def _block(self, block: ir.Block, numbers: Mapping[ir.Block, int]) -> _ReadyBlock:
        arguments = tuple(self.slot(argument) for argument in block.arguments)
        ops = [op.operation for op in block.operations]
        terminator = self._dialects.terminators.get(ops[-1].name) if ops else None
        if terminator is None:
            return _ReadyBlock(arguments, tuple(map(self._step, ops)), _leave_with_nothing, ())
        last, steps = OpReader(ops[-1], self), tuple(map(self._step, ops[:-1]))
        end = terminator(last, [numbers[following] for following in ops[-1].successors])
        return _ReadyBlock(arguments, steps, end, None if len(ops[-1].successors) else last.operands)

    def _step(self, op: ir.Operation) -> Step:
        expansion, at = self._expansions.get(op), source_of(op)
        if expansion is not None and expansion.generic is None:
            return self._inlined(expansion)
        if expansion is not None and expansion.generic is not None:
            op = expansion.generic
            for argument, value in expansion.values:
                self._slots[argument] = self.slot(value)
        reader, implementation = OpReader(op, self, at), self._dialects.ops.get(op.name)
        if implementation is None or (op.name not in _PASSES_TENSORS and _has_tensors(op)):
            return unknown(reader)
        with placed(op.location):
            return implementation(reader)

    def _inlined(self, expansion: Expansion) -> Step:
        """Runs the body of a function in the frame of this one."""
        body, slots = self.region(expansion.function.regions[0]), [self.slot(value) for _, value in expansion.values]

        def step(frame: Frame) -> None:
            body.run(frame, [frame[slot] for slot in slots])

        return step


def _has_tensors(op: ir.Operation) -> bool:
    return any(is_tensor(value.type) for values in (op.operands, op.results) for value in values)


def _leave_with_nothing(frame: Frame) -> tuple[int, list[Value]]:
    return LEAVE, []


def give(frame: Frame, slots: Sequence[int], values: Sequence[Value]) -> None:
    """Puts values into slots."""
    for slot, value in zip(slots, values, strict=True):
        frame[slot] = value


def leave(reader: OpReader, targets: Sequence[int]) -> End:
    """A terminator that passes its operands on to the op around it."""
    slots = reader.operands
    return lambda frame: (LEAVE, [frame[slot] for slot in slots])


def unknown(reader: OpReader) -> Step:
    """The step of an op that the checker does not know, or not on tensors: an error. Runs only if the program comes there."""
    at, on_tensors = reader.at, _has_tensors(reader.op)

    def step(frame: Frame) -> None:
        raise LoweringError(
            f"the memory checker does not know op `{at.op}`{' on tensors' if on_tensors else ''}",
            expected="ops on memrefs and scalars",
            got=at.op,
            where=at.location,
            hint="Bufferize the program first: `hotdesk-opt --hotdesk-one-shot-bufferize`." if on_tensors else None,
        )

    return step


@dataclass(slots=True)
class _ReadyFunction:
    body: Region
    reader: FunctionReader
    parameters: tuple[Parameter, ...]
    at: Source


class Interpreter:
    """Runs functions of a module."""

    def __init__(self, module: ir.Operation, dialects: Dialects, expansions: Expansions, settings: Settings) -> None:
        self.settings = settings
        self.findings = Findings()
        self.memory = AddressSpace(self.findings, settings.poison)
        self.returned = Source("func.return")
        self.homes = OpMap[tuple[CheckedArena, int]]()
        self.counters: list[Sequence[Any]] = []
        self.masks: list[Value] = []
        self._dialects = dialects
        self._expansions = expansions
        self._module = module  # a copy lives only as long as somebody holds it
        self._symbols = {
            symbol_name(op.operation): op.operation
            for op in module.regions[0].blocks[0].operations
            if "sym_name" in op.operation.attributes
        }
        self._functions: dict[str, _ReadyFunction] = {}
        self._globals: dict[str, MemRef] = {}
        self._scopes: list[list[CheckedBuffer]] = []
        self._steps = 0

    def count(self) -> None:
        """One more block runs."""
        self._steps += 1
        if self._steps > self.settings.steps:
            raise ExecutionError(
                "the program does not end",
                expected=f"at most {self.settings.steps} blocks to run",
                hint="Raise the limit (`--steps` of `hotdesk check`) if it only takes long.",
            )

    # Values

    def defined(self, value: Value, at: Source) -> Any:
        """A value that control, an index or a size depends on."""
        if type(value) is not Unwritten:
            return value
        self.tell(value, at)
        return value.values

    def tell(self, value: Unwritten, at: Source) -> None:
        """Notes that a value was used which nobody has written."""
        count = int(np.sum(value.where))
        what = "an element" if count == 1 else f"{count} elements"
        owner = f" of {value.buffer.name}" if value.buffer is not None else ""
        used = at if at is not value.reader and at.location else None
        self.findings.add(
            FaultKind.UNWRITTEN, value.reader, f"reads {what}{owner} that nobody wrote", value.buffer, used=used
        )

    # Functions

    def function(self, name: str, at: Source | None = None) -> Region:
        """The body of a function, made ready when it is first asked for. Raises LoweringError for a declaration."""
        return self._ready(name, at).body

    def call(self, name: str, arguments: Sequence[Value], at: Source | None = None) -> list[Value]:
        """Runs a function with a frame and a stack of its own; what it returns."""
        function = self._ready(name, at)
        frame: list[Value] = [None] * function.reader.size
        for parameter in function.parameters:
            if parameter.arena:
                self.carve(arguments[parameter.number].buffer)
        with self.scope(at or function.at):
            returned = function.body.run(frame, arguments)
            self._find_misplaced(function, frame, arguments)
            return returned

    def _find_misplaced(self, function: _ReadyFunction, frame: Sequence[Value], arguments: Sequence[Value]) -> None:
        """Results that are said to lie in an argument, and were computed elsewhere.

        Such a result is told if control flow passes the argument on as one of several values, what it passed on is other memory,
        written later than the argument, and nobody has read what was written there.
        """
        for parameter in function.parameters:
            if not parameter.holds:
                continue
            following = function.reader.following(function.body.arguments[parameter.number]) & function.reader.joined
            buffers = [frame[slot].buffer for slot in sorted(following) if isinstance(frame[slot], MemRef)]
            said: CheckedBuffer = arguments[parameter.number].buffer
            if any(buffer is said for buffer in buffers):
                continue
            for buffer in buffers:
                if buffer.read_at < buffer.written_at > said.written_at:
                    number = parameter.holds[0]
                    wrote = "was written before" if said.written_at else "nobody wrote"
                    message = (
                        f"result {number} is said to lie in {said.name}, which {wrote}; it was computed in {buffer.name}, "
                        "which nobody read"
                    )
                    self.findings.add(FaultKind.MISPLACED, self.returned, message, said, other=buffer)
                    break

    def _ready(self, name: str, at: Source | None) -> _ReadyFunction:
        if name not in self._functions:
            op = self._symbols.get(name)
            if op is None or not is_function(op) or not len(op.regions[0].blocks):
                raise LoweringError(
                    f"function @{name}", expected="a function with a body", got="none",
                    where=at.location if at is not None else None,
                    hint="The memory checker runs programs; give it the whole one.",
                )  # fmt: skip
            reader = FunctionReader(self, self._dialects, self._expansions.found)
            body, at = reader.region(op.regions[0]), source_of(op)
            self._functions[name] = _ReadyFunction(body, reader, tuple(parameters(op, False)), at)
        return self._functions[name]

    # Stack

    @contextmanager
    def scope(self, at: Source) -> Generator[None]:
        """What `memref.alloca` makes in here is gone afterwards."""
        self._scopes.append([])
        try:
            yield
        finally:
            for buffer in self._scopes.pop():
                self.memory.bury(buffer, at)

    def scoped(self, run: Callable[[], list[Value]], at: Source) -> list[Value]:
        """`run` in a scope, without the cost of a context manager."""
        self._scopes.append([])
        try:
            return run()
        finally:
            left = self._scopes.pop()
            for buffer in left:
                self.memory.bury(buffer, at)

    def on_stack(self, buffer: CheckedBuffer) -> None:
        """The buffer goes with the innermost scope."""
        self._scopes[-1].append(buffer)

    def carve(self, buffer: CheckedBuffer) -> None:
        """Makes a buffer an arena: each `memref.view` of it is a buffer of its own."""
        buffer.carved = CheckedArena(buffer.name, np.zeros(buffer.size, np.int32))

    # Globals

    def global_view(self, name: str, at: Source) -> MemRef:
        """The memory of a `memref.global`; there is one of each."""
        if name not in self._globals:
            self._globals[name] = self._make_global(self._symbols[name], at)
        return self._globals[name]

    def _make_global(self, op: ir.Operation, at: Source) -> MemRef:
        memref = cast(Any, op.attributes["type"]).value
        sizes, dtype = [int(size) for size in memref.shape], dtype_of(memref)
        source = Source("memref.global", python_line(op.location))
        value = op.attributes.get("initial_value", None)
        written = value is not None and not isinstance(value, ir.UnitAttr)
        values = dense(value, dtype, sizes, source) if written else np.zeros(sizes, dtype)
        data = xp.ascontiguousarray(values).reshape(-1).view(np.uint8)
        name = f"@{symbol_name(op)}"
        constant = "constant" in op.attributes
        buffer = self.memory.hold(data, "global", name, source, written=written, writable=not constant)
        return MemRef.of(buffer, sizes, dtype)


@contextmanager
def deep() -> Generator[None]:
    """Lets programs recurse deeper than Python does by itself."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _DEPTH))
    try:
        yield
    except RecursionError as error:
        raise ExecutionError(
            "the program", expected="calls that come to an end", got="a recursion without one"
        ) from error
    finally:
        sys.setrecursionlimit(before)
