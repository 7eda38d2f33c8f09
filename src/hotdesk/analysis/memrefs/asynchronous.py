"""Ops that run on beside the program when control has left them (`models.asynchronous`), what they use, and where they are done.

1. Until such an op is done it uses the memory of its operands and of the memrefs it makes, and all that is used inside of it.
2. It is *done* at an op of its own block that waits for its token: an `async.await`, an op of `gpu` that takes tokens and makes
   none. So it is if that op waits for one that starts only when this one is done, or for a group with its token.
3. Whatever else takes the token, or waits for the tag of a transfer, may wait for it: then it is done by the end of a block
   around both at the earliest.
4. An op without a token is done at the first op of its block, behind it, that waits for all of its kind, and when control leaves
   an op around it at whose end all of its kind are done.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import takewhile
from typing import Any, NamedTuple, cast

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.buffer_program import FUNCTION, BufferOp, BufferProgram
from hotdesk.graphs import postorder
from hotdesk.ir.op_maps import OpMap
from hotdesk.ir.types import is_token
from hotdesk.models.asynchronous import ENDS, JOINS, WAITS, awaits, is_queued, waits_for_all, waits_for_tag
from hotdesk.program.dataflow import least_solution


class Started(NamedTuple):
    """An asynchronous op: the op of its block at which it is `done` for certain, or -1; in order, all that may wait for it; and
    the terminators that pass its token on."""

    op: int
    done: int
    waits: tuple[int, ...]
    passed_by: frozenset[int]


def started(program: BufferProgram) -> dict[int, Started]:
    """The asynchronous ops of a function, by number."""
    if not program.asynchronous:
        return {}
    following = _Following(program)
    return {number: following.started(program.ops[number]) for number in sorted(program.asynchronous, reverse=True)}


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
            around = program.ops[op].operation
            here = [each for each in here if not _is_over(around, program.ops[each].operation)]
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


def _is_over(around: ir.Operation, started: ir.Operation) -> bool:
    """Whether what runs on beside the program inside of an op is done when control leaves that op."""
    return started.name.startswith(ENDS.get(around.name, ()))


def _around(program: BufferProgram, op: int, block: int) -> Iterator[int]:
    """An op and those around it, up to one directly in the region of a block."""
    region = program.region_of(block)
    for each in (program.ops[op], *program.around(program.ops[op].block)):
        yield each.number
        if each.block in region:
            return


_State = tuple[ir.Value, int]
"""A value that stands for ops beside the program, and the op since which it certainly does in that op's block, or -1."""


class _KnownEnd(NamedTuple):
    """Where what a value stands for is done; `waits` and `passed` are those of `Started`, none if `done` tells."""

    done: int = -1
    waits: frozenset[int] = frozenset()
    passed: frozenset[int] = frozenset()

    def joined(self, other: _KnownEnd) -> _KnownEnd:
        known = [done for done in (self.done, other.done) if done >= 0]
        return _KnownEnd(min(known)) if known else _KnownEnd(-1, self.waits | other.waits, self.passed | other.passed)


def _grown(source: _KnownEnd, target: _KnownEnd, edge: None) -> _KnownEnd | None:
    """The second one with what the first one knows; None if that is nothing more."""
    found = target.joined(source)
    return None if found == target else found


