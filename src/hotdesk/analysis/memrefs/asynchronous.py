"""Ops that run on beside the program when control has left them, what they use, and where they are done for certain.

1. An op is *asynchronous* if it makes a token (`!async.token`, `!async.value<…>`, `!gpu.async.token`, any type whose name says
   so), or starts a transfer that a tag tells the end of (`memref.dma_start`, `affine.dma_start`).
2. Until it is done it uses the memory of its operands and of the memrefs it makes, and all that is used inside of it.
3. It is *done* at an op of its own block that waits for its token: an `async.await`, an op of `gpu` or `nvgpu` that takes tokens
   and makes none. So it is if that op waits for one that starts only when this one is done, or for a group with its token. A
   transfer is done at the last `dma_wait` of its block for the same tag.
4. Whatever else takes the token may wait for it: then it is done by the end of a block around both at the earliest.
5. Tasks and what goes on without waiting in OpenMP (`analysis.memrefs.tasks`) are asynchronous too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, cast

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.buffer_program import FUNCTION, BufferProgram
from hotdesk.analysis.memrefs.tasks import Waits, is_task, waits_inside
from hotdesk.ir.types import is_buffer, shape_of

_TRANSFERS = {"memref.dma_start": "memref.dma_wait", "affine.dma_start": "affine.dma_wait"}
_NUMBERS = (ir.IndexType, ir.IntegerType, ir.FloatType, ir.ComplexType, ir.ShapedType)
_QUEUED, _AWAITS = ("gpu", "nvgpu"), ("async.await", "async.await_all")
_JOINS = "async.add_to_group"
_PARTIAL = "numGroups"
"""With that attribute `nvgpu.device_async_wait` lets some transfers run on."""


class Started(NamedTuple):
    """An asynchronous op: the op of its block at which it is `done` for certain, or -1; all that may wait for it; and the
    terminators that pass its token on."""

    op: int
    done: int
    waits: tuple[int, ...]
    passed_by: frozenset[int]


def is_token(kind: ir.Type) -> bool:
    """Whether a value of a type stands for what may not be done yet."""
    if is_buffer(kind) or isinstance(kind, _NUMBERS):
        return False
    name = str(kind)
    return "token" in name or name.startswith("!async.value<")


def is_asynchronous(op: ir.Operation) -> bool:
    """Whether an op runs on beside the program."""
    return op.name in _TRANSFERS or any(is_token(result.type) for result in op.results) or is_task(op)


def started(program: BufferProgram) -> dict[int, Started]:
    """The asynchronous ops of a function, by number."""
    if not program.asynchronous:
        return {}
    numbers, waits = {op.operation: op.number for op in program.ops}, Waits(program)
    return {number: _Following(program, numbers, waits, number).run() for number in sorted(program.asynchronous)}


def using(program: BufferProgram, buffer: int) -> dict[int, list[int]]:
    """The asynchronous ops that use a memref that is defined outside of them, or make it: each with those that do so in it."""
    if not program.asynchronous:
        return {}
    known = program.asynchronous
    record = program.buffers[buffer]
    found: dict[int, list[int]] = {record.producer: []} if record.producer in known else {}
    for user in program.users[buffer]:
        here: list[int] = []
        for op in _around(program, user, record.block):
            here = [] if op != user and waits_inside(program.ops[op].operation) else here
            here += [op] if op in known else []
        for op in here:
            found.setdefault(op, []).append(user)
    return found


def used_later(program: BufferProgram) -> dict[int, list[int]]:
    """The memrefs that ops use when control may have left the asynchronous op that they are, or are inside of; by op."""
    found: dict[int, list[int]] = {}
    for buffer in program.buffers if program.asynchronous else ():
        for user in {user for users in using(program, buffer.number).values() for user in users}:
            found.setdefault(user, []).append(buffer.number)
    return found


def _around(program: BufferProgram, op: int, block: int) -> Iterator[int]:
    """An op and those around it, up to one directly in the region of a block."""
    home = program.blocks[block]
    while op != FUNCTION:
        yield op
        here = program.blocks[program.ops[op].block]
        if (here.parent, here.region) == (home.parent, home.region):
            return
        op = here.parent


class _Following:
    """Follows the tokens of one op to whatever waits for them."""

    def __init__(self, program: BufferProgram, numbers: dict[ir.Operation, int], tasks: Waits, start: int) -> None:
        self._program, self._numbers, self._tasks, self._start = program, numbers, tasks, program.ops[start]
        self._waits: set[int] = set()
        self._certain: set[int] = set()
        self._passed: set[int] = set()

    def run(self) -> Started:
        number, op = self._start.number, self._start.operation
        if op.name in _TRANSFERS:
            self._follow_tag(op)
            return Started(number, max(self._certain, default=-1), tuple(sorted(self._waits)), frozenset())
        if is_task(op):
            return Started(number, self._tasks.behind(self._start), (), frozenset())
        seen: set[tuple[ir.Value, int]] = set()
        waiting = [(value, number) for value in _tokens(op.results)]
        while waiting:
            value, since = waiting.pop()
            if (value, since) not in seen:
                seen.add((value, since))
                waiting += [pair for use in value.uses for pair in self._taken(cast(Any, use.owner).operation, since)]
        return Started(number, min(self._certain, default=-1), tuple(sorted(self._waits)), frozenset(self._passed))

    def _taken(self, user: ir.Operation, since: int) -> list[tuple[ir.Value, int]]:
        """What stands for the op too, where an op takes its token; and since which op of the block for certain, or -1."""
        op = self._program.ops[self._numbers[user]]
        block = self._program.blocks[op.block]
        is_later = 0 <= since < op.number and op.block == self._start.block
        if user.name == _JOINS:
            return [(user.operands[1], op.number if is_later else -1)]
        if block.last == op.number and not self._waits_for(user):
            self._passed.add(op.number)
            return [(value, -1) for value in _tokens(self._reached(user, block.parent))]
        made = _tokens(user.results)
        if not made:
            self._waits.add(op.number)
            if is_later and self._waits_for(user):
                self._certain.add(op.number)
        is_queued = user.name.split(".")[0] in _QUEUED or user.name == "async.execute"
        inside = _tokens([a for region in user.regions for b in region.blocks for a in b.arguments])
        return [
            *((value, since if is_later and is_queued else -1) for value in made),
            *((value, -1) for value in inside),
        ]

    def _reached(self, end: ir.Operation, parent: int) -> list[ir.Value]:
        """What a terminator may pass something on to."""
        if len(end.successors) or parent == FUNCTION:
            return [a for successor in end.successors for a in successor.arguments]
        around = self._program.ops[parent].operation
        return [*around.results, *(a for region in around.regions for b in region.blocks for a in b.arguments)]

    def _waits_for(self, user: ir.Operation) -> bool:
        """Whether an op goes on only when all whose tokens it takes are done."""
        queued = user.name.split(".")[0] in _QUEUED and not _tokens(user.results) and _PARTIAL not in user.attributes
        return user.name in _AWAITS or queued

    def _follow_tag(self, op: ir.Operation) -> None:
        memrefs = [i for i, value in enumerate(op.operands) if is_buffer(value.type)]
        tag = op.operands[memrefs[-1]]
        place = list(op.operands)[memrefs[-1] + 1 :][: len(shape_of(tag.type))] if op.name.startswith("memref.") else []
        is_single = all(size == 1 for size in shape_of(tag.type))
        for use in tag.uses:
            user = cast(Any, use.owner).operation
            if user.name != _TRANSFERS[op.name]:
                continue
            wait = self._program.ops[self._numbers[user]]
            self._waits.add(wait.number)
            same = is_single or (bool(place) and list(user.operands)[1 : 1 + len(place)] == place)
            if same and wait.block == self._start.block and wait.number > self._start.number:
                self._certain.add(wait.number)


def _tokens(values: Sequence[ir.Value] | Any) -> list[ir.Value]:
    return [value for value in values if is_token(value.type)]


def awaited_by(program: BufferProgram, op: Started, block: int) -> bool:
    """Whether something inside a block may wait for an op, behind it."""
    return any(wait > op.op and _top(program, wait, block) >= 0 for wait in op.waits)


def _top(program: BufferProgram, op: int, block: int) -> int:
    """The op directly in a block that an op is, or is inside of; -1 if there is none."""
    while op != FUNCTION and program.ops[op].block != block:
        op = program.blocks[program.ops[op].block].parent
    return op
