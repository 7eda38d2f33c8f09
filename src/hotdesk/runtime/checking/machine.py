"""One run of a module: its functions and globals, its memory, the stack, and what is wrong with it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from hotdesk._bindings import ir
from hotdesk.errors import ExecutionError, LoweringError
from hotdesk.explain import Source
from hotdesk.ir.locations import python_line
from hotdesk.ir.walking import symbol_name
from hotdesk.runtime.checking.blocks import Arena, Block, View
from hotdesk.runtime.checking.code import Code, Meaning, Region
from hotdesk.runtime.checking.constants import dense
from hotdesk.runtime.checking.elements import Unwritten, Value, dtype_of, xp
from hotdesk.runtime.checking.findings import Findings
from hotdesk.runtime.checking.memory import Memory
from hotdesk.runtime.checking.named import Expansions
from hotdesk.runtime.checking.parameters import Parameter, parameters
from hotdesk.runtime.checking.report import FaultKind

_DEPTH = 20_000  # Python frames; a call of the program takes about six


@dataclass(frozen=True, slots=True)
class Settings:
    """How strict the checker is.

    Attributes:
        deallocated: whether the program is to free what it allocates and to own what it returns; off for a program whose
            deallocations are still to be inserted.
        undefined: `refuse` tells of every computation on memory that nobody wrote and of results that nobody wrote; `carry`
            lets them pass as long as no branch, index or size depends on them.
        arenas: whether each `memref.view` of bytes on the heap is a buffer of its own, which no other view may overwrite while it
            is wanted. Memory that is marked with `hotdesk.arena` is always taken so.
        steps: blocks that run before the program counts as one that does not end.
        poison: the byte that memory is filled with as long as nobody has written it.
    """

    deallocated: bool = True
    undefined: str = "refuse"
    arenas: bool = False
    steps: int = 50_000_000
    poison: int = 0xFF


@dataclass(slots=True)
class _Function:
    body: Region
    code: Code
    parameters: tuple[Parameter, ...]
    at: Source


class Machine:
    """Runs functions of a module."""

    def __init__(
        self, module: ir.Operation, meanings: Mapping[str, Meaning], expansions: Expansions, settings: Settings
    ) -> None:
        self.settings = settings
        self.findings = Findings()
        self.memory = Memory(self.findings, settings.poison)
        self.returned = Source("func.return")
        self.homes: dict[ir.Operation, tuple[Arena, int]] = {}
        self.counters: list[Sequence[Any]] = []
        self.masks: list[Value] = []
        self._meanings = meanings
        self._expansions = expansions
        self._module = module  # a copy lives only as long as somebody holds it
        self._symbols = {
            symbol_name(op.operation): op.operation
            for op in module.regions[0].blocks[0].operations
            if "sym_name" in op.operation.attributes
        }
        self._functions: dict[str, _Function] = {}
        self._globals: dict[str, View] = {}
        self._scopes: list[list[Block]] = []
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
        frame: list[Value] = [None] * function.code.size
        for parameter in function.parameters:
            if parameter.arena:
                self.carve(arguments[parameter.number].block)
        with self.scope(at or function.at):
            returned = function.body.run(frame, arguments)
            self._find_misplaced(function, frame, arguments)
            return returned

    def _find_misplaced(self, function: _Function, frame: Sequence[Value], arguments: Sequence[Value]) -> None:
        """Results that are said to lie in an argument, and were computed elsewhere.

        Such a result is told if control flow passes the argument on as one of several values, what it passed on is other memory,
        written later than the argument, and nobody has read what was written there.
        """
        for parameter in function.parameters:
            if not parameter.holds:
                continue
            following = function.code.following(function.body.arguments[parameter.number]) & function.code.joined
            blocks = [frame[slot].block for slot in sorted(following) if isinstance(frame[slot], View)]
            said: Block = arguments[parameter.number].block
            if any(block is said for block in blocks):
                continue
            for block in blocks:
                if block.read_at < block.written_at > said.written_at:
                    number = parameter.holds[0]
                    wrote = "was written before" if said.written_at else "nobody wrote"
                    message = (
                        f"result {number} is said to lie in {said.name}, which {wrote}; it was computed in {block.name}, "
                        "which nobody read"
                    )
                    self.findings.add(FaultKind.MISPLACED, self.returned, message, said, other=block)
                    break

    def _ready(self, name: str, at: Source | None) -> _Function:
        if name not in self._functions:
            op = self._symbols.get(name)
            if op is None or op.name != "func.func" or not len(op.regions[0].blocks):
                raise LoweringError(
                    f"function @{name}", expected="a function with a body", got="none",
                    where=at.location or None if at is not None else None,
                    hint="The memory checker runs programs; give it the whole one.",
                )  # fmt: skip
            code = Code(self, self._meanings, self._expansions.found)
            body, at = code.region(op.regions[0]), Source(op.name, python_line(op.location))
            self._functions[name] = _Function(body, code, tuple(parameters(op, False)), at)
        return self._functions[name]

    # Stack

    @contextmanager
    def scope(self, at: Source) -> Generator[None]:
        """What `memref.alloca` makes in here is gone afterwards."""
        self._scopes.append([])
        try:
            yield
        finally:
            for block in self._scopes.pop():
                self.memory.bury(block, at)

    def scoped(self, run: Callable[[], list[Value]], at: Source) -> list[Value]:
        """`run` in a scope, without the cost of a context manager."""
        self._scopes.append([])
        try:
            return run()
        finally:
            left = self._scopes.pop()
            for block in left:
                self.memory.bury(block, at)

    def on_stack(self, block: Block) -> None:
        """The block goes with the innermost scope."""
        self._scopes[-1].append(block)

    def carve(self, block: Block) -> None:
        """Makes a block an arena: each `memref.view` of it is a buffer of its own."""
        block.carved = Arena(block.name, np.zeros(block.size, np.int32))

    # Globals

    def global_view(self, name: str, at: Source) -> View:
        """The memory of a `memref.global`; there is one of each."""
        if name not in self._globals:
            self._globals[name] = self._make_global(self._symbols[name], at)
        return self._globals[name]

    def _make_global(self, op: ir.Operation, at: Source) -> View:
        memref = cast(Any, op.attributes["type"]).value
        sizes, dtype = [int(size) for size in memref.shape], dtype_of(memref)
        source = Source("memref.global", python_line(op.location))
        value = op.attributes.get("initial_value", None)
        written = value is not None and not isinstance(value, ir.UnitAttr)
        values = dense(value, dtype, sizes, source) if written else np.zeros(sizes, dtype)
        data = xp.ascontiguousarray(values).reshape(-1).view(np.uint8)
        name = f"@{symbol_name(op)}"
        constant = "constant" in op.attributes
        block = self.memory.hold(data, "global", name, source, written=written, writable=not constant)
        return View.of(block, sizes, dtype)


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