class _Following:
    """Follows tokens to whatever waits for them; what follows from a value is found once."""

    def __init__(self, program: BufferProgram) -> None:
        self._program = program
        self._numbers = OpMap((op.operation, op.number) for op in program.ops)
        self._waits: dict[tuple[int, str], list[int]] = {}  # by block and how the names begin of what is waited for
        for op in program.ops:
            for prefix in waits_for_all(op.operation) if op.name in WAITS else ():
                self._waits.setdefault((op.block, prefix), []).append(op.number)
        self._after: dict[_State, tuple[_State, ...]] = {}
        self._ends: dict[_State, _KnownEnd] = {}

    def started(self, op: BufferOp) -> Started:
        states = [(value, op.number) for value in _tokens(op.operation.results)]
        if not states:
            waits = sorted(self._numbers[wait] for wait in waits_for_tag(op.operation))
            return Started(op.number, self._done(op), tuple(waits), frozenset())
        self._follow(states)
        ends = reduce(_KnownEnd.joined, (self._ends[state] for state in states), _KnownEnd())
        return Started(op.number, ends.done, tuple(sorted(ends.waits)), ends.passed)

    def _done(self, op: BufferOp) -> int:
        """The first op of a block, behind another one, that waits for all of its kind; -1 if there is none."""
        kinds = {prefix for prefixes in WAITS.values() for prefix in prefixes if op.name.startswith(prefix)}
        waits = [self._waits.get((op.block, prefix), []) for prefix in kinds]
        return min((each[at] for each in waits if (at := bisect_left(each, op.end)) < len(each)), default=-1)

    def _follow(self, states: Sequence[_State]) -> None:
        """Finds the ends of states that are new, from those that they lead to."""

        def unread(state: _State) -> tuple[_State, ...]:
            if state in self._after:
                return ()
            self._read(state)
            return self._after[state]

        order = list(postorder(states, unread))
        numbers = {state: number for number, state in enumerate(order)}
        led_to: dict[int, list[tuple[int, None]]] = {}  # by a state, those that lead to it
        first: list[_KnownEnd] = []
        for number, state in enumerate(order):
            known = self._ends[state]
            for other in self._after[state]:
                if other in numbers:
                    led_to.setdefault(numbers[other], []).append((number, None))
                else:
                    known = known.joined(self._ends[other])
            first.append(known)
        self._ends.update(zip(order, least_solution(first, led_to, _grown), strict=True))

    def _read(self, state: _State) -> None:
        """Notes what takes a value: where it ends there, and what stands for it from there on."""
        value, since = state
        ends, after = _KnownEnd(), list[_State]()
        for use in value.uses:
            end, states = self._taken(cast(Any, use.owner).operation, since)
            ends = ends.joined(end)
            after += states
        self._ends[state], self._after[state] = ends, tuple(dict.fromkeys(after))

    def _taken(self, user: ir.Operation, since: int) -> tuple[_KnownEnd, list[_State]]:
        op = self._program.ops[self._numbers[user]]
        block = self._program.blocks[op.block]
        is_later = 0 <= since < op.number and op.block == self._program.ops[since].block
        if user.name == JOINS:
            return _KnownEnd(), [(user.operands[1], op.number if is_later else -1)]
        if block.last == op.number and not awaits(user):
            passed = [(value, -1) for value in _tokens(self._reached(user, block.parent))]
            return _KnownEnd(passed=frozenset({op.number})), passed
        made = _tokens(user.results)
        waits = frozenset[int]() if made else frozenset({op.number})
        ends = _KnownEnd(op.number) if waits and is_later and awaits(user) else _KnownEnd(waits=waits)
        inside = _tokens([a for region in user.regions for b in region.blocks for a in b.arguments])
        known = op.number if is_later and is_queued(user) else -1
        return ends, [*((value, known) for value in made), *((value, -1) for value in inside)]

    def _reached(self, end: ir.Operation, parent: int) -> list[ir.Value]:
        """What a terminator may pass something on to."""
        if len(end.successors) or parent == FUNCTION:
            return [a for successor in end.successors for a in successor.arguments]
        around = self._program.ops[parent].operation
        return [*around.results, *(a for region in around.regions for b in region.blocks for a in b.arguments)]


def _tokens(values: Sequence[ir.Value] | Any) -> list[ir.Value]:
    return [value for value in values if is_token(value.type)]


def awaited_by(program: BufferProgram, op: Started, block: int) -> bool:
    """Whether something inside a block may wait for an op, behind it."""
    later = takewhile(lambda wait: wait > op.op, reversed(op.waits))
    return any(program.within(wait, block) is not None for wait in later)
